//! Captures made byte by byte, read and analysed.

mod flows;
mod formats;
mod fuzz;
mod make;
