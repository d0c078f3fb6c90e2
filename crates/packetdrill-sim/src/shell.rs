//! Runs the commands of scripts that set up a kernel.

use std::fs;
use std::path::Path;

use narrows_packetdrill::EndError;

use crate::kernel::Kernel;

/// The deepest nesting of shell scripts.
const DEEPEST: u32 = 4;

/// Runs a script's command, in the script's folder.
pub(crate) fn run(text: &str, folder: &Path, kernel: &mut Kernel) -> Result<(), EndError> {
    run_at(text, folder, kernel, 0)
}

fn run_at(text: &str, folder: &Path, kernel: &mut Kernel, depth: u32) -> Result<(), EndError> {
    for line in text.replace("\\\n", " ").lines() {
        for words in commands(line)? {
            execute(&words, folder, kernel, depth)?;
        }
    }
    Ok(())
}

/// The commands of a line, each as its words.
fn commands(line: &str) -> Result<Vec<Vec<String>>, EndError> {
    let mut found = vec![Vec::new()];
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        match first {
            '#' => break,
            ';' => {
                found.push(Vec::new());
                rest = &rest[1..];
            }
            '|' => {
                found.last_mut().expect("it begins with one").push("|".to_owned());
                rest = &rest[1..];
            }
            _ => {
                let (word, len) = word(rest)?;
                found.last_mut().expect("it begins with one").push(word);
                rest = &rest[len..];
            }
        }
        rest = rest.trim_start();
    }
    found.retain(|words| !words.is_empty());
    Ok(found)
}

/// Returns the first word, unquoted and with its products calculated, and its length in the text.
fn word(text: &str) -> Result<(String, usize), EndError> {
    let (mut found, mut quoted, mut at) = (String::new(), None, 0);
    while let Some(letter) = text[at..].chars().next() {
        if quoted.is_none() && (letter.is_whitespace() || matches!(letter, ';' | '|')) {
            break;
        }
        if quoted != Some('\'') && text[at..].starts_with("$((") {
            let Some(len) = text[at..].find("))") else {
                return Err(EndError::Failed(format!("\"{}\" lacks \"))\"", &text[at..])));
            };
            found += &product(&text[at + 3..at + len])?.to_string();
            at += len + 2;
            continue;
        }
        match quoted {
            Some(quote) if quote == letter => quoted = None,
            None if matches!(letter, '"' | '\'') => quoted = Some(letter),
            _ => found.push(letter),
        }
        at += letter.len_utf8();
    }
    Ok((found, at))
}

/// Returns the value of a product such as "15*1024*1024"; scripts calculate nothing else.
fn product(text: &str) -> Result<u64, EndError> {
    text.split('*').try_fold(1u64, |product, factor| {
        let value = factor.trim().parse::<u64>().ok().and_then(|value| product.checked_mul(value));
        value.ok_or_else(|| EndError::Unsupported(format!("the calculation \"{text}\"")))
    })
}

fn execute(
    words: &[String],
    folder: &Path,
    kernel: &mut Kernel,
    depth: u32,
) -> Result<(), EndError> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["sysctl", arguments @ ..] => {
            let plain = |word: &&&str| !word.starts_with(['-', '>', '2']) && word.contains('=');
            arguments.iter().filter(plain).try_for_each(|one| assign(one, kernel))
        }
        ["tc", "qdisc", rest @ ..] => queue(rest, kernel),
        ["nstat", rest @ ..] => count(rest, kernel),
        [program, arguments @ ..] if program.ends_with("set_sysctls.py") => {
            arguments.iter().try_for_each(|one| assign(one, kernel))
        }
        // Settings hold for one script only.
        [program] if program.starts_with("/tmp/sysctl_restore_") => Ok(()),
        ["ip", "tcp_metrics", "flush", ..] | ["ethtool", "-K", ..] => Ok(()),
        ["echo", "3", ">", file] if file.ends_with("/tcp_cubic/parameters/hystart_detect") => {
            Ok(())
        }
        [program] if program.ends_with(".sh") => {
            let file = folder.join(program);
            let text = fs::read_to_string(&file)
                .map_err(|error| EndError::Failed(format!("{program} can't be read: {error}")))?;
            if depth == DEEPEST {
                return Err(EndError::Failed(format!("{program} calls itself")));
            }
            run_at(&text, folder, kernel, depth + 1)
        }
        _ => Err(EndError::Unsupported(format!("the command \"{}\"", words.join(" ")))),
    }
}

/// Sets `net.ipv4.name=value`, or the same as a path.
fn assign(text: &str, kernel: &mut Kernel) -> Result<(), EndError> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let dotted = name.trim_start_matches("/proc/sys/").replace('/', ".");
    let Some(setting) = dotted.strip_prefix("net.ipv4.") else {
        return Err(EndError::Unsupported(format!("the setting {name}")));
    };
    kernel.set(setting, value)
}

/// Runs `nstat`, perhaps with `grep` behind it.
fn count(words: &[&str], kernel: &mut Kernel) -> Result<(), EndError> {
    let mut stages = words.split(|&word| word == "|");
    let mut lines = kernel.counters.nstat(stages.next().unwrap_or_default())?;
    for stage in stages {
        let (["grep", pattern] | ["grep", "-q", pattern]) = stage else {
            let found = format!("nstat into the command \"{}\"", stage.join(" "));
            return Err(EndError::Unsupported(found));
        };
        lines.retain(|line| line.contains(pattern));
        if lines.is_empty() {
            return Err(EndError::Failed(format!("no line of nstat has \"{pattern}\"")));
        }
    }
    Ok(())
}

/// Sets whether the egress queue paces.
fn queue(words: &[&str], kernel: &mut Kernel) -> Result<(), EndError> {
    let words: Vec<_> = words.iter().copied().filter(|word| !word.contains('>')).collect();
    let (paces, refuses) = match words.as_slice() {
        ["delete", "dev", "tun0", "root"] => (false, false),
        ["add" | "replace", "dev", "tun0", "root", kind @ ("fq" | "pfifo")] => {
            (*kind == "fq", false)
        }
        ["add" | "replace", "dev", "tun0", "root", "pfifo", "limit", "0"] => (false, true),
        _ => {
            let found = format!("the command \"tc qdisc {}\"", words.join(" "));
            return Err(EndError::Unsupported(found));
        }
    };
    (kernel.fq, kernel.refuses) = (paces, refuses);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(text: &str) -> Result<Kernel, EndError> {
        let mut kernel = Kernel::new(narrows_tcp::profile("linux-6.12").expect("a profile"));
        run(text, Path::new("/nonexistent"), &mut kernel).map(|()| kernel)
    }

    #[test]
    fn settings_are_read_as_the_shell_reads_them() {
        let text = "sysctl -q net.ipv4.tcp_rmem=\"4096 540000 $((15*1024*1024))\" # buffers\n\
                    sysctl -q net/ipv4/tcp_timestamps=0 > /dev/null 2>&1; tc qdisc replace dev tun0 root fq\n\
                    ./set_sysctls.py /proc/sys/net/ipv4/tcp_min_tso_segs=10 \\\n  /proc/sys/net/ipv4/tcp_ecn=1";
        let kernel = kernel(text).expect("known settings");
        let receive = kernel.profile.receive;
        assert_eq!((receive.initial_buffer, receive.max_buffer), (540_000, 15 << 20));
        assert_eq!((kernel.timestamps, kernel.fq), (false, true));
        assert_eq!(kernel.ecn.asks, narrows_tcp::EcnMode::Classic);
        assert_eq!(kernel.sysctls.min_tso_segs, Some(10));
    }

    #[test]
    fn unsupported_settings_are_named() {
        let unsupported = |text| match kernel(text) {
            Err(EndError::Unsupported(message)) => message,
            other => panic!("{other:?}"),
        };
        assert_eq!(unsupported("nstat -z"), "the command \"nstat -z\"");
        assert_eq!(unsupported("sysctl net.core.x=1"), "the setting net.core.x");
        let recovery = unsupported("sysctl net.ipv4.tcp_recovery=0");
        assert_eq!(recovery, "tcp_recovery = 0; the simulator has 1");
        assert!(matches!(kernel("./missing.sh"), Err(EndError::Failed(_))));
    }
}
