//! Calls that make, connect and end sockets.

use narrows_packetdrill::{CallValue, EndError};

use super::arguments::Arguments;
use super::context::{CallReturn, PreparedCall};
use crate::sys::{self, Raw, Sockaddr};

/// A new descriptor counts as the one that the script expects.
pub fn open_as(result: Raw, script: i64) -> CallReturn {
    let opened = result.ok().and_then(|fd| i32::try_from(fd).ok());
    CallReturn { opened: opened.map(|fd| (script, fd)).into_iter().collect(), ..result.into() }
}

pub fn socket(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(3)?;
    let family = match arguments.at(0)?.value {
        CallValue::Ellipsis if arguments.context.socket_v6 => libc::AF_INET6,
        CallValue::Ellipsis => libc::AF_INET,
        _ => arguments.int(0)?,
    };
    let (kind, protocol, script) = (arguments.int(1)?, arguments.int(2)?, arguments.result());
    Ok(Box::new(move || open_as(sys::socket(family, kind, protocol), script)))
}

pub fn bind(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(3)?;
    let (fd, to) = (arguments.fd(0)?, Sockaddr::new(arguments.context.local));
    arguments.ellipsis(1)?;
    arguments.ellipsis(2)?;
    Ok(Box::new(move || sys::bind(fd, &to).into()))
}

pub fn listen(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(2)?;
    let (fd, backlog) = (arguments.fd(0)?, arguments.int(1)?);
    Ok(Box::new(move || sys::listen(fd, backlog).into()))
}

pub fn accept(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(3)?;
    let (fd, script) = (arguments.fd(0)?, arguments.result());
    arguments.ellipsis(1)?;
    arguments.ellipsis(2)?;
    Ok(Box::new(move || open_as(sys::accept(fd), script)))
}

pub fn connect(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(3)?;
    let (fd, to) = (arguments.fd(0)?, arguments.remote(1)?);
    Ok(Box::new(move || sys::connect(fd, &to).into()))
}

pub fn close(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(1)?;
    let (fd, script) = (arguments.fd(0)?, arguments.value(arguments.at(0)?)?);
    Ok(Box::new(move || {
        let result = sys::close(fd);
        CallReturn { closed: result.ok().map(|_| script), ..result.into() }
    }))
}

pub fn shutdown(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(2)?;
    let (fd, how) = (arguments.fd(0)?, arguments.int(1)?);
    Ok(Box::new(move || sys::shutdown(fd, how).into()))
}
