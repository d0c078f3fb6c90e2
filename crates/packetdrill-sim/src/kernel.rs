//! The kernel of the end: a profile, and what a script's commands change in it.

use narrows_packetdrill::EndError;
use narrows_tcp::{BufferLimits, EcnMode, OptionUse, ReceiveWindow, Sysctls, TcpProfile};

use crate::counters::Counters;

/// Ticks a second of the kernels that Linux's own tests run on.
const HZ: u32 = 1_000;

/// The explicit congestion notification of new connections (`tcp_ecn`): what a SYN asks for, and the
/// best that an answer agrees to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EcnUse {
    pub(crate) asks: EcnMode,
    pub(crate) agrees: EcnMode,
}

/// The kernel's settings.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) profile: TcpProfile,
    pub(crate) sysctls: Sysctls,
    pub(crate) timestamps: bool,
    pub(crate) sack: bool,
    pub(crate) window_scaling: bool,
    /// True if windows may shrink.
    pub(crate) may_shrink: bool,
    pub(crate) ecn: EcnUse,
    pub(crate) control: String,
    pub(crate) notsent_lowat: Option<u64>,
    /// True if the device's egress queue is `fq`.
    pub(crate) fq: bool,
    /// True if the egress queue has no room for any packet, so that none leaves.
    pub(crate) refuses: bool,
    pub(crate) counters: Counters,
}

/// Settings that the simulator has only with these values.
const FIXED: &[(&str, &[&str])] = &[
    ("tcp_syn_retries", &["5", "6"]),
    ("tcp_synack_retries", &["5"]),
    ("tcp_frto", &["1", "2"]),
    ("tcp_dsack", &["1"]),
    ("tcp_reordering", &["3"]),
    ("tcp_recovery", &["1"]),
    ("tcp_pacing_ss_ratio", &["200"]),
    ("tcp_pacing_ca_ratio", &["120"]),
    ("tcp_mtu_probing", &["0"]),
];

/// Settings that mean nothing to these connections.
const IDLE: &[&str] = &[
    "tcp_fack",
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_fastopen_cookies",
    "tcp_fastopen_blackhole_timeout_sec",
    "tcp_syncookies",
    "tcp_base_mss",
];

impl Kernel {
    /// A kernel of that version, as it starts.
    pub(crate) fn new(profile: &TcpProfile) -> Self {
        let profile = TcpProfile { cc: profile.cc.with_hz(HZ), ..*profile };
        Self {
            profile,
            sysctls: Sysctls::default(),
            timestamps: true,
            sack: true,
            window_scaling: true,
            may_shrink: false,
            ecn: EcnUse { asks: EcnMode::Off, agrees: EcnMode::Classic },
            control: "cubic".to_owned(),
            notsent_lowat: None,
            fq: false,
            refuses: false,
            counters: Counters::default(),
        }
    }

    /// Sets one of `net.ipv4`.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), EndError> {
        let one = || number(name, value);
        match name {
            "tcp_rmem" => {
                let [_, initial_buffer, max_buffer] = three(name, value)?;
                self.profile.receive =
                    ReceiveWindow { initial_buffer, max_buffer, ..self.profile.receive };
            }
            "tcp_wmem" => {
                let [_, first, max] = three(name, value)?;
                (self.sysctls.first_send_buffer, self.profile.send_buffer) = (first, max);
            }
            "tcp_timestamps" => self.timestamps = one()? != 0,
            "tcp_sack" => self.sack = one()? != 0,
            "tcp_window_scaling" => self.window_scaling = one()? != 0,
            "tcp_shrink_window" => self.may_shrink = one()? != 0,
            "tcp_ecn" => self.ecn = ecn(one()?, &self.profile)?,
            "tcp_ecn_option" => self.sysctls.accurate_ecn.option = option_use(one()?)?,
            "tcp_ecn_option_beacon" => self.sysctls.accurate_ecn.beacons = one()?.into(),
            "tcp_ecn_fallback" => self.sysctls.accurate_ecn.falls_back = one()? != 0,
            "tcp_congestion_control" => value.clone_into(&mut self.control),
            "tcp_slow_start_after_idle" => self.sysctls.slow_start_after_idle = one()? != 0,
            "tcp_early_retrans" => self.sysctls.loss_probes = one()? >= 3,
            "tcp_min_tso_segs" => self.sysctls.min_tso_segs = Some(one()?),
            "tcp_tso_win_divisor" => self.sysctls.tso_win_divisor = one()?,
            "tcp_notsent_lowat" => {
                self.notsent_lowat = Some(one()?).filter(|&low| low < u32::MAX).map(u64::from);
            }
            "tcp_invalid_ratelimit" => {}
            _ if IDLE.contains(&name) => {}
            _ => return check_fixed(name, value),
        }
        Ok(())
    }

    /// The profile as a sender and a receiver take it. A script makes few connections, so the
    /// settings of each may stay in memory.
    pub(crate) fn leak_profile(&self) -> &'static TcpProfile {
        Box::leak(Box::new(self.profile))
    }

    /// The limits of socket buffers, which are those of the profile.
    pub(crate) const LIMITS: BufferLimits = BufferLimits::Stock;
}

/// Modes of `tcp_ecn` (`enum tcp_ecn_mode`).
fn ecn(mode: u32, profile: &TcpProfile) -> Result<EcnUse, EndError> {
    use EcnMode::{Accurate, Classic, Off};
    let (asks, agrees) = match mode {
        0 => (Off, Off),
        1 => (Classic, Classic),
        2 => (Off, Classic),
        3 => (Accurate, Accurate),
        4 => (Classic, Accurate),
        5 => (Off, Accurate),
        _ => return Err(EndError::Failed(format!("tcp_ecn = {mode}, which is above 5"))),
    };
    if agrees == Accurate && !profile.accurate_ecn {
        let found =
            format!("tcp_ecn = {mode} with the profile {}, which has 2 at most", profile.name);
        return Err(EndError::Unsupported(found));
    }
    Ok(EcnUse { asks, agrees })
}

/// Values of `tcp_ecn_option` (`enum tcp_accecn_option`).
fn option_use(value: u32) -> Result<OptionUse, EndError> {
    match value {
        0 => Ok(OptionUse::Never),
        1 => Ok(OptionUse::Sparse),
        2 => Ok(OptionUse::Full),
        3 => Ok(OptionUse::Always),
        _ => Err(EndError::Failed(format!("tcp_ecn_option = {value}, which is above 3"))),
    }
}

fn check_fixed(name: &str, value: &str) -> Result<(), EndError> {
    match FIXED.iter().find(|known| known.0 == name) {
        Some((_, values)) if values.contains(&value) => Ok(()),
        Some((_, values)) => {
            let known = values.join(" or ");
            Err(EndError::Unsupported(format!("{name} = {value}; the simulator has {known}")))
        }
        None => Err(EndError::Unsupported(format!("the setting {name}"))),
    }
}

fn number(name: &str, value: &str) -> Result<u32, EndError> {
    value.parse().map_err(|_| EndError::Failed(format!("{name} = \"{value}\" is not a number")))
}

fn three(name: &str, value: &str) -> Result<[u32; 3], EndError> {
    let numbers: Vec<u32> =
        value.split_whitespace().map(|one| number(name, one)).collect::<Result<_, _>>()?;
    numbers
        .try_into()
        .map_err(|_| EndError::Failed(format!("{name} = \"{value}\", not three numbers")))
}
