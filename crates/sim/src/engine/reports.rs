//! Counters of packets, and reports to the observer.

use narrows_base::{Packet, Time};
use narrows_net::DropReason;
use narrows_record::{Event, EventKind, Observer, PacketEvent, PacketKind};
use narrows_tcp::{Kind, Segment};

use super::Engine;
use crate::sim_tap::SimTap;

impl<O: Observer, T: SimTap> Engine<O, T> {
    /// Accounts for a packet behind the last link that its flow's data cross; false if the path
    /// loses it.
    #[inline(always)]
    pub(super) fn leaves_link(&mut self, from: usize, packet: &Packet<Segment>, at: Time) -> bool {
        if !self.network.is_last_link(from, packet.flow) {
            return true;
        }
        let data_packets = packet.body.data_packets();
        if data_packets > 0 {
            self.accounts.count_forwarded(packet, data_packets);
        }
        self.report_event(PacketKind::Forwarded, packet, at);
        let lost = data_packets > 0 && self.network.loses(from);
        if lost {
            self.network.forget(packet);
            self.accounts.count_dropped(packet, None);
            self.report_event(PacketKind::Lost, packet, at);
        }
        !lost
    }

    #[inline]
    pub(super) fn take_drops(&mut self, id: usize) {
        if self.network.nodes[id].may_have_dropped() {
            self.report_drops(id);
        }
    }

    #[cold]
    pub(super) fn report_drops(&mut self, id: usize) {
        while let Some(dropped) = self.network.take_dropped(id) {
            let (packet, at) = (&dropped.packet, dropped.at);
            self.network.forget(packet);
            self.accounts.count_dropped(packet, Some(id));
            let kind = match dropped.reason {
                DropReason::RandomLoss | DropReason::Outage => PacketKind::Lost,
                _ => PacketKind::Dropped,
            };
            self.report_event(kind, packet, at);
        }
    }

    /// Counts and reports a packet that a host sends or takes.
    #[inline]
    pub(super) fn report_packet(
        &mut self,
        kind: PacketKind,
        packet: &Packet<Segment>,
        at: Time,
        into_network: bool,
    ) {
        if into_network {
            self.accounts.entered += 1;
        } else {
            self.accounts.delivered += 1;
        }
        self.report_event(kind, packet, at);
    }

    #[inline]
    pub(super) fn report_event(&mut self, kind: PacketKind, packet: &Packet<Segment>, at: Time) {
        if self.observer.wants(EventKind::Packet) {
            self.record_packet(kind, packet, at);
        }
    }

    /// Not inlined: most runs don't record packets, and their loop stays small.
    #[inline(never)]
    fn record_packet(&mut self, kind: PacketKind, packet: &Packet<Segment>, at: Time) {
        self.observer.on(at, &Event::Packet(packet_event(kind, packet)));
    }
}

fn packet_event(kind: PacketKind, packet: &Packet<Segment>) -> PacketEvent {
    let (seq, retransmission) = match &packet.body.kind {
        Kind::Data(data) => (u64::from(data.seq), data.retransmission),
        Kind::Ack(ack) => (u64::from(ack.ack), false),
        Kind::Datagram(datagram) | Kind::Echo(datagram) => (datagram.number, false),
        Kind::Opaque(datagram) | Kind::OpaqueReply(datagram) => (datagram.number, false),
        _ => (0, false),
    };
    PacketEvent {
        kind,
        flow: packet.flow,
        instance: packet.body.instance,
        seq,
        size: packet.size,
        retransmission,
    }
}
