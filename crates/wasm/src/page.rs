//! The page's functions.

#[cfg(target_arch = "wasm32")]
pub(crate) use here::{progress, tell};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use nowhere::{progress, tell};

#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code, reason = "JavaScript can only be called so")]
mod here {
    mod page {
        #[link(wasm_import_module = "page")]
        unsafe extern "C" {
            pub(super) fn control(
                connection: u32,
                event: u32,
                fields: *const f64,
                answer: *mut f64,
            );
            pub(super) safe fn progress(part: f64);
        }
    }

    /// Passes an event to the page's control of a connection; returns its window and rate, and a
    /// bit for each event for which it has a method.
    pub(crate) fn tell(connection: u32, event: u32, fields: &[f64]) -> [f64; 3] {
        let mut answer = [f64::NAN; 3];
        // SAFETY: JavaScript reads as many numbers as EVENTS names, and writes three.
        unsafe { page::control(connection, event, fields.as_ptr(), answer.as_mut_ptr()) };
        answer
    }

    /// Reports the part of the run that is done, from 0 to 1.
    pub(crate) fn progress(part: f64) {
        page::progress(part);
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod nowhere {
    /// Outside a page there is no such control: this one keeps ten packets in flight.
    pub(crate) fn tell(_connection: u32, _event: u32, _fields: &[f64]) -> [f64; 3] {
        [10.0, f64::NAN, 0.0]
    }

    /// Outside a page nobody waits.
    pub(crate) fn progress(_part: f64) {}
}
