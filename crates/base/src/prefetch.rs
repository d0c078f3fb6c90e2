//! Memory that will be needed soon.

/// Size of a line of the processor's caches.
const LINE: usize = 64;

/// Begins to load a value into the processor's caches, without waiting for it. That is a hint: it
/// changes nothing but time, and does nothing where the processor has no such instruction.
#[inline]
pub fn prefetch<T: ?Sized>(value: &T) {
    let start = std::ptr::from_ref(value).cast::<u8>();
    let size = size_of_val(value);
    for line in 0..size.div_ceil(LINE) {
        hint(start.wrapping_add(line * LINE));
    }
    // A value needn't begin with a line, and then ends in one more.
    hint(start.wrapping_add(size.saturating_sub(1)));
}

/// Begins to load the line in which a value starts, or will start.
#[inline]
pub fn prefetch_start<T>(value: *const T) {
    hint(value.cast());
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[expect(unsafe_code, reason = "the hint takes a pointer")]
fn hint(line: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 processor has it, and it follows no pointer.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn hint(_: *const u8) {}
