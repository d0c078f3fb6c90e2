//! The contract of a control under any sequence of events, for fuzzing.

mod bookkeeping;
mod sender;

use narrows_base::registry::{Info, Values};
use narrows_base::{Duration, Stream};

use crate::config::CcConfig;
use crate::profile::PROFILES;
use crate::registry::{CONTROLS, build};
use crate::samples::{Congestion, Unused};

pub use bookkeeping::Bookkeeping;
pub use sender::{HUGE, ModelSender, ORDINARY, Operation, Scale};

/// Checks the contract of a registered control while a sender does the operations in `data`: the
/// control, the kernel's profile, the handshake's RTT, the size of windows, the options, then three
/// bytes for each operation. Options that the registry refuses end it.
///
/// # Panics
/// If the window or the threshold falls below one packet, the pacing rate to zero, if an internal
/// isn't a number, or if a computation overflows.
pub fn hold_control(data: &[u8]) {
    let mut bytes = data.iter().copied();
    let mut next = move || bytes.next();
    let (Some(kind), Some(profile), Some(rtt), Some(size)) = (next(), next(), next(), next())
    else {
        return;
    };
    let info = &CONTROLS[usize::from(kind) % CONTROLS.len()].info;
    let scale = if size % 4 == 0 { HUGE } else { ORDINARY };
    let config = CcConfig {
        mss: scale.mss,
        initial_cwnd: 10 * scale.packets,
        initial_rtt: micros(rtt).map(Duration::from_micros),
        profile: PROFILES[usize::from(profile) % PROFILES.len()].1,
        random: Stream::new(1, info.name),
        options: &options(info, &mut next),
    };
    let Ok(control) = build(info.name, config) else { return };
    let mut sender = ModelSender::new(control, scale);
    while let Some(operation) = operation(&mut next) {
        sender.apply(&operation);
        sender.check();
    }
}

fn options(info: &Info, next: &mut impl FnMut() -> Option<u8>) -> Values {
    let parameters = info.parameters.iter();
    parameters.filter_map(|p| Some((p.key(), next().and_then(|byte| p.draw(byte))?))).collect()
}

/// None, or 16 us to a second, in steps of about 3 %.
fn micros(byte: u8) -> Option<u64> {
    (byte > 0).then(|| (16 + u64::from(byte % 16)) << (byte / 16))
}

fn operation(next: &mut impl FnMut() -> Option<u8>) -> Option<Operation> {
    let [kind, first, second] = [next()?, next()?, next()?];
    let [even, second_half] = [kind & 16 == 0, kind & 32 == 0];
    Some(match kind % 16 {
        0..=7 => Operation::Ack {
            acked: u32::from(first),
            lost: if kind & 64 == 0 { 0 } else { u32::from(first % 50) },
            rtt_us: micros(second),
            app_limited: even,
            limited: second_half,
        },
        8..=10 => Operation::Wait { micros: micros(first).unwrap_or(1) },
        11 => Operation::Wait { micros: micros(first).unwrap_or(1) << (second % 10) },
        12 => Operation::Enter(match first % 5 {
            0 => Congestion::Ecn,
            1 => Congestion::TailLoss,
            2 => Congestion::Timeout { reduce: even },
            _ => Congestion::Loss,
        }),
        13 => Operation::Leave,
        14 => Operation::Undo,
        _ if even => Operation::Start { app_limited: second_half },
        _ if second_half => {
            Operation::Unused(Unused::Idle { timeouts: u32::from(first), restart_window: 10 })
        }
        _ => Operation::Unused(Unused::Underused { used: 10 + u32::from(first) }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arbitrary bytes, a few hundred operations for each control.
    #[test]
    fn controls_hold_the_contract_whatever_is_set() {
        for seed in 0..2_000_u64 {
            let mut random = Stream::new(seed, "contract");
            let length = 4 + random.below(900);
            let byte = |_| u8::try_from(random.below(256)).expect("a byte");
            let mut data: Vec<u8> = (0..length).map(byte).collect();
            data[0] = u8::try_from(seed % 253).expect("a byte");
            if let Err(panic) = std::panic::catch_unwind(|| hold_control(&data)) {
                println!(
                    "{} of seed {seed}",
                    CONTROLS[usize::from(data[0]) % CONTROLS.len()].info.name
                );
                std::panic::resume_unwind(panic);
            }
        }
    }
}
