//! TCP headers as Linux writes them (`tcp_options_write`).

use narrows_packetdrill::TcpOption;
use narrows_tcp::AccEcnOption;

use crate::accurate;

/// The options of a SYN, or of its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SynOptions {
    pub(crate) mss: u16,
    /// Value and echo.
    pub(crate) timestamp: Option<(u32, u32)>,
    pub(crate) sack: bool,
    pub(crate) window_scale: Option<u8>,
}

impl SynOptions {
    /// The options in Linux's order, and that of accurate ECN.
    pub(crate) fn write(self, accurate: Option<&AccEcnOption>) -> Vec<TcpOption> {
        let mut options = vec![TcpOption::Mss(self.mss)];
        match (self.timestamp, self.sack) {
            (Some((val, ecr)), true) => {
                options.extend([TcpOption::SackOk, TcpOption::Timestamp { val, ecr }]);
            }
            (Some(stamp), false) => options.extend(timestamp(stamp)),
            (None, _) => {}
        }
        if let Some(option) = accurate {
            options.extend(accurate::write(option, true));
        }
        if self.sack && self.timestamp.is_none() {
            options.extend([TcpOption::Nop, TcpOption::Nop, TcpOption::SackOk]);
        }
        if let Some(shift) = self.window_scale {
            options.extend([TcpOption::Nop, TcpOption::WindowScale(shift)]);
        }
        options
    }

    /// The options of a peer; those that are missing have the values that RFC 9293 gives.
    pub(crate) fn read(options: &[TcpOption]) -> Self {
        let mut found = Self { mss: 536, timestamp: None, sack: false, window_scale: None };
        for option in options {
            match option {
                TcpOption::Mss(mss) => found.mss = *mss,
                TcpOption::WindowScale(shift) => found.window_scale = Some((*shift).min(14)),
                TcpOption::SackOk => found.sack = true,
                TcpOption::Timestamp { val, ecr } => found.timestamp = Some((*val, *ecr)),
                _ => {}
            }
        }
        found
    }
}

/// The option of a timestamp, aligned to words.
pub(crate) fn timestamp((val, ecr): (u32, u32)) -> [TcpOption; 3] {
    [TcpOption::Nop, TcpOption::Nop, TcpOption::Timestamp { val, ecr }]
}
