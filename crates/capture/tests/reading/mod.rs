//! Captures made byte by byte, read and analysed.

mod causes;
mod flows;
mod formats;
mod fuzz;
mod make;
