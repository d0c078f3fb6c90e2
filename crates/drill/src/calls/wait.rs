//! Calls that wait for descriptors.

use narrows_packetdrill::{Argument, CallValue, EndError};

use super::arguments::Arguments;
use super::connect::open_as;
use super::context::{CallReturn, PreparedCall};
use crate::sys;

pub fn poll(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(3)?;
    let mut polled = Vec::new();
    let mut wanted = Vec::new();
    for each in arguments.list(arguments.at(0)?)? {
        let bits = |name: &str| {
            let found = each.member(name).map_or(Ok(0), |argument| arguments.value(argument))?;
            i16::try_from(found).map_err(|_| arguments.refuse(each, "events of 16 bits"))
        };
        let script = arguments.value(arguments.member(each, "fd")?)?;
        let fd = arguments.live(script);
        let fd = fd.ok_or_else(|| arguments.refuse(each, "an open descriptor"))?;
        polled.push((fd, bits("events")?));
        wanted.push(bits("revents")?);
    }
    let timeout_ms = arguments.int(2)?;
    Ok(Box::new(move || {
        let (result, found) = sys::poll(&polled, timeout_ms);
        let differs = result.is_ok() && found != wanted;
        let difference = differs.then(|| format!("the events {found:x?}, not {wanted:x?}"));
        CallReturn { difference, ..result.into() }
    }))
}

pub fn epoll_create(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(1)?;
    let (size, script) = (arguments.int(0)?, arguments.result());
    Ok(Box::new(move || open_as(sys::epoll_create(size), script)))
}

/// Events and data of a structure; a descriptor counts as the script's.
fn event(arguments: &Arguments, event: &Argument) -> Result<(u32, u64), EndError> {
    let events = arguments.value(arguments.member(event, "events")?)?;
    let events = u32::try_from(events)
        .or_else(|_| i32::try_from(events).map(i32::cast_unsigned))
        .map_err(|_| arguments.refuse(event, "events of 32 bits"))?;
    let data = ["fd", "ptr", "u32", "u64"].iter().find_map(|name| event.member(name));
    let data = data.ok_or_else(|| arguments.refuse(event, "a structure with fd, ptr or u64"))?;
    Ok((events, arguments.value(data)?.cast_unsigned()))
}

pub fn epoll_ctl(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(4)?;
    let (fd, operation, of) = (arguments.fd(0)?, arguments.int(1)?, arguments.fd(2)?);
    let (events, data) = event(arguments, arguments.at(3)?)?;
    Ok(Box::new(move || sys::epoll_ctl(fd, operation, of, events, data).into()))
}

pub fn epoll_wait(arguments: &Arguments) -> Result<PreparedCall, EndError> {
    arguments.count(4)?;
    let (fd, most, timeout_ms) = (arguments.fd(0)?, arguments.size(2)?, arguments.int(3)?);
    let list = arguments.at(1)?;
    let wanted = match &list.value {
        CallValue::List(events) => {
            events.iter().map(|each| event(arguments, each)).collect::<Result<Vec<_>, _>>()?
        }
        _ => vec![event(arguments, list)?],
    };
    Ok(Box::new(move || {
        let (result, found) = sys::epoll_wait(fd, most, timeout_ms);
        let differs = found.iter().zip(&wanted).any(|(found, wanted)| found != wanted);
        let difference = differs.then(|| format!("the events {found:x?}, not {wanted:x?}"));
        CallReturn { difference, ..result.into() }
    }))
}
