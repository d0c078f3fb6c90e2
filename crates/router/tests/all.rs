//! All tests of the router, in one program: each program more takes seconds to link.

mod couple;
mod path;
mod replay;
