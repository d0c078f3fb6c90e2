//! Accurate ECN on the wire: its flags and its option.

use narrows_base::Ecn;
use narrows_packetdrill::{AccEcnCounter, Tcp, TcpFlags, TcpOption};
use narrows_tcp::{AccEcnOption, Ace, EcnMode, OptionOrder, ThirdPacket};

/// The third packet of a handshake that this end began: it sends that itself.
pub(crate) const NO_THIRD: ThirdPacket =
    ThirdPacket { ace: Ace::ACCURATE_REQUEST, option: None, ecn: Ecn::NotEct, bytes: 0 };

/// The answer to a SYN of the simulator's sender that makes both ends use `mode`.
pub(crate) fn answer(mode: EcnMode) -> (Ace, Option<AccEcnOption>, Ecn) {
    let ace = match mode {
        EcnMode::Off => Ace::NONE,
        EcnMode::Classic | EcnMode::Dctcp => Ace::CLASSIC_ANSWER,
        EcnMode::Accurate | EcnMode::L4s => Ace::reflecting(Ecn::NotEct),
    };
    (ace, None, Ecn::NotEct)
}

/// The ACE field in the flags AE, CWR and ECE.
pub(crate) fn ace(flags: TcpFlags) -> Ace {
    let bits = [TcpFlags::ECE, TcpFlags::CWR, TcpFlags::AE];
    let set = bits.iter().enumerate().filter(|(_, flag)| flags.has(**flag));
    Ace::from_bits(set.map(|(bit, _)| 1 << bit).sum())
}

/// The flags AE, CWR and ECE of a header that carries `ace`.
pub(crate) fn flags(ace: Ace) -> TcpFlags {
    TcpFlags(u16::from(ace.bits()) * TcpFlags::ECE.0)
}

/// The option of a packet to the end.
pub(crate) fn option(tcp: &Tcp) -> Option<AccEcnOption> {
    tcp.options.iter().flatten().find_map(|option| match option {
        TcpOption::AccEcn(counters) => {
            let ect0 = counters.first().is_some_and(|first| first.0 == AccEcnCounter::E0);
            let order = if ect0 { OptionOrder::Ect0First } else { OptionOrder::Ect1First };
            let values: Vec<u32> = counters.iter().map(|counter| counter.1).collect();
            Some(AccEcnOption::new(order, &values))
        }
        _ => None,
    })
}

/// An option of the end, with the padding that fills a word if `pads`, or leaves the half of it that the
/// next option has (`tcp_options_write`).
pub(crate) fn write(option: &AccEcnOption, pads: bool) -> Vec<TcpOption> {
    const NAMES: [AccEcnCounter; 3] = [AccEcnCounter::E1, AccEcnCounter::Ce, AccEcnCounter::E0];
    let counters: Vec<_> = NAMES.into_iter().zip(option.counters().iter().copied()).collect();
    let len = 2 + 3 * counters.len() + if pads { 0 } else { 2 };
    let padding = len.next_multiple_of(4) - len;
    let mut options = vec![TcpOption::AccEcn(counters)];
    options.extend(std::iter::repeat_n(TcpOption::Nop, padding));
    options
}
