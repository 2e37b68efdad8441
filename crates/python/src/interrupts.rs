//! Calls that end when an interrupt comes, or when a thread of Python tells them to.
//!
//! Signals are for Python's main thread, and its handlers say what one means: a call of that thread asks them again and
//! again, and raises what they raise. Calls of other threads end by the [`PyInterruption`] that these threads heed.

use std::cell::RefCell;
use std::time::Duration;

use interruption::{Token, Watch, within};
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;

use crate::input_error::{CoreError, CoreResult};

/// Time between two looks for signals, half of the time in which an interrupt must take effect.
const EVERY: Duration = Duration::from_millis(50);

thread_local! {
    /// The token that calls of this thread heed, if it is not theirs only.
    static HEEDED: RefCell<Option<Token>> = const { RefCell::new(None) };
    /// The exception that a signal's handler raised during a call of this thread.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Tells the calls of threads that heed it to end. It is itself told to end by the interruption that its maker's thread
/// heeds.
#[pyclass(name = "Interruption", module = "lightloom._core", frozen)]
pub struct PyInterruption(Token);

#[pymethods]
impl PyInterruption {
    #[new]
    fn new() -> Self {
        Self(own_token())
    }

    fn interrupt(&self) {
        self.0.interrupt();
    }

    fn check(&self) -> CoreResult<()> {
        if self.0.is_set() { Err(CoreError::Stopped) } else { Ok(()) }
    }
}

/// A token that is set with what this thread heeds.
fn own_token() -> Token {
    HEEDED.with_borrow(|heeded| heeded.as_ref().map(Token::child)).unwrap_or_default()
}

/// From now on, calls of the thread that calls this heed `interruption`.
#[pyfunction]
pub fn heed(interruption: &PyInterruption) {
    HEEDED.set(Some(interruption.0.clone()));
}

/// Runs `work` without the interpreter's lock until it is done or interrupted.
///
/// # Errors
/// The exception that the handler of a signal raises; that the thread was told to stop.
pub fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> CoreResult<T> {
    let token = own_token();
    let hears_signals = is_main_thread(py)?;
    let found = py.detach(|| within(&token, hears_signals.then(|| Watch::new(EVERY, signal_raised)), work));
    match RAISED.take() {
        Some(raised) => Err(CoreError::Raised(raised)),
        None => found.map_err(|_| CoreError::Stopped),
    }
}

/// Whether a handler of a signal raised something, now or in a callback before.
fn signal_raised() -> bool {
    let has_raised = || RAISED.with_borrow(Option::is_some);
    let asked = || Python::attach(|py| py.check_signals().map_err(|raised| RAISED.set(Some(raised))).is_err());
    has_raised() || asked()
}

/// The exception that a callback raised during a call: an interrupt ends the call, an error is only shown.
pub fn raised_in_callback(py: Python<'_>, raised: PyErr) {
    if raised.is_instance_of::<PyException>(py) {
        raised.write_unraisable(py, None);
    } else {
        RAISED.set(Some(raised));
    }
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import(intern!(py, "threading"))?;
    let main = threading.call_method0(intern!(py, "main_thread"))?.getattr(intern!(py, "ident"))?;
    main.eq(threading.call_method0(intern!(py, "get_ident"))?)
}
