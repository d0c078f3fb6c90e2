//! Benchmarks of the link, the agenda and whole scenarios (`cargo bench -p narrows-bench`).
//!
//! They are a separate crate so that no test has to compile what measures them.
