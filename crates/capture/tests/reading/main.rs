//! Captures made byte by byte, read and analysed.

#![allow(missing_docs)]

mod flows;
mod formats;
mod fuzz;
mod make;
