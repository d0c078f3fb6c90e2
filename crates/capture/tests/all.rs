//! All tests of captures, in one program: each further program takes seconds to link.

mod reading;
mod write;
