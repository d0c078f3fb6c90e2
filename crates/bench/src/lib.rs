//! Benchmarks of the link, the agenda and whole scenarios (`cargo bench -p narrows-bench`).
//!
//! They are a crate of their own so that no test has to compile what measures them.
