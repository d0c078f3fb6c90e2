//! All tests of links, queues and impairments, in one program: each further program takes seconds to link.

mod aqm;
mod contract;
