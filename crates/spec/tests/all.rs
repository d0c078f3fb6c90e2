//! All tests of specifications, in one program: each further program takes seconds to link.

mod edges;
mod reading;
