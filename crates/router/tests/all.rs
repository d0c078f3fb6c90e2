//! All tests of the router, in one program: each further program takes seconds to link.

mod couple;
mod path;
mod replay;
