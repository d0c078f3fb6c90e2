//! Applications that keep their connection.

use narrows_base::{Duration, Time};
use narrows_spec::law::Draw;
use narrows_spec::player::Player;
use narrows_tcp::Sender;

/// The application of a session.
pub(super) enum App {
    /// Sends as much as possible for a while, the first time for `first` ns, then nothing for a
    /// while.
    OnOff { on: Draw, first: Option<u64>, off: Draw, sending: bool },
    /// Answers a request, a while after the last answer was received.
    Requests { think: Draw, size: Draw },
    /// Sends the chunks that a player asks for.
    Video(Player),
}

impl App {
    pub(super) fn on_off(on: Draw, first: Option<u64>, off: Draw) -> Self {
        Self::OnOff { on, first, off, sending: false }
    }

    pub(super) fn requests(think: Draw, size: Draw) -> Self {
        Self::Requests { think, size }
    }

    /// Acts at `now`: returns the new transfer that it writes, if any, and when it acts next by
    /// itself.
    pub(super) fn act(&mut self, sender: &mut Sender, now: Time) -> (Option<u64>, Option<Time>) {
        match self {
            Self::OnOff { on, first, off, sending } => {
                *sending = !*sending;
                let span = if *sending {
                    sender.write(None, now);
                    first.take().unwrap_or_else(|| on.next())
                } else {
                    sender.pause(now);
                    off.next()
                };
                (None, Some(now + Duration::from_nanos(span)))
            }
            Self::Requests { size, .. } => {
                let size = size.next().max(1);
                sender.write(Some(size), now);
                (Some(size), None)
            }
            Self::Video(player) => {
                let size = player.request(now);
                sender.write(Some(size), now);
                (Some(size), None)
            }
        }
    }

    /// A transfer was completed: returns when to act next.
    pub(super) fn on_completion(&mut self, end: Time) -> Option<Time> {
        match self {
            Self::OnOff { .. } => None,
            Self::Requests { think, .. } => Some(end + Duration::from_nanos(think.next())),
            Self::Video(player) => Some(player.take_chunk(end)),
        }
    }

    /// Returns whether it makes transfers that complete: answers or chunks.
    pub(super) const fn transfers(&self) -> bool {
        !matches!(self, Self::OnOff { .. })
    }

    pub(super) fn on_start(&mut self, now: Time) {
        if let Self::Video(player) = self {
            player.start(now);
        }
    }

    pub(super) fn inspect(&self, now: Time, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Self::Video(player) = self {
            player.inspect(now, visit);
        }
    }
}
