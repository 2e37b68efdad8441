//! A plan's steps, with what is sent in each and which way.

use crate::plan::{LightloomPlan, item};
use crate::pointers::{guarded, held, write};
use crate::status::{LightloomError, LightloomStatus};
use crate::views::{LightloomCircuit, LightloomPath, LightloomStep, LightloomTransfer};

/// The step of that index, below `steps` of the summary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_plan_step(
    plan: *const LightloomPlan,
    index: u32,
    step: *mut LightloomStep,
    error: *mut LightloomError,
) -> LightloomStatus {
    // SAFETY: the caller's promise.
    unsafe { guarded(error, || write("step", step, LightloomStep::of(held("plan", plan)?.step(index)?))) }
}

/// The circuits between the pair of that index of a topology, below its `circuits`; by source and destination. The
/// change from one topology to the next is the difference of the two.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_plan_circuit(
    plan: *const LightloomPlan,
    topology: u32,
    index: u64,
    circuit: *mut LightloomCircuit,
    error: *mut LightloomError,
) -> LightloomStatus {
    // SAFETY: the caller's promise.
    unsafe {
        guarded(error, || {
            let link = item("circuit", held("plan", plan)?.circuits(topology)?, index)?;
            write("circuit", circuit, LightloomCircuit::of(link))
        })
    }
}

/// The transfer of that index of a step, below its `transfers`; by source and destination.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_plan_transfer(
    plan: *const LightloomPlan,
    step: u32,
    index: u64,
    transfer: *mut LightloomTransfer,
    error: *mut LightloomError,
) -> LightloomStatus {
    // SAFETY: the caller's promise.
    unsafe {
        guarded(error, || {
            let sent = item("transfer", held("plan", plan)?.transfers(step)?, index)?;
            write("transfer", transfer, LightloomTransfer::of(sent))
        })
    }
}

/// Path number `index` of a step, less than the step's `paths`. Paths are ordered by source and destination.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_plan_path(
    plan: *const LightloomPlan,
    step: u32,
    index: u64,
    path: *mut LightloomPath,
    error: *mut LightloomError,
) -> LightloomStatus {
    // SAFETY: the caller's promise.
    unsafe {
        guarded(error, || {
            let sent = item("path", held("plan", plan)?.paths(step)?, index)?;
            write("path", path, LightloomPath::of(sent))
        })
    }
}
