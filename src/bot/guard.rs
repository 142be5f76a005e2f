//! Keeps a panic in one game from reaching the others, and from the user's terminal.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// What the panic said that was caught in this thread; `None` where panics are not kept.
    static KEPT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Calls `call`. If it panics, returns what the panic said, and where it was; nothing of it is printed.
///
/// # Errors
/// What the panic said.
pub(crate) fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    keep_panics();
    // One call may stand within another.
    let before = KEPT.replace(Some(String::new()));
    // What the call has half done is dropped by the caller.
    let result = catch_unwind(AssertUnwindSafe(call));
    let said = KEPT.replace(before).unwrap_or_default();
    result.map_err(|payload| {
        if said.is_empty() {
            words(&*payload).to_owned()
        } else {
            said
        }
    })
}

/// Has the panics of guarded calls kept, and all others told as before.
fn keep_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            let place = info.location().map(ToString::to_string);
            let said = format!(
                "{} at {}",
                words(info.payload()),
                place.as_deref().unwrap_or("an unknown place")
            );
            let kept = KEPT.with_borrow_mut(|kept| kept.as_mut().map(|kept| *kept = said));
            if kept.is_none() {
                before(info);
            }
        }));
    });
}

fn words(payload: &(dyn Any + Send)) -> &str {
    match (
        payload.downcast_ref::<&str>(),
        payload.downcast_ref::<String>(),
    ) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        (None, None) => "no words",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_kept_with_its_place() {
        assert_eq!(guarded(|| 7), Ok(7));
        let said = guarded(|| panic!("no {}", "move")).expect_err("it panics");
        assert!(said.starts_with("no move at "), "{said}");
        assert!(said.contains("guard.rs:"), "{said}");
        let said = guarded(|| panic!("plain")).expect_err("it panics");
        assert!(said.starts_with("plain at "), "{said}");
        assert_eq!(guarded(|| 8), Ok(8), "and the next call is as ever");
        let outer: Result<(), String> = guarded(|| {
            let inner: Result<(), String> = guarded(|| panic!("inner"));
            assert!(inner.is_err_and(|said| said.starts_with("inner at ")));
            panic!("outer")
        });
        let said = outer.expect_err("it panics");
        assert!(said.starts_with("outer at "), "{said}");
    }
}
