//! Work on all cores without the interpreter's lock, in a forked process too.
//!
//! A fork copies one thread. The work that the others had begun is never finished: rayon's pool would wait for ever,
//! and so would code that wants a lock that one of them held. Everything that uses either is therefore run from here.
//! All of this is read and written under the interpreter's lock, which the thread that forks holds.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use interruption::on_pool;
use model::{Error, Result};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::input_error::CoreResult;
use crate::interrupts::interruptible;

/// Whether this process, or the one that it was forked from, has used rayon's own pool.
static USED: AtomicBool = AtomicBool::new(false);
/// Whether the threads of that pool are in another process.
static FORKED: AtomicBool = AtomicBool::new(false);
/// Calls that are running.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
/// Whether calls were running when this process was forked.
static CUT_OFF: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The pool of a thread of Python that has a limit; it runs one call at a time, of that thread only.
    static OWN: RefCell<Option<Own>> = const { RefCell::new(None) };
}

/// A pool, and the process that its threads are in.
#[derive(Clone)]
struct Own {
    pool: Rc<ThreadPool>,
    process: u32,
}

impl Own {
    fn of(threads: usize) -> Result<Self> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(no_threads)?;
        Ok(Self { pool: Rc::new(pool), process: std::process::id() })
    }
}

/// The pool of this thread, if it has a limit; its threads are started anew in a process that was forked.
fn own() -> Result<Option<Rc<ThreadPool>>> {
    let Some(own) = OWN.with_borrow(Clone::clone) else { return Ok(None) };
    if own.process == std::process::id() {
        return Ok(Some(own.pool));
    }
    let anew = Own::of(own.pool.current_num_threads())?;
    let pool = anew.pool.clone();
    // Ending the former would wait for threads that are not here.
    std::mem::forget(OWN.replace(Some(anew)));
    std::mem::forget(own);
    Ok(Some(pool))
}

/// Guard of a running call: the call counts as running until this value is dropped.
struct Running;

impl Running {
    fn begin() -> Self {
        RUNNING.fetch_add(1, SeqCst);
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, SeqCst);
    }
}

/// Runs `work` on all cores, or on as many threads as the thread that calls was given: on rayon's pool, or, in a
/// process that was forked after that was used, on threads that are started for this call. A pool of the process's own
/// would let calls wait for each other's locks: they run on its threads, which take up another call where they would
/// wait.
///
/// # Errors
/// The errors of `work`, and of [`interruptible`]; a process that was forked while other threads were at work, where
/// threads cannot be started.
pub fn on_all_cores<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> CoreResult<T> {
    if CUT_OFF.load(SeqCst) {
        let reason = "it was forked while another of its threads was planning, whose locks stay taken; fork when \
                      no thread plans, or start processes by spawn";
        return Err(Error::infeasible("process", reason).into());
    }
    let _running = Running::begin();
    if let Some(pool) = own()? {
        let pool: &ThreadPool = &pool;
        return Ok(interruptible(py, || on_pool(pool, work))??);
    }
    if FORKED.load(SeqCst) {
        let pool = lightloom::all_cores().build().map_err(no_threads)?;
        return Ok(interruptible(py, || on_pool(&pool, work))??);
    }
    USED.store(true, SeqCst);
    lightloom::bound_threads();
    Ok(interruptible(py, work)??)
}

fn no_threads(error: rayon::ThreadPoolBuildError) -> Error {
    Error::infeasible("process", format!("it cannot start threads: {error}"))
}

/// From now on, calls of the thread that calls this run on `threads` threads, at least one.
///
/// # Errors
/// Threads cannot be started.
#[pyfunction]
pub fn limit_threads(threads: usize) -> CoreResult<()> {
    OWN.set(Some(Own::of(threads.max(1))?));
    Ok(())
}

/// The hook that Python calls in the child of a fork, before anything else.
#[pyfunction]
fn forked() {
    if USED.load(SeqCst) {
        FORKED.store(true, SeqCst);
    }
    if RUNNING.swap(0, SeqCst) > 0 {
        CUT_OFF.store(true, SeqCst);
    }
}

/// Registers a callback for forks with Python, on platforms that can fork.
///
/// # Errors
/// The errors of Python.
pub fn watch_forks(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let os = module.py().import("os")?;
    if os.hasattr("register_at_fork")? {
        let settings = pyo3::types::PyDict::new(module.py());
        settings.set_item("after_in_child", wrap_pyfunction!(forked, module)?)?;
        os.call_method("register_at_fork", (), Some(&settings))?;
    }
    Ok(())
}
