//! The table of C functions between narrows and the library of a control.
//!
//! A compiler of another version may lay out Rust's own types differently, so everything here has
//! the layout of C. A panic must not cross the border: every function catches it, keeps its
//! message, and returns false.
#![allow(unsafe_code, reason = "functions for another program's pointers")]

use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::slice;
use std::sync::Once;

use crate::control::{CongestionControl, Control};
use crate::events::{
    AckSample, CongestionEvent, DeliveredSample, LostPacket, StartEvent, UndoEvent,
};
use crate::samples::{Connection, Maybe, Unused};

/// The version of this interface; a table of another version isn't read any further.
pub const VERSION: u64 = 1;
/// The symbol of the table, as a C string.
pub const SYMBOL: &[u8] = b"NARROWS_CONTROL\0";

/// A text of the library, valid as long as the library is loaded.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// Its first byte.
    pub start: *const u8,
    /// Its bytes, which are UTF-8.
    pub length: usize,
}

impl Text {
    fn of(text: &str) -> Self {
        Self { start: text.as_ptr(), length: text.len() }
    }
}

/// The arguments of a new connection.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawConnection {
    /// Payload bytes of a full packet.
    pub mss: u32,
    /// Initial window in packets.
    pub initial_cwnd: u32,
    /// The handshake's RTT.
    pub initial_rtt_ns: Maybe<u64>,
    /// The connection's own number.
    pub seed: u64,
    /// A value for each option of the control, in their order.
    pub options: *const f64,
}

/// A control, whose type only its library knows.
pub type ControlHandle = *mut c_void;
/// Passes an event to a control and gets its output; returns false if it panicked.
pub type EventFn<T> = unsafe extern "C" fn(ControlHandle, *const T, *mut Control) -> bool;
/// Takes the visitor that `inspect` was given, and the name and value of an internal.
pub type VisitFn = unsafe extern "C" fn(*mut c_void, Text, f64);

/// The functions of a control. The version comes first in all versions.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs, reason = "named after the functions of CongestionControl")]
pub struct FunctionTable {
    pub version: u64,
    pub owns_recovery: bool,
    pub watches_packets: bool,
    pub may_request_cwr: bool,
    pub option_count: usize,
    /// The name and default of an option.
    pub option: unsafe extern "C" fn(usize, *mut f64) -> Text,
    /// The message of the last panic in this thread.
    pub panic: unsafe extern "C" fn() -> Text,
    /// Makes a control; null if it panicked.
    pub new: unsafe extern "C" fn(*const RawConnection, *mut Control) -> ControlHandle,
    pub drop: unsafe extern "C" fn(ControlHandle),
    pub on_delivered: EventFn<DeliveredSample>,
    pub on_ack: EventFn<AckSample>,
    pub on_congestion: EventFn<CongestionEvent>,
    pub on_undo: EventFn<UndoEvent>,
    pub on_start: EventFn<StartEvent>,
    pub on_lost: EventFn<LostPacket>,
    pub on_threshold: EventFn<u32>,
    pub on_unused: EventFn<Unused>,
    pub requests_cwr: unsafe extern "C" fn(ControlHandle, *mut bool) -> bool,
    pub min_tso_segs: unsafe extern "C" fn(ControlHandle, u64, *mut u32) -> bool,
    pub inspect: unsafe extern "C" fn(ControlHandle, VisitFn, *mut c_void) -> bool,
    pub state: unsafe extern "C" fn(ControlHandle, *mut Text) -> bool,
}

impl FunctionTable {
    /// The functions of the control `C`.
    #[must_use]
    pub const fn of<C: CongestionControl>() -> Self {
        Self {
            version: VERSION,
            owns_recovery: C::OWNS_RECOVERY,
            watches_packets: C::WATCHES_PACKETS,
            may_request_cwr: C::REQUESTS_CWR,
            option_count: C::OPTIONS.len(),
            option: option::<C>,
            panic,
            new: new::<C>,
            drop: drop_control::<C>,
            on_delivered: on_delivered::<C>,
            on_ack: on_ack::<C>,
            on_congestion: on_congestion::<C>,
            on_undo: on_undo::<C>,
            on_start: on_start::<C>,
            on_lost: on_lost::<C>,
            on_threshold: on_threshold::<C>,
            on_unused: on_unused::<C>,
            requests_cwr: requests_cwr::<C>,
            min_tso_segs: min_tso_segs::<C>,
            inspect: inspect::<C>,
            state: state::<C>,
        }
    }
}

thread_local! {
    /// The last panic of this thread.
    static WORDS: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps a panic's message and place for `panic` instead of printing them. The library has its own
/// standard library and so its own hook.
fn keep_words() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        set_hook(Box::new(|info| {
            let payload = info.payload();
            let said = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let said = said.or_else(|| payload.downcast_ref::<String>().cloned());
            let at = info.location().map_or_else(String::new, |place| {
                format!(" in line {} of {}", place.line(), place.file())
            });
            let words = format!("{}{at}", said.unwrap_or_default());
            WORDS.with(|kept| *kept.borrow_mut() = words);
        }));
    });
}

/// Returns what `act` returns; none if it panics.
fn catch_panic<R>(act: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(act)).ok()
}

/// Returns the message of the thread's last panic, valid until the next one.
extern "C" fn panic() -> Text {
    WORDS.with(|words| Text::of(&words.borrow()))
}

extern "C" fn option<C: CongestionControl>(index: usize, default: *mut f64) -> Text {
    let Some((name, value)) = C::OPTIONS.get(index) else { return Text::of("") };
    // SAFETY: the caller gives a place for a number.
    unsafe { *default = *value };
    Text::of(name)
}

unsafe extern "C" fn new<C: CongestionControl>(
    raw: *const RawConnection,
    output: *mut Control,
) -> ControlHandle {
    keep_words();
    let made = catch_panic(|| {
        // SAFETY: the caller gives a connection with as many values as there are options.
        let raw = unsafe { &*raw };
        let values = unsafe { slice::from_raw_parts(raw.options, C::OPTIONS.len()) };
        let options = C::OPTIONS.iter().zip(values).map(|((name, _), value)| (*name, *value));
        let connection = Connection {
            mss: raw.mss,
            initial_cwnd: raw.initial_cwnd,
            initial_rtt_ns: raw.initial_rtt_ns.get(),
            seed: raw.seed,
            options: &options.collect::<Vec<_>>(),
        };
        let control = C::new(&connection);
        // SAFETY: the caller gives a place for the output.
        unsafe { *output = control.control() };
        Box::into_raw(Box::new(control)).cast()
    });
    made.unwrap_or(std::ptr::null_mut())
}

unsafe extern "C" fn drop_control<C: CongestionControl>(state: ControlHandle) {
    // SAFETY: the caller passes what `new` returned, once, and uses it no more. A panic while it is
    // dropped has no consequences.
    let _ = catch_panic(|| drop(unsafe { Box::from_raw(state.cast::<C>()) }));
}

/// Defines functions that pass an event to a control.
macro_rules! tell {
    ($($name:ident: $sample:ty),+) => {
        $(unsafe extern "C" fn $name<C: CongestionControl>(
            state: ControlHandle,
            sample: *const $sample,
            output: *mut Control,
        ) -> bool {
            // SAFETY: the caller passes what `new` returned, which nobody else uses meanwhile, a
            // sample, and a place for the output.
            catch_panic(|| unsafe {
                let control = &mut *state.cast::<C>();
                control.$name(&*sample);
                *output = control.control();
            })
            .is_some()
        })+
    };
}

tell! {
    on_delivered: DeliveredSample, on_ack: AckSample, on_congestion: CongestionEvent,
    on_undo: UndoEvent, on_start: StartEvent, on_lost: LostPacket, on_unused: Unused
}

unsafe extern "C" fn on_threshold<C: CongestionControl>(
    state: ControlHandle,
    ssthresh: *const u32,
    output: *mut Control,
) -> bool {
    // SAFETY: as for the functions above.
    catch_panic(|| unsafe {
        let control = &mut *state.cast::<C>();
        control.on_threshold(*ssthresh);
        *output = control.control();
    })
    .is_some()
}

unsafe extern "C" fn requests_cwr<C: CongestionControl>(
    state: ControlHandle,
    asks: *mut bool,
) -> bool {
    // SAFETY: the caller passes what `new` returned, and a place for the answer.
    catch_panic(|| unsafe { *asks = (*state.cast::<C>()).requests_cwr() }).is_some()
}

unsafe extern "C" fn min_tso_segs<C: CongestionControl>(
    state: ControlHandle,
    rate_bps: u64,
    packets: *mut u32,
) -> bool {
    // SAFETY: as for `requests_cwr`.
    catch_panic(|| unsafe { *packets = (*state.cast::<C>()).min_tso_segs(rate_bps) }).is_some()
}

unsafe extern "C" fn inspect<C: CongestionControl>(
    state: ControlHandle,
    visit: VisitFn,
    visitor: *mut c_void,
) -> bool {
    // SAFETY: the caller passes what `new` returned, and a function with its first argument.
    catch_panic(|| unsafe {
        (*state.cast::<C>()).inspect(&mut |name, value| visit(visitor, Text::of(name), value));
    })
    .is_some()
}

unsafe extern "C" fn state<C: CongestionControl>(state: ControlHandle, name: *mut Text) -> bool {
    // SAFETY: as for `requests_cwr`.
    catch_panic(|| unsafe { *name = Text::of((*state.cast::<C>()).state()) }).is_some()
}
