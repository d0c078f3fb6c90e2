//! All tests of the sender and the receiver, in one program: each further program takes seconds to link.

mod channel;
mod runner;
mod transcripts;
