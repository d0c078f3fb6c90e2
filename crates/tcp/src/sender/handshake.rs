//! The handshake, as the connecting end sees it.

use narrows_base::{Duration, Jiffies, Time};
use narrows_cc::Setting;

use super::config::{MakeControl, SenderConfig};
use crate::accecn::Ace;
use crate::ecn::EcnMode;
use crate::receiver::window::window_scale;
use crate::segment::{Kind, SYN_MSS};
use crate::timer::{echoed_rtt, handshake_timeout, timestamp_ms};

/// A handshake in progress.
pub(super) struct Handshake {
    /// The sender's own receive window, and its scale.
    window: u32,
    scale: u8,
    pub(super) make: MakeControl,
    /// The setting of the control, which doesn't exist yet.
    pub(super) setting: Setting,
    clock: Jiffies,
    started: Time,
    deadline: Time,
    tries: u32,
    /// Timeouts before the timeout starts to double.
    linear: u32,
    to_send: bool,
    ecn: EcnMode,
}

impl Handshake {
    /// The first SYN leaves at `now`.
    pub(super) fn new(config: &SenderConfig, make: MakeControl, now: Time) -> Self {
        let buffer = config.limits.receive(config.profile);
        let clock = Jiffies::new(config.profile.cc.hz);
        Self {
            window: config.profile.receive.first(SYN_MSS, None),
            scale: window_scale(u64::from(buffer)),
            make,
            setting: Setting::default(),
            started: now,
            clock,
            deadline: handshake_timeout(clock, now, 0),
            tries: 0,
            linear: config.profile.linear_syn_timeouts,
            to_send: true,
            ecn: config.ecn,
        }
    }

    /// Takes a window or a rate for the control that will be made.
    pub(super) fn set(&mut self, setting: Setting) {
        self.setting = Setting {
            window: setting.window.or(self.setting.window),
            pacing_rate: setting.pacing_rate.or(self.setting.pacing_rate),
        };
    }

    /// When it must be polled next.
    pub(super) fn next_deadline(&self) -> Time {
        if self.to_send { self.started } else { self.deadline }
    }

    /// After a repeated SYN only its timestamp, in ms, shows which one was answered
    /// (`tcp_ack_update_rtt`, `tcp_rtt_tsopt_us`).
    pub(super) fn rtt(&self, ts_echo: u32, now: Time) -> Duration {
        if self.tries == 0 {
            return now - self.started;
        }
        echoed_rtt(ts_echo, now)
    }

    /// A window of one packet after two SYNs were lost, unless the answer is to the
    /// first of them (`tcp_init_transfer`, `tcp_try_undo_spurious_syn`).
    pub(super) fn first_window(&self, ts_echo: u32, initial: u32) -> u32 {
        let first_was_answered = ts_echo == timestamp_ms(self.started);
        if self.tries > 1 && !first_was_answered { 1 } else { initial }
    }

    /// The SYN, when it is due.
    #[cold]
    pub(super) fn poll(&mut self, now: Time) -> Option<Kind> {
        if now >= self.deadline {
            self.tries += 1;
            let doublings = self.tries.saturating_sub(self.linear).min(6);
            self.deadline = handshake_timeout(self.clock, now, doublings);
            self.to_send = true;
        }
        let ace = if self.may_offer() { Ace::request(self.ecn) } else { Ace::NONE };
        std::mem::take(&mut self.to_send).then(|| Kind::Syn {
            window: self.window,
            scale: self.scale,
            ts: timestamp_ms(now),
            ace,
        })
    }

    /// A repeated SYN offers no ECN, in case the first was lost because of it; accurate ECN is offered
    /// once more (`tcp_ecn_clear_syn`, RFC 3168 section 6.1.1.1, RFC 9768 section 3.1.4.1).
    fn may_offer(&self) -> bool {
        self.tries <= u32::from(self.ecn.counts())
    }
}
