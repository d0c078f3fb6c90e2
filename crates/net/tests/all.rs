//! All tests of links, queues and impairments, in one program: each program more takes seconds to link.

mod aqm;
mod contract;
