//! The flow of a packet between two hosts, by its TCP ports.

use narrows_base::{FlowId, Packet};

use crate::config::Crossing;
use crate::frame::{ForwardedPacket, ecn, tcp_ports};
use crate::path::Side;
use crate::super_packet::size_on_link;

/// Identifies the flow between two hosts by the TCP ports of a packet.
#[derive(Clone, Debug)]
pub(crate) struct Ports {
    /// The receiver of the host's flow i has this port plus i.
    pub(crate) first: u16,
    /// The number of each flow in the scenario, and whether its receiver is at the sending host.
    /// Packets of no flow, such as ICMP, take the route of the first.
    pub(crate) flows: Vec<(FlowId, bool)>,
}

impl Ports {
    /// The ports of flows between two hosts, by the flows' numbers.
    pub(crate) fn of(crossing: &Crossing, flows: &[u32]) -> Self {
        let reverse = |flow: u32| crossing.reverse.get(flow as usize).copied().unwrap_or(false);
        let flows = flows.iter().map(|&flow| (FlowId(flow), reverse(flow))).collect();
        Self { first: crossing.first_port, flows }
    }

    /// The packet around `frame`, which a host sent.
    pub(crate) fn classify(&self, frame: ForwardedPacket, from: Side) -> Packet<ForwardedPacket> {
        let known = tcp_ports(&frame).and_then(|ports| self.flow(ports, from));
        let flow = known.or_else(|| Some(self.flows.first()?.0)).unwrap_or(FlowId(0));
        let size = u32::try_from(size_on_link(&frame)).unwrap_or(u32::MAX);
        Packet { flow, size, ecn: ecn(&frame), body: frame }
    }

    fn flow(&self, (source, destination): (u16, u16), from: Side) -> Option<FlowId> {
        let (at_receiver, at_sender) = match from {
            Side::Sender => (destination, source),
            Side::Receiver => (source, destination),
        };
        let of = |port: u16, reverse: bool| {
            let &(flow, other_way) = self.flows.get(usize::from(port.checked_sub(self.first)?))?;
            (other_way == reverse).then_some(flow)
        };
        of(at_receiver, false).or_else(|| of(at_sender, true))
    }
}

#[cfg(test)]
mod tests {
    use narrows_base::Ecn;

    use super::*;

    fn tcp(destination: u16, payload: usize) -> Vec<u8> {
        let mut frame = vec![0; 40 + payload];
        frame[0] = 0x45;
        frame[1] = 2;
        frame[9] = 6;
        frame[22..24].copy_from_slice(&destination.to_be_bytes());
        frame[32] = 0x50;
        frame
    }

    /// The second flow between the hosts, number 7, has its receiver at the sending host.
    fn classify(frame: Vec<u8>, from: Side) -> Packet<ForwardedPacket> {
        Ports { first: 5000, flows: vec![(FlowId(3), false), (FlowId(7), true)] }
            .classify(frame.into(), from)
    }

    #[test]
    fn the_port_tells_the_flow() {
        let to = |port, from| classify(tcp(port, 0), from).flow.0;
        assert_eq!([4999, 5000, 5001, 5002].map(|port| to(port, Side::Sender)), [3; 4]);
        let sent = |port| {
            let mut frame = tcp(40_000, 0);
            frame[20..22].copy_from_slice(&u16::to_be_bytes(port));
            classify(frame, Side::Sender).flow.0
        };
        assert_eq!([4999, 5000, 5001, 5002].map(sent), [3, 3, 7, 3]);
        assert_eq!([5000, 5001].map(|port| to(port, Side::Receiver)), [3, 7]);
        let mut other = tcp(5001, 0);
        other[9] = 17;
        assert_eq!(classify(other, Side::Sender).flow, FlowId(3));
        assert_eq!(classify(vec![0x45, 0], Side::Sender).flow, FlowId(3));
    }

    #[test]
    fn size_and_ecn_are_those_of_the_ip_packet() {
        let packet = classify(tcp(5000, 60), Side::Sender);
        assert_eq!((packet.size, packet.ecn), (100, Ecn::Ect0));
    }
}
