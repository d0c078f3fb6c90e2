//! The functions called by JavaScript.

#![allow(unsafe_code, reason = "exported names; no pointer is followed here")]

use std::cell::RefCell;

use crate::capture;

thread_local! {
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Returns the address for a request of this length.
#[unsafe(no_mangle)]
pub extern "C" fn text(length: usize) -> *mut u8 {
    TEXT.with_borrow_mut(|text| {
        *text = vec![0; length];
        text.as_mut_ptr()
    })
}

/// Answers the request; returns the length of the answer in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn call() -> usize {
    let said = TEXT.with_borrow(|text| crate::request::answer(&String::from_utf8_lossy(text)));
    ANSWER.with_borrow_mut(|answer| {
        *answer = said;
        answer.len()
    })
}

/// The address of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}

/// The address of the capture of the last run that made one.
#[unsafe(no_mangle)]
pub extern "C" fn file() -> *const u8 {
    capture::file_address()
}
