//! The path without a clock and without devices.

use narrows_base::{Ecn, FlowId, Packet, Time};
use narrows_router::{Buffer, Passage, Path, PathConfig, QueueKind, Side};

const MS: u64 = 1_000_000;

fn path() -> Path {
    Path::new(&PathConfig {
        rate_bps: 12_000_000,
        buffer: Buffer::Packets(1),
        queue: QueueKind::Droptail {},
        loss: 0.0,
        seed: 1,
        first_port: 5000,
        rtts_ns: vec![20 * MS, 7 * MS],
    })
}

fn packet(flow: u32) -> Packet<Vec<u8>> {
    Packet { flow: FlowId(flow), size: 1500, ecn: Ecn::NotEct, body: vec![0; 1500] }
}

/// Everything that comes out until `until`, polled at the deadlines only.
fn outcome(path: &mut Path, until: u64) -> Vec<(Side, u64, u32)> {
    let mut out = Vec::new();
    while let Some(at) = path.next_deadline().filter(|at| at.as_nanos() <= until) {
        while let Some((side, departure)) = path.poll(at, &mut |_, _, _| ()) {
            out.push((side, departure.at.as_nanos(), departure.packet.flow.0));
        }
    }
    out
}

#[test]
fn a_packet_takes_its_transmission_and_half_its_round_trip() {
    let mut path = path();
    for flow in [0, 1] {
        path.send(packet(flow), Time::ZERO, &mut |_, _, _| ());
    }
    path.reply(packet(1), Time::ZERO);
    // 1 ms of transmission each; the other half of 7 ms on the way back.
    let expected = [
        (Side::Sender, 7 * MS / 2, 1),
        (Side::Receiver, 2 * MS + 7 * MS / 2, 1),
        (Side::Receiver, MS + 10 * MS, 0),
    ];
    assert_eq!(outcome(&mut path, 100 * MS), expected);
}

#[test]
fn what_finds_no_room_is_told() {
    let (mut path, mut told) = (path(), Vec::new());
    for flow in [0, 1, 0] {
        path.send(packet(flow), Time::ZERO, &mut |at, passage, packet: &Packet<_>| {
            told.push((at, passage, packet.flow.0));
        });
    }
    let arrived = [0, 1, 0].map(|flow| (Time::ZERO, Passage::Arrived, flow));
    let dropped = (Time::ZERO, Passage::Dropped, 0);
    assert_eq!(told, [arrived[0], arrived[1], arrived[2], dropped]);
    assert_eq!(path.link().counters().dropped_packets, 1);
}
