//! All tests of specifications, in one program: each program more takes seconds to link.

mod edges;
mod reading;
