//! Results and sizes of system calls.

/// The result of a system call: its value, or the error's number.
pub type Raw = Result<i64, i32>;

/// A result, whose error is that of this thread.
pub fn raw(result: impl Into<i64>) -> Raw {
    let value: i64 = result.into();
    if value < 0 {
        Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    } else {
        Ok(value)
    }
}

/// The length of something in the type that a system call wants.
pub fn len<T: TryFrom<usize>>(value: usize) -> T {
    T::try_from(value).unwrap_or_else(|_| panic!("{value} doesn't fit a system call"))
}

/// A length in whichever type this C library has for it.
pub fn size(value: impl TryInto<usize>) -> usize {
    value.try_into().unwrap_or_else(|_| panic!("the kernel gave a length beyond memory"))
}
