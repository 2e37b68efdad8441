//! Fabrics, and their plans looked up or made.

use std::ffi::c_char;
use std::sync::Arc;

use model::Collective;

use crate::fabric::LightloomFabric;
use crate::plan::LightloomPlan;
use crate::pointers::{check_place, free, give, guarded, held, items, shared, text};
use crate::status::{Failure, LightloomError, LightloomStatus};
use crate::views::LightloomOption;

/// Describes a fabric and how it is planned on, as a JSON object with the names, units and defaults of the command
/// line: `{"gpus": 64, "ports": 4, "dims": "8x8", "bandwidth": "800Gbps", "reconfiguration_delay": "10us"}`. These
/// are the options of `lightloom plan`, which docs/reference/options.md lists, but for the collective, the size, the
/// fabric and files. Numbers are seconds, bit/s and bytes. The fabric keeps `most_kept` plans, the least recently used
/// going first; all where it is 0. Threads may share it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_fabric_new(
    options: *const c_char,
    most_kept: usize,
    fabric: *mut *mut LightloomFabric,
    error: *mut LightloomError,
) -> LightloomStatus {
    // SAFETY: the caller's promise.
    unsafe {
        guarded(error, || {
            check_place("fabric", fabric)?;
            give("fabric", fabric, Arc::new(LightloomFabric::new(text("options", options)?, most_kept)?))
        })
    }
}

/// As `lightloom_fabric_new`, of `count` options whose names and values are those of the command line, without a parser
/// or a writer of JSON:
/// `{{"gpus", "64"}, {"dims", "8x8"}, {"reconfiguration-delay", "10us"}, {"candidates", "ring,torus:8x8"}}`.
/// Names are the same, hyphens for underscores; yes or no is `true` or `false`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_fabric_of_options(
    options: *const LightloomOption,
    count: usize,
    most_kept: usize,
    fabric: *mut *mut LightloomFabric,
    error: *mut LightloomError,
) -> LightloomStatus {
    // SAFETY: the caller's promise.
    unsafe {
        guarded(error, || {
            check_place("fabric", fabric)?;
            let pairs = items("options", options, count)?.iter();
            let pairs = pairs.map(|option| Ok((text("options", option.name)?, text("options", option.value)?)));
            let pairs = pairs.collect::<Result<Vec<_>, Failure>>()?;
            give("fabric", fabric, Arc::new(LightloomFabric::of_pairs(&pairs, most_kept)?))
        })
    }
}

/// The plan for a collective (`all-reduce`, `reduce-scatter`, `all-gather`, `all-to-all`, `broadcast`, `reduce`,
/// `gather`, `scatter`) of `size_bytes` in one rank's whole buffer: looked up, or made and kept. One of the threads that
/// ask for the same plan makes it, on all cores, and the others wait. It has been executed symbolically and found right.
/// Free it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_fabric_plan(
    fabric: *const LightloomFabric,
    collective: *const c_char,
    size_bytes: u64,
    plan: *mut *mut LightloomPlan,
    error: *mut LightloomError,
) -> LightloomStatus {
    // SAFETY: the caller's promise.
    unsafe {
        guarded(error, || {
            check_place("plan", plan)?;
            let (fabric, collective) = (held("fabric", fabric)?, Collective::parse(text("collective", collective)?)?);
            give("plan", plan, fabric.plan(collective, size_bytes)?)
        })
    }
}

/// As `lightloom_fabric_plan`, but nothing is made: where nothing is kept, the answer is `LIGHTLOOM_STATUS_NOT_FOUND`
/// and `plan` stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_fabric_look_up(
    fabric: *const LightloomFabric,
    collective: *const c_char,
    size_bytes: u64,
    plan: *mut *mut LightloomPlan,
    error: *mut LightloomError,
) -> LightloomStatus {
    // SAFETY: the caller's promise.
    unsafe {
        guarded(error, || {
            check_place("plan", plan)?;
            let (fabric, collective) = (held("fabric", fabric)?, Collective::parse(text("collective", collective)?)?);
            give("plan", plan, fabric.look_up(collective, size_bytes).ok_or(Failure::NotFound)?)
        })
    }
}

/// Keeps a plan for this fabric, such as one that was read, for its collective and size. The caller's handle stays the
/// caller's, to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_fabric_keep(
    fabric: *const LightloomFabric,
    plan: *const LightloomPlan,
    error: *mut LightloomError,
) -> LightloomStatus {
    // SAFETY: the caller's promise.
    unsafe { guarded(error, || Ok(held("fabric", fabric)?.keep(&shared("plan", plan)?)?)) }
}

/// Frees a fabric and what it keeps. Plans that were handed out stay until they are freed. Null is nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lightloom_fabric_free(fabric: *mut LightloomFabric) {
    // SAFETY: the caller's promise.
    unsafe { free(fabric) }
}
