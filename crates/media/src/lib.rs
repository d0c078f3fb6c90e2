//! Real-time media: a sender that encodes frames at the rate of a published control, and a receiver
//! that reports what arrived and shows frames as soon as it can decode them.
//!
//! Both ends exchange RTP (RFC 3550), feedback of RFC 8888 and picture loss indications of RFC 4585.
//! Nothing lost is retransmitted: the receiver asks for a key frame.

#[cfg(test)]
mod bench;
mod control;
mod encoder;
mod nada;
mod number;
mod receiver;
mod scream;
mod screen;
mod sender;
mod wire;

use std::sync::{Arc, Mutex};

use narrows_spec::law::Draws;
use narrows_spec::scenario::{Media, MediaControl};
use narrows_tcp::ends::Ends;

use control::{Constant, Control};
use nada::Nada;
use receiver::Receiver;
use scream::Scream;
use screen::Screen;
pub use sender::MediaSchedule;
use sender::Sender;

/// Both ends of a flow of media. A frame is complete when the receiver shows it.
#[must_use]
pub fn ends(media: &Media, when: MediaSchedule, draws: Draws) -> Ends {
    let screen = Arc::new(Mutex::new(Screen::new(media.jitter_buffer_ns)));
    let control: Box<dyn Control> = match media.control {
        MediaControl::Nada => Box::new(Nada::new(media, when.start)),
        MediaControl::Scream | MediaControl::ScreamProgram => {
            Box::new(Scream::new(media, when.start))
        }
        MediaControl::None => Box::new(Constant::new(media)),
    };
    let sender = Sender::new(media, when, control, draws, Arc::clone(&screen));
    let receiver = Receiver::new(media, screen);
    (Box::new(sender), Box::new(receiver))
}
