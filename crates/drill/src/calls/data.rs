//! Calls that read and write.

use narrows_packetdrill::{Argument, CallValue, EndError};

use super::arguments::Arguments;
use super::connect::open_as;
use super::context::{CallReturn, PreparedCall};
use crate::sys::{self, Buffer};

pub fn read(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    let with_flags = arguments.call.name != "read";
    arguments.count(match arguments.call.name.as_str() {
        "read" => 3,
        "recv" => 4,
        _ => 6,
    })?;
    let (fd, count) = (arguments.fd(0)?, arguments.size(2)?);
    let mut buffer = arguments.buffer(arguments.at(1)?, count)?;
    if with_flags {
        let flags = arguments.int(3)?;
        return Ok(Box::new(move || sys::recv(fd, &mut buffer, count, flags).into()));
    }
    Ok(Box::new(move || sys::read(fd, &mut buffer, count).into()))
}

pub fn write(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    let name = arguments.call.name.as_str();
    arguments.count(match name {
        "write" => 3,
        "send" => 4,
        _ => 6,
    })?;
    let (fd, count) = (arguments.fd(0)?, arguments.size(2)?);
    let mut buffer = arguments.buffer(arguments.at(1)?, count)?;
    let flags = if name == "write" { None } else { Some(arguments.int(3)?) };
    let to = if name == "sendto" { Some(arguments.remote(4)?) } else { None };
    Ok(Box::new(move || {
        let result = match flags {
            Some(flags) => sys::sendto(fd, &mut buffer, count, flags, to.as_ref()),
            None => sys::write(fd, &mut buffer, count),
        };
        buffer.keep_for(flags.unwrap_or(0));
        result.into()
    }))
}

/// Buffers as `[{..., 1000}, {..., 2000}]`.
pub fn parts(arguments: &Arguments, list: &Argument) -> Result<Vec<(Buffer, usize)>, EndError> {
    let part = |part: &Argument| {
        let CallValue::Members(members) = &part.value else {
            return Err(arguments.refuse(part, "a buffer such as {..., 1000}"));
        };
        let [(None, buffer), (None, len)] = members.as_slice() else {
            return Err(arguments.refuse(part, "a buffer such as {..., 1000}"));
        };
        let len = usize::try_from(arguments.value(len)?)
            .map_err(|_| arguments.refuse(len, "a length"))?;
        Ok((arguments.buffer(buffer, len)?, len))
    };
    arguments.list(list)?.iter().map(part).collect()
}

pub fn vectors(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(3)?;
    let (fd, write) = (arguments.fd(0)?, arguments.call.name == "writev");
    let mut parts = parts(arguments, arguments.at(1)?)?;
    Ok(Box::new(move || sys::send_parts(fd, &mut parts, write).into()))
}

pub fn open(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(2)?;
    let CallValue::Text(path) = arguments.at(0)?.value.clone() else {
        return Err(arguments.refuse(arguments.at(0)?, "a path"));
    };
    let (flags, script) = (arguments.int(1)?, arguments.result());
    Ok(Box::new(move || open_as(sys::open(&path, flags), script)))
}

pub fn pipe(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(1)?;
    let ends = arguments.list(arguments.at(0)?)?;
    let [read, write] = ends else {
        return Err(arguments.refuse(arguments.at(0)?, "two descriptors in [ ]"));
    };
    let scripts = [arguments.value(read)?, arguments.value(write)?];
    Ok(Box::new(move || match sys::pipe() {
        Ok(live) => CallReturn { opened: scripts.into_iter().zip(live).collect(), ..Ok(0).into() },
        Err(number) => Err(number).into(),
    }))
}

pub fn sendfile(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(4)?;
    let (to, from) = (arguments.fd(0)?, arguments.fd(1)?);
    let (offset, count) = (arguments.number_in_list(2)?, arguments.size(3)?);
    Ok(Box::new(move || sys::sendfile(to, from, offset, count).into()))
}

pub fn splice(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(6)?;
    let (from, to) = (arguments.fd(0)?, arguments.fd(2)?);
    for offset in [1, 3] {
        if arguments.value(arguments.at(offset)?)? != 0 {
            return Err(arguments.refuse(arguments.at(offset)?, "NULL"));
        }
    }
    let (count, flags) = (arguments.size(4)?, arguments.int(5)?.cast_unsigned());
    Ok(Box::new(move || sys::splice(from, to, count, flags).into()))
}
