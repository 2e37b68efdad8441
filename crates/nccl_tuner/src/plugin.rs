//! The plugin as NCCL sees it: a table of three functions under a name that it looks up.
//!
//! NCCL promises that pointers lead to what its header says for as long as a call lasts, and that a context is one that
//! `init` gave and `finalize` did not take back yet. A plugin that fails is asked no more: NCCL tunes by itself.
#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_int, c_ulong, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::choice::choose;
use crate::names::{ALGORITHMS, PROTOCOLS};
use crate::table::{Row, Table};

/// `ncclResult_t`: success, a fault inside, and arguments that make no sense.
const SUCCESS: c_int = 0;
const INTERNAL: c_int = 3;
const INVALID: c_int = 4;
/// `ncclDebugLogLevel` and `ncclDebugLogSubSys`: warnings, information, and what is about tuning.
const WARN: c_int = 2;
const INFO: c_int = 3;
const TUNING: c_ulong = 64;

type Logger = unsafe extern "C" fn(c_int, c_ulong, *const c_char, c_int, *const c_char, ...);
type Init =
    unsafe extern "C" fn(*mut *mut c_void, u64, usize, usize, Option<Logger>, *mut c_void, *mut c_void) -> c_int;
type GetCollInfo =
    unsafe extern "C" fn(*mut c_void, c_int, usize, c_int, *mut *mut f32, c_int, c_int, c_int, *mut c_int) -> c_int;
type Finalize = unsafe extern "C" fn(*mut c_void) -> c_int;

/// `ncclTuner_v5_t`.
#[repr(C)]
pub struct Tuner {
    name: *const c_char,
    init: Init,
    get_coll_info: GetCollInfo,
    finalize: Finalize,
}

// SAFETY: nobody writes to it, and its name is a constant.
unsafe impl Sync for Tuner {}

/// The symbol that NCCL looks up.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "NCCL's name for it")]
pub static ncclTunerPlugin_v5: Tuner = Tuner { name: c"Lightloom".as_ptr(), init, get_coll_info, finalize };

/// What is known of a communicator: its ranks, and the rows of the topology that is up.
struct Context {
    ranks: u64,
    rows: Vec<Row>,
}

unsafe extern "C" fn init(
    context: *mut *mut c_void,
    _communicator: u64,
    ranks: usize,
    _nodes: usize,
    logger: Option<Logger>,
    _domains: *mut c_void,
    _constants: *mut c_void,
) -> c_int {
    if context.is_null() {
        return INVALID;
    }
    let (level, words, status, made) = match catch_unwind(rows) {
        Ok(Ok(rows)) => {
            let words = format!("Lightloom: {} times for topology {}", rows.len(), rows[0].topology);
            let made = Box::new(Context { ranks: ranks as u64, rows });
            (INFO, words, SUCCESS, Some(made))
        }
        Ok(Err(words)) => (WARN, format!("Lightloom: {words}"), INVALID, None),
        Err(_) => (WARN, "Lightloom: a fault of the tuner, please report it".into(), INTERNAL, None),
    };
    if let (Some(logger), Ok(words)) = (logger, CString::new(words)) {
        // SAFETY: NCCL's function takes these; the format takes one text.
        unsafe { logger(level, TUNING, c"lightloom".as_ptr(), 0, c"%s".as_ptr(), words.as_ptr()) };
    }
    if let Some(made) = made {
        // SAFETY: it is not null, so there is room for a pointer.
        unsafe { context.write(Box::into_raw(made).cast()) };
    }
    status
}

/// The rows that the environment asks for.
fn rows() -> Result<Vec<Row>, String> {
    let path = std::env::var_os("LIGHTLOOM_TUNER_TABLE").ok_or("LIGHTLOOM_TUNER_TABLE: missing; it names the table")?;
    let named =
        |what: &dyn std::fmt::Display| format!("LIGHTLOOM_TUNER_TABLE: `{}`: {what}", Path::new(&path).display());
    let text = std::fs::read_to_string(&path).map_err(|error| named(&error))?;
    let topology = std::env::var("LIGHTLOOM_TUNER_TOPOLOGY").ok();
    Table::parse(&text).and_then(|table| table.on(topology.as_deref())).map_err(|error| named(&error))
}

unsafe extern "C" fn get_coll_info(
    context: *mut c_void,
    collective: c_int,
    bytes: usize,
    _operations: c_int,
    costs: *mut *mut f32,
    algorithms: c_int,
    protocols: c_int,
    _registered: c_int,
    channels: *mut c_int,
) -> c_int {
    let (Ok(collective), Ok(algorithms), Ok(protocols)) =
        (usize::try_from(collective), usize::try_from(algorithms), usize::try_from(protocols))
    else {
        return INVALID;
    };
    if context.is_null() || costs.is_null() || channels.is_null() {
        return INVALID;
    }
    // SAFETY: it is not null, so it is a context that `init` gave; nothing changes it.
    let known = unsafe { &*context.cast::<Context>() };
    // NCCL's type is a pointer to pointers; it leads to `algorithms` rows of `protocols` numbers, one behind the other.
    let costs = costs.cast::<f32>();
    let choice = catch_unwind(AssertUnwindSafe(|| {
        // NCCL may know algorithms and protocols that this table has no name for; their numbers come after the others.
        let (most_algorithms, most_protocols) = (algorithms.min(ALGORITHMS.len()), protocols.min(PROTOCOLS.len()));
        choose(&known.rows, collective, known.ranks, bytes as u64, most_protocols, |algorithm, protocol| {
            let is_there = algorithm < most_algorithms && protocol < most_protocols;
            // SAFETY: within the numbers that NCCL says are there.
            let time_us = is_there.then(|| unsafe { costs.add(algorithm * protocols + protocol).read() });
            // NCCL writes -1 where it cannot do these.
            time_us.filter(|&time_us| time_us >= 0.0)
        })
    }));
    let Ok(choice) = choice else { return INTERNAL };
    if let Some(choice) = choice {
        // SAFETY: as above; NCCL takes the least time.
        unsafe { costs.add(choice.algorithm * protocols + choice.protocol).write(0.0) };
        if let Some(wanted) = c_int::try_from(choice.channels).ok().filter(|&wanted| wanted > 0) {
            // SAFETY: it is not null, so there is room for a number.
            unsafe { channels.write(wanted) };
        }
    }
    SUCCESS
}

unsafe extern "C" fn finalize(context: *mut c_void) -> c_int {
    if !context.is_null() {
        // SAFETY: it came from `Box::into_raw` in `init`, and NCCL uses it no more.
        drop(unsafe { Box::from_raw(context.cast::<Context>()) });
    }
    SUCCESS
}
