//! The segments that a sender makes of its packets.

use narrows_base::{Duration, Packet, Time};

use super::ecn::SenderEcn;
use super::host_queue::{HostQueue, WaitingBurst};
use super::unsent::UnsentData;
use crate::accecn::Ace;
use crate::outbox::{Envelope, Outbox};
use crate::scoreboard::Scoreboard;
use crate::segment::{Data, Kind, Segment, Seq};
use crate::timer::timestamp_ms;

/// The least time between answers to segments that are out of place (`tcp_invalid_ratelimit`).
const CHALLENGE_INTERVAL: Duration = Duration::from_millis(500);

/// Consecutive packets that leave together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Burst {
    pub(super) first: Seq,
    pub(super) packets: u32,
    pub(super) payload: u64,
    /// When they leave.
    pub(super) departure: Time,
    /// True if the packets were sent before.
    pub(super) retransmitted: bool,
    /// True if the last packet ends a socket buffer that is marked.
    pub(super) pushed: bool,
}

/// The flags of a burst's last packet.
#[derive(Clone, Copy, Debug)]
struct LastFlags {
    psh: bool,
    fin: bool,
}

/// The outgoing segments and their headers.
#[derive(Debug)]
pub(super) struct Output {
    queue: Outbox,
    /// The queue in the host, if it has `fq` or a card with a line rate.
    host_queue: Option<Box<HostQueue>>,
    pub(super) ecn: SenderEcn,
    /// The receiver's newest timestamp in ms, which is echoed.
    ts_recent: u32,
    /// When a SYN-ACK was last answered again.
    challenged_at: Option<Time>,
    mss: u32,
    /// True if bursts pass the network as one packet.
    gso: bool,
    /// True if the host's egress queue drops every packet.
    refuses: bool,
}

impl Output {
    pub(super) fn new(
        envelope: Envelope,
        ecn: SenderEcn,
        mss: u32,
        gso: bool,
        host_queue: Option<HostQueue>,
    ) -> Self {
        let host_queue = host_queue.map(Box::new);
        let queue = Outbox::new(envelope);
        Self { queue, host_queue, ecn, ts_recent: 0, challenged_at: None, mss, gso, refuses: false }
    }

    /// Returns `true` if the host's egress queue drops every packet.
    #[inline]
    pub(super) fn refuses(&self) -> bool {
        self.refuses
    }

    /// From now on the host's egress queue drops every packet, or none.
    pub(super) fn refuse(&mut self, refuses: bool) {
        self.refuses = refuses;
    }

    pub(super) fn set_mss(&mut self, mss: u32) {
        self.mss = mss;
    }

    /// The queue in the host.
    #[inline]
    pub(super) fn host_queue(&self) -> Option<&HostQueue> {
        self.host_queue.as_deref()
    }

    #[inline]
    pub(super) fn host_queue_mut(&mut self) -> Option<&mut HostQueue> {
        self.host_queue.as_deref_mut()
    }

    /// The bursts whose time has come leave the host's queue.
    pub(super) fn release(&mut self, now: Time) {
        if let Some(host_queue) = &mut self.host_queue {
            host_queue.release(now, &mut self.queue);
        }
    }

    /// A burst whose first packet is the `first` in the outbox waits in the host's queue, unless it
    /// passes it at once.
    #[inline(never)] // most hosts have no such queue
    fn enqueue(&mut self, burst: &Burst, first: usize, now: Time) {
        let Some(host_queue) = &mut self.host_queue else { return };
        if host_queue.lets_pass(burst.departure, now) {
            return;
        }
        let segments = self.queue.len() - first;
        let Burst { departure, first: seq, packets, payload, .. } = *burst;
        let burst = WaitingBurst { departure, first: seq, packets, payload, segments };
        host_queue.push(burst, self.queue.take_from(first), now);
        host_queue.send(now, &mut self.queue);
    }

    /// Ends the handshake.
    pub(super) fn answer(&mut self, ts: u32, now: Time) {
        self.ts_recent = ts;
        let (ace, option) = self.ecn.third_packet(now);
        self.queue.push(Kind::HandshakeAck { ts: timestamp_ms(now), ts_echo: ts, ace, option });
    }

    /// Answers a repeated SYN-ACK, at most twice a second (`tcp_send_challenge_ack`,
    /// `tcp_invalid_ratelimit`); `next` is the next new packet.
    pub(super) fn challenge(&mut self, next: Seq, ace: Ace, now: Time) {
        let allowed = self.challenged_at.is_none_or(|at| now >= at + CHALLENGE_INTERVAL);
        if allowed {
            self.challenged_at = Some(now);
            let (ts, ts_echo) = (timestamp_ms(now), self.ts_recent);
            self.queue.push(Kind::Challenge { seq: next, ts, ts_echo, ace });
        }
    }

    /// Asks for the receive window (`tcp_xmit_probe_skb`); `next` is the next new packet.
    pub(super) fn probe_window(&mut self, next: Seq, now: Time) {
        if self.refuses {
            return;
        }
        let (ts, ts_echo) = (timestamp_ms(now), self.ts_recent);
        self.queue.push(Kind::WindowProbe { seq: next, ts, ts_echo, ace: self.ecn.ace() });
    }

    /// Notes the receiver's timestamp.
    pub(super) fn note_timestamp(&mut self, ts: u32) {
        self.ts_recent = ts;
    }

    /// Begins to load the room for segments.
    pub(super) fn prefetch(&self) {
        self.queue.prefetch();
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Moves all segments behind those in `out`.
    #[inline]
    pub(super) fn move_to(&mut self, out: &mut Vec<Packet<Segment>>) {
        self.queue.move_to(out);
    }

    /// Sends packets of the scoreboard.
    #[inline]
    pub(super) fn send(
        &mut self,
        burst: &Burst,
        board: &Scoreboard,
        unsent: &UnsentData,
        now: Time,
    ) {
        let waiting = self.queue.len();
        self.seal(burst, board, unsent);
        if self.host_queue.is_some() {
            self.enqueue(burst, waiting, now);
        }
    }

    fn seal(&mut self, burst: &Burst, board: &Scoreboard, unsent: &UnsentData) {
        let end = burst.first + burst.packets;
        // True if it includes the last packet.
        let ends = unsent.is_finished() && end == board.next();
        let psh = ends || burst.pushed || burst.packets > 1;
        let last = LastFlags { psh, fin: ends && unsent.closes() };
        let ts = timestamp_ms(burst.departure);
        if self.gso {
            self.send_super(burst, board, last, ts);
            return;
        }
        // All are like the first, but only that one has CWR.
        let mut data = self.data(burst.first, 0, burst.retransmitted, ts);
        for seq in burst.first..end - 1 {
            (data.seq, data.len) = (seq, board.get(seq).len);
            self.queue.push(Kind::Data(data));
            data.cwr = false;
        }
        (data.seq, data.len) = (end - 1, board.get(end - 1).len);
        (data.psh, data.fin) = (last.psh, last.fin);
        self.queue.push(Kind::Data(data));
    }

    /// A burst as super-packets: up to 64 KiB, each ending at a packet that isn't full.
    fn send_super(&mut self, burst: &Burst, board: &Scoreboard, last: LastFlags, ts: u32) {
        let end = burst.first + burst.packets;
        let mut seq = burst.first;
        while seq < end {
            let mut len = board.get(seq).len;
            let mut data = self.data(seq, len, burst.retransmitted, ts);
            seq += 1;
            while seq < end && u32::from(len) == self.mss && data.count < Data::MAX_PACKETS {
                len = board.get(seq).len;
                data.len += len;
                data.count += 1;
                seq += 1;
            }
            if seq == end {
                (data.psh, data.fin) = (last.psh, last.fin);
            }
            self.queue.push(Kind::Data(data));
        }
    }

    #[inline]
    fn data(&mut self, seq: Seq, len: u16, retransmitted: bool, ts: u32) -> Data {
        let (ecn, cwr) = self.ecn.stamp(retransmitted);
        Data {
            seq,
            count: 1,
            len,
            psh: false,
            fin: false,
            retransmission: retransmitted,
            ts,
            ts_echo: self.ts_recent,
            cwr,
            ace: self.ecn.ace(),
            ecn,
        }
    }
}
