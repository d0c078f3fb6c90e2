//! Takes values out of a call's arguments.

use narrows_packetdrill::{Argument, Call, CallValue, EndError};

use super::context::Context;
use crate::symbols;
use crate::sys::{Buffer, Fd, Sockaddr};

/// The arguments of a call, with the context that they refer to.
pub struct Arguments<'a> {
    pub call: &'a Call,
    pub context: &'a Context,
}

impl Arguments<'_> {
    /// Fails unless the call has `wanted` arguments.
    pub fn count(&self, wanted: usize) -> Result<(), EndError> {
        let found = self.call.arguments.len();
        if found == wanted {
            return Ok(());
        }
        let name = &self.call.name;
        Err(EndError::Failed(format!("{name}: found {found} arguments; {wanted} are needed")))
    }

    pub fn at(&self, place: usize) -> Result<&Argument, EndError> {
        self.call.arguments.get(place).ok_or_else(|| {
            EndError::Failed(format!("{}: argument {} is missing", self.call.name, place + 1))
        })
    }

    pub fn refuse(&self, argument: &Argument, needed: &str) -> EndError {
        let found = describe(&argument.value);
        let (name, at) = (&self.call.name, argument.at);
        EndError::Failed(format!("{name}: {at}: found {found}; {needed} is needed"))
    }

    /// The value of a number, or of constants joined by `|`.
    pub fn value(&self, argument: &Argument) -> Result<i64, EndError> {
        match &argument.value {
            CallValue::Integer(value) => Ok(*value),
            CallValue::Word(name) => symbols::value(name).ok_or_else(|| {
                EndError::Unsupported(format!("{}: the constant {name}", self.call.name))
            }),
            CallValue::Or(parts) => {
                parts.iter().try_fold(0, |all, part| Ok(all | self.value(part)?))
            }
            _ => Err(self.refuse(argument, "a number or constants")),
        }
    }

    pub fn int(&self, place: usize) -> Result<i32, EndError> {
        let argument = self.at(place)?;
        // Scripts also give values of unsigned types.
        let value = self.value(argument)?;
        i32::try_from(value)
            .or_else(|_| u32::try_from(value).map(u32::cast_signed))
            .map_err(|_| self.refuse(argument, "a number of 32 bits"))
    }

    pub fn size(&self, place: usize) -> Result<usize, EndError> {
        let argument = self.at(place)?;
        usize::try_from(self.value(argument)?).map_err(|_| self.refuse(argument, "a size"))
    }

    /// The open descriptor that a descriptor of the script stands for.
    pub fn fd(&self, place: usize) -> Result<Fd, EndError> {
        let argument = self.at(place)?;
        let script = self.value(argument)?;
        self.live(script).ok_or_else(|| {
            let known: Vec<_> = self.context.fds.keys().map(ToString::to_string).collect();
            self.refuse(argument, &format!("an open descriptor (of {})", known.join(", ")))
        })
    }

    pub fn live(&self, script: i64) -> Option<Fd> {
        self.context.fds.get(&script).copied()
    }

    /// The call's result, a descriptor of the script.
    pub fn result(&self) -> i64 {
        self.call.result.value.unwrap_or(-1)
    }

    /// Accepts only "...", which leaves the value open.
    pub fn ellipsis(&self, place: usize) -> Result<(), EndError> {
        let argument = self.at(place)?;
        match argument.value {
            CallValue::Ellipsis => Ok(()),
            _ => Err(self.refuse(argument, "\"...\"")),
        }
    }

    /// The values between brackets.
    pub fn list<'a>(&self, argument: &'a Argument) -> Result<&'a [Argument], EndError> {
        match &argument.value {
            CallValue::List(values) => Ok(values),
            _ => Err(self.refuse(argument, "values in [ ]")),
        }
    }

    /// The only number between brackets.
    pub fn number_in_list(&self, place: usize) -> Result<i64, EndError> {
        let argument = self.at(place)?;
        match self.list(argument)? {
            [only] => self.value(only),
            _ => Err(self.refuse(argument, "one number in [ ]")),
        }
    }

    /// A member of a structure.
    pub fn member<'a>(&self, of: &'a Argument, name: &str) -> Result<&'a Argument, EndError> {
        of.member(name).ok_or_else(|| self.refuse(of, &format!("a structure with {name}")))
    }

    /// A buffer of `bytes` zeros for "...", or none for NULL.
    pub fn buffer(&self, argument: &Argument, bytes: usize) -> Result<Buffer, EndError> {
        match &argument.value {
            CallValue::Ellipsis => Ok(Buffer::zeros(bytes)),
            CallValue::Word(name) if name == "NULL" => Ok(Buffer::null()),
            _ => Err(self.refuse(argument, "\"...\" or NULL")),
        }
    }

    /// The peer's address for "...", otherwise an address of the given family.
    pub fn remote(&self, place: usize) -> Result<Sockaddr, EndError> {
        let argument = self.at(place)?;
        match argument.value {
            CallValue::Ellipsis => Ok(Sockaddr::new(self.context.remote)),
            _ => {
                let family = u16::try_from(self.value(argument)?);
                let family = family.map_err(|_| self.refuse(argument, "\"...\" or a family"))?;
                Ok(Sockaddr::of_family(family))
            }
        }
    }

    /// The bytes of a text, in which `\x` and two hexadecimal digits stand for one byte.
    pub fn bytes(&self, argument: &Argument, text: &str) -> Result<Vec<u8>, EndError> {
        let mut found = Vec::new();
        let mut rest = text.as_bytes();
        while let Some((&byte, after)) = rest.split_first() {
            if byte != b'\\' {
                found.push(byte);
                rest = after;
                continue;
            }
            let digits = after.get(1..3).and_then(|digits| std::str::from_utf8(digits).ok());
            let value = digits
                .filter(|_| after[0] == b'x')
                .and_then(|digits| u8::from_str_radix(digits, 16).ok())
                .ok_or_else(|| self.refuse(argument, "\\x and two hexadecimal digits"))?;
            found.push(value);
            rest = &after[3..];
        }
        Ok(found)
    }
}

fn describe(value: &CallValue) -> String {
    match value {
        CallValue::Ellipsis => "\"...\"".to_owned(),
        CallValue::Integer(value) => format!("\"{value}\""),
        CallValue::Word(word) => format!("\"{word}\""),
        CallValue::Text(text) => format!("the text \"{text}\""),
        CallValue::Or(_) => "constants".to_owned(),
        CallValue::List(_) => "values in [ ]".to_owned(),
        CallValue::Members(_) => "a structure".to_owned(),
        CallValue::Apply(name, _) => format!("\"{name}(...)\""),
    }
}
