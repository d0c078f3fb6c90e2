//! The accurate ECN of a connection, whose state is split between the sending and the receiving
//! half.

use narrows_base::{Duration, Ecn, Time};
use narrows_packetdrill::{Tcp, TcpFlags};
use narrows_tcp::{AccEcnOption, AccEcnSettings, Ack, EcnMode, OptionSlot, OptionUse};

use crate::accurate::{flags, option};
use crate::connection::Connection;
use crate::inward::stamps;
use crate::state::TcpState;

/// Bytes of a full option, with padding.
const FULL_OPTION: u32 = 12;
/// Bytes of timestamps, with padding.
const STAMPS: usize = 12;

impl Connection {
    /// Applies changed settings of the kernel to both halves.
    pub(crate) fn set_accurate(&mut self, settings: AccEcnSettings) {
        self.kernel.sysctls.accurate_ecn = settings;
        if let Some(end) = self.sender.accurate_ecn() {
            end.set(settings);
        }
        if let Some(end) = self.receiver.accurate_ecn() {
            end.set(settings);
        }
        self.update_segment_size();
    }

    /// Shares between the halves what either has found out about tampering on the path.
    pub(crate) fn share_checks(&mut self) {
        if let (Some(own), Some(other)) = (self.sender.accurate_ecn(), self.receiver.accurate_ecn())
        {
            own.share(other);
            self.sender.heed_checks();
        }
        self.update_segment_size();
    }

    /// Begins after a handshake that the peer's SYN started and `third` completed.
    pub(crate) fn begin_after_request(&mut self, third: &Tcp) {
        if let Some(end) = self.sender.accurate_ecn() {
            end.begin_after_request(stamps(third).map_or(0, |stamp| stamp.0));
        }
    }

    /// Hands the counters of the half that made the handshake on to the receiving half.
    pub(crate) fn adopt_counters(&mut self) {
        if let (Some(own), Some(other)) = (self.sender.accurate_ecn(), self.receiver.accurate_ecn())
        {
            other.continue_counters(own);
        }
    }

    /// Reduces the payload of a packet by the option that it carries (`tcp_current_mss`).
    fn update_segment_size(&mut self) {
        let settings = self.kernel.sysctls.accurate_ecn;
        let sends = self.receiver.accurate_ecn().is_some_and(|end| end.sends_options());
        let option = if sends && settings.option >= OptionUse::Full { FULL_OPTION } else { 0 };
        self.sender.set_mss(self.terms.mss - option);
    }

    /// True if Linux has replaced the socket by a `tcp_timewait_sock`, which has no ECN counters
    /// (`tcp_time_wait`).
    pub(crate) fn is_timewait_sock(&self) -> bool {
        self.orphaned && matches!(self.state, TcpState::FinWait2 | TcpState::TimeWait)
    }

    /// The flags of a packet that carries `ack`.
    pub(crate) fn ecn_flags(&self, ack: &Ack) -> TcpFlags {
        match self.terms.ecn {
            EcnMode::Accurate | EcnMode::L4s if self.is_timewait_sock() => TcpFlags::default(),
            EcnMode::Accurate | EcnMode::L4s => flags(ack.ace),
            _ if ack.ece => TcpFlags::ECE,
            _ => TcpFlags::default(),
        }
    }

    /// The ECN codepoint of a packet; `other` without accurate ECN.
    pub(crate) fn codepoint(&mut self, other: Ecn) -> Ecn {
        self.receiver.accurate_ecn().map_or(other, |end| end.codepoint())
    }

    /// The option of a packet that carries `ack`, and the SACK blocks that have room beside it.
    pub(crate) fn compose(&mut self, ack: &Ack, now: Time) -> Option<(AccEcnOption, usize)> {
        if self.is_timewait_sock() {
            return None;
        }
        let blocks = if self.terms.sack { ack.sack.as_slice() } else { &[] };
        let slot = OptionSlot {
            others: if self.terms.timestamps { STAMPS } else { 0 },
            blocks: blocks.len(),
            duplicate: blocks.first().filter(|_| ack.sack.dsack).map(|block| block.0),
            now,
            srtt: self.sender.view().and_then(|view| view.srtt).unwrap_or(Duration::ZERO),
        };
        self.receiver.accurate_ecn()?.compose(&slot)
    }

    /// Answers a SYN of a connection that is open (RFC 5961 section 4).
    pub(crate) fn challenge(&mut self, tcp: &Tcp, ecn: Ecn, now: Time) {
        let option = option(tcp);
        let end = self.receiver.accurate_ecn();
        let Some(ace) = end.map(|end| end.take_repeated_answer(ecn, option)) else {
            return self.emit_pure_ack(now);
        };
        self.share_checks();
        let ack = self.receiver.acknowledge_with_data(now);
        let composed = self.compose(&ack, now);
        self.emit_ack_with(&Ack { ace, ..ack }, composed, Ecn::NotEct, now);
    }
}
