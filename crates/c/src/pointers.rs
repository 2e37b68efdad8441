//! Operations that only unsafe code can do: reading and writing through a caller's pointers, and keeping panics in.
//!
//! A caller promises, as the header says, that a pointer is null, or leads to what its type says for as long as the
//! call lasts; that text ends with a zero; and that a handle came from this library and was not freed.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use model::Error;

use crate::status::{Failure, LightloomError, LightloomStatus};

/// Runs a call: what it answers, and what it panics with, becomes a status and, where the caller wants it, an error.
///
/// # Safety
/// As the module says of `error`.
pub unsafe fn guarded(error: *mut LightloomError, call: impl FnOnce() -> Result<(), Failure>) -> LightloomStatus {
    // A value that a panic leaves half done is dropped with it: plans are put under their keys whole.
    let failed = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => return LightloomStatus::Done,
        Ok(Err(failure)) => failure,
        Err(panic) => Failure::of_panic(panic.as_ref()),
    };
    if !error.is_null() {
        // SAFETY: it is not null, so it leads to an error.
        unsafe { error.write(failed.error()) };
    }
    failed.status()
}

/// The text at a pointer.
///
/// # Errors
/// No text, or one that is not UTF-8.
///
/// # Safety
/// As the module says.
pub unsafe fn text<'a>(field: &str, text: *const c_char) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(nothing(field));
    }
    // SAFETY: it is not null, so it leads to text that ends with a zero.
    let text = unsafe { CStr::from_ptr(text) };
    Ok(text.to_str().map_err(|_| Error::malformed(field, "it is not text in UTF-8"))?)
}

/// The text of this many bytes at a pointer.
///
/// # Errors
/// As for [`text`].
///
/// # Safety
/// As the module says, the pointer leading to this many bytes.
pub unsafe fn text_of_length<'a>(field: &str, bytes: *const c_char, length: usize) -> Result<&'a str, Failure> {
    if bytes.is_null() || isize::try_from(length).is_err() {
        return Err(nothing(field));
    }
    // SAFETY: it is not null, so it leads to this many bytes, which are no more than an object can have.
    let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) };
    Ok(std::str::from_utf8(bytes).map_err(|_| Error::malformed(field, "it is not text in UTF-8"))?)
}

/// The `count` items at a pointer, which may be null where `count` is 0.
///
/// # Errors
/// No items where there should be some, or more than there can be.
///
/// # Safety
/// As the module says, the pointer leading to this many items.
pub unsafe fn items<'a, T>(field: &str, items: *const T, count: usize) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    let is_possible = count.checked_mul(size_of::<T>()).is_some_and(|bytes| isize::try_from(bytes).is_ok());
    if items.is_null() || !is_possible {
        return Err(nothing(field));
    }
    // SAFETY: it is not null, so it leads to this many items, which are no more than an object can have.
    Ok(unsafe { std::slice::from_raw_parts(items, count) })
}

/// The object that a handle stands for.
///
/// # Errors
/// No handle.
///
/// # Safety
/// As the module says.
pub unsafe fn held<'a, T>(field: &str, handle: *const T) -> Result<&'a T, Failure> {
    // SAFETY: where it is not null it is a handle that was not freed, and nothing changes what handles stand for.
    unsafe { handle.as_ref() }.ok_or_else(|| nothing(field))
}

/// One more reference to what a handle stands for.
///
/// # Errors
/// No handle.
///
/// # Safety
/// As the module says, of a handle that [`give`] made.
pub unsafe fn shared<T>(field: &str, handle: *const T) -> Result<Arc<T>, Failure> {
    if handle.is_null() {
        return Err(nothing(field));
    }
    // SAFETY: it came from `Arc::into_raw`, whose reference is the caller's still.
    unsafe {
        Arc::increment_strong_count(handle);
        Ok(Arc::from_raw(handle))
    }
}

/// Refuses a call that has no place for its result, before anything is made.
///
/// # Errors
/// A null pointer.
pub fn check_place<T>(field: &str, place: *mut T) -> Result<(), Failure> {
    if place.is_null() { Err(nothing(field)) } else { Ok(()) }
}

/// Writes a result where the caller wants it.
///
/// # Errors
/// No place for it.
///
/// # Safety
/// As the module says; what was there is not read.
pub unsafe fn write<T>(field: &str, place: *mut T, value: T) -> Result<(), Failure> {
    check_place(field, place)?;
    // SAFETY: it is not null, so there is room for a `T`.
    unsafe { place.write(value) };
    Ok(())
}

/// Hands a handle out, which [`free`] takes back.
///
/// # Errors
/// No place for it.
///
/// # Safety
/// As for [`write`].
pub unsafe fn give<T>(field: &str, place: *mut *mut T, value: Arc<T>) -> Result<(), Failure> {
    check_place(field, place)?;
    // SAFETY: as for `write`.
    unsafe { place.write(Arc::into_raw(value).cast_mut()) };
    Ok(())
}

/// Takes a handle back, unless it is null.
///
/// # Safety
/// As the module says; the caller uses the handle no more.
pub unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: it came from `Arc::into_raw`, and the caller gives its reference up.
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(unsafe { Arc::from_raw(handle.cast_const()) })));
        debug_assert!(dropped.is_ok(), "nothing that handles stand for panics when it is dropped");
    }
}

fn nothing(field: &str) -> Failure {
    Failure::Core(Error::value(field, "a null pointer", "a pointer that is not null"))
}
