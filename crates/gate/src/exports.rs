//! The functions of the library for C. Each function checks its arguments and calls safe code.
//!
//! A caller promises, as the header says, that a pointer is null, or leads to what its type says for as long as the call
//! lasts; that text ends with a zero; and that a gate came from this library and was not closed.
#![allow(unsafe_code, clippy::missing_safety_doc, reason = "the header's first lines say what callers promise")]

use std::ffi::{CStr, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::rank::Rank;
use crate::status::LightloomGateStatus;

/// A gate that a rank has open.
pub struct LightloomGate(Rank);

/// Opens the gate at a path for a rank, from 0, waiting up to `timeout_ns` for its controller; `*gate` is the gate.
///
/// WRONG_INPUT: a null pointer, a file that is no gate, a rank that it does not have, or that was opened before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_gate_open(
    path: *const c_char,
    rank: u32,
    timeout_ns: u64,
    gate: *mut *mut LightloomGate,
) -> LightloomGateStatus {
    if path.is_null() || gate.is_null() {
        return LightloomGateStatus::WrongInput;
    }
    // SAFETY: it is not null, so it leads to text that ends with a zero.
    let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
    guarded(|| {
        let opened = Box::new(LightloomGate(Rank::open(path, rank, timeout_ns)?));
        // SAFETY: it is not null, so there is room for a pointer.
        unsafe { gate.write(Box::into_raw(opened)) };
        Ok(())
    })
}

/// Returns when the circuits of a step are up; any other status says why they are not.
///
/// The controller's end is noticed within 50 ms.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_gate_wait_for(
    gate: *const LightloomGate,
    step: u64,
    timeout_ns: u64,
) -> LightloomGateStatus {
    // SAFETY: it is null, or a gate that is open.
    of(unsafe { gate.as_ref() }, |rank| rank.wait_for(step, timeout_ns))
}

/// Says that this rank has sent and received all of a step, and of all steps before it: its circuits may go.
///
/// WRONG_INPUT: a step whose circuits have not been up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_gate_done(gate: *const LightloomGate, step: u64) -> LightloomGateStatus {
    // SAFETY: it is null, or a gate that is open.
    of(unsafe { gate.as_ref() }, |rank| rank.done(step))
}

/// The steps of one run of the plan; 0 for a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_gate_steps(gate: *const LightloomGate) -> u32 {
    // SAFETY: it is null, or a gate that is open.
    unsafe { gate.as_ref() }.map_or(0, |gate| gate.0.steps())
}

/// The rank that was lost, after RANK_LOST; UINT32_MAX where none was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_gate_lost_rank(gate: *const LightloomGate) -> u32 {
    // SAFETY: it is null, or a gate that is open.
    unsafe { gate.as_ref() }.and_then(|gate| gate.0.lost()).unwrap_or(u32::MAX)
}

/// Closes a gate, unless it is null: the controller learns that this rank has left.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_gate_close(gate: *mut LightloomGate) {
    if !gate.is_null() {
        // SAFETY: it came from `Box::into_raw`, and the caller uses it no more.
        drop(unsafe { Box::from_raw(gate) });
    }
}

/// A `LightloomGateStatus` in words, in English; it is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn lightloom_gate_words(status: i32) -> *const c_char {
    let known = LightloomGateStatus::ALL.into_iter().find(|&one| one as i32 == status);
    known.map_or(c"no status of a gate", LightloomGateStatus::words).as_ptr()
}

fn of(
    gate: Option<&LightloomGate>,
    call: impl FnOnce(&Rank) -> Result<(), LightloomGateStatus>,
) -> LightloomGateStatus {
    gate.map_or(LightloomGateStatus::WrongInput, |gate| guarded(|| call(&gate.0)))
}

fn guarded(call: impl FnOnce() -> Result<(), LightloomGateStatus>) -> LightloomGateStatus {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => LightloomGateStatus::Done,
        Ok(Err(status)) => status,
        Err(_) => LightloomGateStatus::Failed,
    }
}
