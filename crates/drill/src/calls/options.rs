//! Calls that set and read options of descriptors.

use narrows_packetdrill::{CallValue, EndError};

use super::arguments::Arguments;
use super::context::{CallReturn, PreparedCall};
use crate::sys;

const INT_BYTES: usize = 4;

pub fn fcntl(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    let (fd, command) = (arguments.fd(0)?, arguments.int(1)?);
    let argument = if arguments.call.arguments.len() > 2 { arguments.int(2)? } else { 0 };
    Ok(Box::new(move || sys::fcntl(fd, command, argument).into()))
}

pub fn ioctl(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(3)?;
    let (fd, request, wanted) = (arguments.fd(0)?, arguments.int(1)?, arguments.number_in_list(2)?);
    if i64::from(request) != crate::symbols::value("SIOCINQ").unwrap_or(0) {
        return Err(EndError::Unsupported(format!("the request {request:#x} of ioctl")));
    }
    Ok(Box::new(move || {
        let (result, found) = sys::inq(fd);
        let differs = result.is_ok() && i64::from(found) != wanted;
        let difference = differs.then(|| format!("{found} in memory, not {wanted}"));
        CallReturn { difference, ..result.into() }
    }))
}

/// The bytes of an option's value: integers in [ ], or a text.
fn memory(arguments: &Arguments, place: usize) -> Result<Vec<u8>, EndError> {
    let argument = arguments.at(place)?;
    match &argument.value {
        CallValue::Text(text) => arguments.bytes(argument, text),
        CallValue::List(values) => {
            let mut bytes = Vec::new();
            for value in values {
                let number = arguments.value(value)?;
                let word = i32::try_from(number)
                    .or_else(|_| u32::try_from(number).map(u32::cast_signed))
                    .map_err(|_| arguments.refuse(value, "a number of 32 bits"))?;
                bytes.extend(word.to_ne_bytes());
            }
            Ok(bytes)
        }
        _ => Err(EndError::Unsupported(format!("such a value of {}", arguments.call.name))),
    }
}

pub fn setsockopt(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(5)?;
    let (fd, level, name) = (arguments.fd(0)?, arguments.int(1)?, arguments.int(2)?);
    let (mut value, bytes) = (memory(arguments, 3)?, arguments.size(4)?);
    value.resize(value.len().max(bytes), 0);
    let bytes = u32::try_from(bytes).map_err(|_| EndError::Failed("a long option".to_owned()))?;
    Ok(Box::new(move || sys::setsockopt(fd, level, name, &value, bytes).into()))
}

pub fn getsockopt(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(5)?;
    let (fd, level, name) = (arguments.fd(0)?, arguments.int(1)?, arguments.int(2)?);
    let wanted = memory(arguments, 3)?;
    let bytes = usize::try_from(arguments.number_in_list(4)?)
        .map_err(|_| EndError::Failed("a negative length".to_owned()))?;
    Ok(Box::new(move || {
        let mut found = vec![0; bytes];
        let (result, len) = sys::getsockopt(fd, level, name, &mut found);
        found.truncate(len);
        let difference = if result.is_err() || found == wanted {
            None
        } else if let (Some(found), Some(wanted)) = (int(&found), int(&wanted)) {
            Some(format!("the value {found}, not {wanted}"))
        } else {
            Some(format!("the value {found:02x?}, not {wanted:02x?}"))
        };
        CallReturn { difference, ..result.into() }
    }))
}

fn int(bytes: &[u8]) -> Option<i32> {
    let bytes: [u8; INT_BYTES] = bytes.try_into().ok()?;
    Some(i32::from_ne_bytes(bytes))
}
