//! Socket options (`setsockopt`, `getsockopt`).

use narrows_packetdrill::{Call, CallOutcome, CallValue, EndError};

use crate::calls::{integer, success, word};
use crate::end::SimulatedEnd;

/// Options that change nothing that a script sees.
const IDLE: [&str; 5] =
    ["SO_REUSEADDR", "TCP_NODELAY", "IP_MTU_DISCOVER", "TCP_FASTOPEN", "IPV6_MTU_DISCOVER"];

impl SimulatedEnd {
    pub(crate) fn set_option(&mut self, call: &Call) -> Result<CallOutcome, EndError> {
        let name = word(call.arguments.get(2)).unwrap_or("a number").to_owned();
        let value = call.arguments.get(3);
        let text = match value.map(|value| &value.value) {
            Some(CallValue::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let number = || {
            let value = integer(value, "a value")?;
            u32::try_from(value).map_err(|_| EndError::Failed(format!("{name} of {value}")))
        };
        let options = &mut self.socket(call)?.options;
        match name.as_str() {
            "SO_SNDBUF" => options.send_buffer = Some(number()?.saturating_mul(2)),
            "SO_RCVBUF" => options.receive_buffer = Some(number()?.saturating_mul(2)),
            "TCP_NOTSENT_LOWAT" => options.notsent_lowat = Some(number()?.into()),
            "TCP_MAXSEG" => {
                let value = number()?;
                let size = u16::try_from(value)
                    .map_err(|_| EndError::Failed(format!("TCP_MAXSEG of {value}")))?;
                options.max_segment = Some(size);
            }
            "TCP_CONGESTION" => options.congestion_control = text,
            "TCP_USER_TIMEOUT" => options.user_timeout_ms = Some(number()?).filter(|&ms| ms > 0),
            "IP_TOS" => {
                let value = number()?;
                options.tos = u8::try_from(value)
                    .map_err(|_| EndError::Failed(format!("IP_TOS of {value}")))?;
            }
            known if IDLE.contains(&known) => {}
            other => return Err(EndError::Unsupported(format!("the option {other}"))),
        }
        let options = options.clone();
        let fixes = name == "SO_RCVBUF";
        if let Some(connection) =
            self.connection.as_mut().filter(|one| !one.passive || self.accepted)
        {
            connection.sender.limit_waiting(options.user_timeout_ms);
            let lowat = options.notsent_lowat.or(connection.kernel.notsent_lowat);
            connection.sender.set_notsent_lowat(lowat);
            if let Some(bytes) = options.receive_buffer.filter(|_| fixes) {
                connection.receiver.fix_buffer(bytes.into());
            }
            connection.options = options;
        }
        Ok(success(0))
    }

    pub(crate) fn get_option(&mut self, call: &Call) -> Result<CallOutcome, EndError> {
        let name = word(call.arguments.get(2)).unwrap_or("a number").to_owned();
        let kernel_buffer = self.kernel.sysctls.first_send_buffer;
        let segment = self.connection.as_ref().map(|one| one.terms.mss);
        let options = &self.socket(call)?.options;
        let value = match name.as_str() {
            "SO_ERROR" => 0,
            "SO_SNDBUF" => options.send_buffer.unwrap_or(kernel_buffer).into(),
            "TCP_NOTSENT_LOWAT" => options.notsent_lowat.unwrap_or(0),
            "TCP_MAXSEG" => {
                segment.unwrap_or_else(|| options.max_segment.unwrap_or(536).into()).into()
            }
            other => return Err(EndError::Unsupported(format!("the option {other}"))),
        };
        let expected = integer(call.arguments.get(3), "a value").ok();
        let differs = expected.is_some_and(|expected| expected.cast_unsigned() != value);
        let difference = differs.then(|| format!("{name} = {value}"));
        Ok(CallOutcome { difference, ..success(0) })
    }
}
