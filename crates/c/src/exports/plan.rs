//! Plans: read, written, summed up, freed.

use std::ffi::{CString, c_char};
use std::sync::Arc;

use crate::plan::LightloomPlan;
use crate::pointers::{check_place, free, give, guarded, held, text_of_length, write};
use crate::status::{LightloomError, LightloomStatus};
use crate::views::{LightloomChunk, LightloomSummary, LightloomTopology};

/// Reads a plan file's text of `length` bytes, as `lightloom plan --output` writes it, executes the plan symbolically
/// and refuses it unless all that it says is right. Free it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_plan_read(
    json: *const c_char,
    length: usize,
    plan: *mut *mut LightloomPlan,
    error: *mut LightloomError,
) -> LightloomStatus {
    // SAFETY: the caller's promise.
    unsafe {
        guarded(error, || {
            check_place("plan", plan)?;
            give("plan", plan, Arc::new(LightloomPlan::read(text_of_length("json", json, length)?)?))
        })
    }
}

/// Writes a plan as the text of a plan file, to be freed by `lightloom_text_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_plan_write(
    plan: *const LightloomPlan,
    json: *mut *mut c_char,
    error: *mut LightloomError,
) -> LightloomStatus {
    // SAFETY: the caller's promise.
    unsafe {
        guarded(error, || {
            check_place("json", json)?;
            let text = CString::new(formats::plan_to_json(held("plan", plan)?.plan())).unwrap_or_default();
            write("json", json, text.into_raw())
        })
    }
}

/// Frees text that `lightloom_plan_write` made. Null is nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: it came from `CString::into_raw`, and the caller gives it up.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// Frees a plan, and with it all that was said of it. Null is nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_plan_free(plan: *mut LightloomPlan) {
    // SAFETY: the caller's promise.
    unsafe { free(plan) }
}

/// Properties and cost of a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_plan_summary(
    plan: *const LightloomPlan,
    summary: *mut LightloomSummary,
    error: *mut LightloomError,
) -> LightloomStatus {
    // SAFETY: the caller's promise.
    unsafe { guarded(error, || write("summary", summary, LightloomSummary::of(held("plan", plan)?))) }
}

/// The topology of that index, below `topologies` of the summary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_plan_topology(
    plan: *const LightloomPlan,
    index: u32,
    topology: *mut LightloomTopology,
    error: *mut LightloomError,
) -> LightloomStatus {
    // SAFETY: the caller's promise.
    unsafe { guarded(error, || write("topology", topology, LightloomTopology::of(held("plan", plan)?, index)?)) }
}

/// The chunk of that index, below `chunks` of the summary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_plan_chunk(
    plan: *const LightloomPlan,
    index: u32,
    chunk: *mut LightloomChunk,
    error: *mut LightloomError,
) -> LightloomStatus {
    // SAFETY: the caller's promise.
    unsafe { guarded(error, || write("chunk", chunk, LightloomChunk::of(held("plan", plan)?, index)?)) }
}
