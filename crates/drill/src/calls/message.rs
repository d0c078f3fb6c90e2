//! `sendmsg` and `recvmsg`, with their control messages.

use narrows_packetdrill::{Argument, CallValue, EndError};

use super::arguments::Arguments;
use super::context::{CallReturn, PreparedCall};
use super::data;
use crate::sys::{self, ControlMessage, Sockaddr};

/// The first members of `struct sock_extended_err`, with their offsets and sizes in bytes.
const EXTENDED_ERROR: [(&str, usize, usize); 6] = [
    ("ee_errno", 0, 4),
    ("ee_origin", 4, 1),
    ("ee_type", 5, 1),
    ("ee_code", 6, 1),
    ("ee_info", 8, 4),
    ("ee_data", 12, 4),
];
const NANOS_PER_SEC: i64 = 1_000_000_000;
/// A timestamp may be off by this part of the time since the start: 12.5 %.
const TOLERANCE_DIVISOR: i64 = 8;

pub fn send(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(3)?;
    let (fd, message, flags) = (arguments.fd(0)?, arguments.at(1)?, arguments.int(2)?);
    let mut parts = data::parts(arguments, arguments.member(message, "msg_iov")?)?;
    let to = message.member("msg_name").map(|_| Sockaddr::new(arguments.context.remote));
    Ok(Box::new(move || {
        let result = sys::sendmsg(fd, to.as_ref(), &mut parts, flags);
        parts.into_iter().for_each(|(buffer, _)| buffer.keep_for(flags));
        result.into()
    }))
}

/// The content of a control message that the script expects.
enum Content {
    Integer(i64),
    /// Members of `struct sock_extended_err`: name, offset, size, value.
    Error(Vec<(&'static str, usize, usize, i64)>),
    /// ns since the start of the script.
    Time(i64),
}

struct ExpectedMessage {
    level: i64,
    kind: i64,
    content: Content,
}

pub fn receive(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(3)?;
    let (fd, message, flags) = (arguments.fd(0)?, arguments.at(1)?, arguments.int(2)?);
    let mut parts = data::parts(arguments, arguments.member(message, "msg_iov")?)?;
    let flags_out = arguments.value(arguments.member(message, "msg_flags")?)?;
    let control = match message.member("msg_control") {
        Some(list) => arguments.list(list)?,
        None => &[],
    };
    let control: Vec<_> =
        control.iter().map(|each| read_wanted(arguments, each)).collect::<Result<_, _>>()?;
    let (zero, tolerance) = (arguments.context.realtime_zero_ns, arguments.context.tolerance_ns);
    Ok(Box::new(move || {
        let (result, received) = sys::recvmsg(fd, &mut parts, flags);
        let difference = match result {
            Err(_) => None,
            Ok(_) if i64::from(received.flags) != flags_out => {
                Some(format!("the flags {:#x}, not {flags_out:#x}", received.flags))
            }
            Ok(_) => compare(&control, &received.control, zero, tolerance),
        };
        CallReturn { difference, ..result.into() }
    }))
}

fn read_wanted(arguments: &Arguments, each: &Argument) -> Result<ExpectedMessage, EndError> {
    let member = |name: &str| arguments.value(arguments.member(each, name)?);
    let data = arguments.member(each, "cmsg_data")?;
    let content = if data.member("ee_errno").is_some() {
        let value = |&(name, at, size): &(&'static str, usize, usize)| {
            Ok((name, at, size, arguments.value(arguments.member(data, name)?)?))
        };
        Content::Error(EXTENDED_ERROR.iter().map(value).collect::<Result<_, EndError>>()?)
    } else if let Some(seconds) = data.member("scm_sec") {
        let nanos = arguments.value(arguments.member(data, "scm_nsec")?)?;
        Content::Time(arguments.value(seconds)? * NANOS_PER_SEC + nanos)
    } else if matches!(data.value, CallValue::Members(_)) {
        return Err(EndError::Unsupported("a control message of this form".to_owned()));
    } else {
        Content::Integer(arguments.value(data)?)
    };
    Ok(ExpectedMessage { level: member("cmsg_level")?, kind: member("cmsg_type")?, content })
}

fn compare(
    wanted: &[ExpectedMessage],
    found: &[ControlMessage],
    zero: i64,
    slack: i64,
) -> Option<String> {
    if wanted.len() != found.len() {
        return Some(format!("{} control messages, not {}", found.len(), wanted.len()));
    }
    wanted.iter().zip(found).find_map(|(wanted, found)| {
        let kinds = (i64::from(found.level), i64::from(found.kind));
        if kinds != (wanted.level, wanted.kind) {
            let right = (wanted.level, wanted.kind);
            return Some(format!("a control message of {kinds:?}, not {right:?}"));
        }
        content(&wanted.content, &found.data, zero, slack)
    })
}

fn content(wanted: &Content, data: &[u8], zero: i64, slack: i64) -> Option<String> {
    match wanted {
        Content::Integer(wanted) => {
            let found = number(data, 0, 4);
            (found != *wanted).then(|| format!("{found} in a control message, not {wanted}"))
        }
        Content::Error(members) => members.iter().find_map(|&(name, at, size, wanted)| {
            let found = number(data, at, size);
            (found != wanted).then(|| format!("{name} {found}, not {wanted}"))
        }),
        Content::Time(wanted) => {
            let at = number(data, 0, 8) * NANOS_PER_SEC + number(data, 8, 8) - zero;
            let slack = slack.max(wanted / TOLERANCE_DIVISOR);
            let off = (at - wanted).abs() > slack;
            off.then(|| format!("the time {at} ns, not {wanted} (within {slack})"))
        }
    }
}

/// A little-endian integer: unsigned below 8 bytes, signed with 8.
fn number(data: &[u8], at: usize, size: usize) -> i64 {
    let mut bytes = [0; 8];
    if let Some(found) = data.get(at..at + size) {
        bytes[..size].copy_from_slice(found);
    }
    i64::from_le_bytes(bytes)
}
