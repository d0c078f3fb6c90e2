//! The options at a script's head.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::cursor::Cursor;
use crate::error::{ScriptError, one_of};
use crate::lexer::TokenKind;
use crate::script::{IpMode, ScriptOptions};

const NANOS_PER_MICRO: i64 = 1_000;
const NAMES: [&str; 18] = [
    "ip_version",
    "bind_port",
    "connect_port",
    "remote_ip",
    "local_ip",
    "gateway_ip",
    "netmask_ip",
    "mss",
    "mtu",
    "tolerance_usecs",
    "tcp_ts_tick_usecs",
    "tcp_ts_ecr_scaled",
    "strict_segments",
    "non_fatal",
    "send_omit_free",
    "define",
    "psp_udp_port",
    "verbose",
];

/// Reads one option.
pub fn read(
    cursor: &mut Cursor,
    options: &mut ScriptOptions,
    defines: &mut BTreeMap<String, String>,
) -> Result<(), ScriptError> {
    let token = cursor.next();
    let TokenKind::Option(name) = &token.kind else { unreachable!("the caller saw an option") };
    match name.as_str() {
        "tcp_ts_ecr_scaled" => options.scaled_echo = true,
        "strict_segments" => options.strict_segments = true,
        // Without effect: nothing is printed, and buffers that the kernel may still read stay.
        "verbose" | "send_omit_free" => {}
        known if NAMES.contains(&known) => {
            cursor.expect('=', &format!("\"=\" and the value of --{known}"))?;
            with_value(known, cursor, options, defines)?;
        }
        other => {
            let found = format!("\"--{other}\"");
            return Err(ScriptError::new(token.at, found, one_of(other, &NAMES)));
        }
    }
    Ok(())
}

fn with_value(
    name: &str,
    cursor: &mut Cursor,
    options: &mut ScriptOptions,
    defines: &mut BTreeMap<String, String>,
) -> Result<(), ScriptError> {
    match name {
        "ip_version" => options.ip_version = Some(ip_version(cursor)?),
        "local_ip" => options.local_ip = Some(ip(cursor)?),
        "gateway_ip" => options.gateway_ip = Some(ip(cursor)?),
        "remote_ip" => options.remote_ip = Some(ip(cursor)?),
        "netmask_ip" => options.netmask_ip = Some(ip(cursor)?),
        "mss" => options.mss = Some(cursor.u16("a segment size in bytes")?),
        "mtu" => options.mtu = Some(cursor.u16("an MTU in bytes")?),
        "bind_port" => options.bind_port = Some(cursor.u16("a port")?),
        "connect_port" => options.connect_port = Some(cursor.u16("a port")?),
        "tolerance_usecs" => options.tolerance_ns = Some(micros(cursor)?),
        "tcp_ts_tick_usecs" => options.timestamp_tick_ns = Some(micros(cursor)?),
        "define" => {
            let word = cursor.word("a word to define")?;
            cursor.expect('=', "\"=\" and the value of the word")?;
            defines.insert(word, cursor.next().text);
        }
        "non_fatal" => {
            options.non_fatal.push(cursor.word("packet or syscall")?);
            while cursor.accept(',') {
                options.non_fatal.push(cursor.word("packet or syscall")?);
            }
        }
        _ => drop(cursor.next()),
    }
    Ok(())
}

fn micros(cursor: &mut Cursor) -> Result<i64, ScriptError> {
    Ok(i64::from(cursor.u32("a time in microseconds")?) * NANOS_PER_MICRO)
}

fn ip_version(cursor: &mut Cursor) -> Result<IpMode, ScriptError> {
    let names = IpMode::NAMES.map(|known| known.0);
    let mut name = cursor.peek().text.clone();
    let error = cursor.refuse(one_of(&name, &names));
    cursor.next();
    while cursor.peek().joined && cursor.peek().kind != TokenKind::End {
        name += &cursor.next().text;
    }
    IpMode::of_name(&name).ok_or(error)
}

/// An address, perhaps with a prefix length behind it, which the device's routes don't need.
fn ip(cursor: &mut Cursor) -> Result<IpAddr, ScriptError> {
    let found = cursor.peek().text.parse().ok();
    let Some(address) = found else {
        return Err(cursor.refuse("an IP address, such as 192.0.2.1 or fd3d::1"));
    };
    cursor.next();
    if cursor.accept('/') {
        cursor.u8("a prefix length")?;
    }
    Ok(address)
}
