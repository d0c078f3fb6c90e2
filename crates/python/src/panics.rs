//! Panics of the engine as messages: their words and their place, in one line.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{
    AssertUnwindSafe, PanicHookInfo, catch_unwind, resume_unwind, set_hook, take_hook,
};
use std::sync::Once;

thread_local! {
    /// True while a panic of this thread prints nothing; its message carries the place.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Does `work`. If it panics, nothing is printed, and the panic that is passed on has the place of the
/// first one in its message.
pub(crate) fn locate_panic<T>(work: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(install_hook);
    let before = IS_QUIET.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    IS_QUIET.set(before);
    outcome.unwrap_or_else(|panic| resume_unwind(with_place(panic)))
}

fn install_hook() {
    let default = take_hook();
    set_hook(Box::new(move |info| if IS_QUIET.get() { note(info) } else { default(info) }));
}

fn note(info: &PanicHookInfo<'_>) {
    let place = info.location().map(|place| format!("{}:{}", place.file(), place.line()));
    PLACE.set(place);
}

fn with_place(panic: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
    let words = panic.downcast_ref::<&str>().map(|words| (*words).to_owned());
    let Some(words) = words.or_else(|| panic.downcast_ref::<String>().cloned()) else {
        return panic;
    };
    match PLACE.take() {
        Some(place) => Box::new(format!("{words} ({place})")),
        None => Box::new(words),
    }
}
