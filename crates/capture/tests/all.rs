//! All tests of captures, in one program: each program more takes seconds to link.

mod reading;
mod write;
