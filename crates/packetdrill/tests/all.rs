//! Tests of the interpreter.

mod language;
mod mistakes;
mod play;
