//! The token and the watch that the work of this thread heeds, and how the work is left.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use crate::{Token, Watch};

/// A call that was told to end before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

/// Runs `work`, whose checks heed `token` and, on this thread, ask `watch` from time to time.
///
/// # Errors
/// `Interrupted` where a check found the token set.
pub fn within<T>(token: &Token, watch: Option<Watch>, work: impl FnOnce() -> T) -> Result<T, Interrupted> {
    let reach = Reach::new(token.clone(), watch);
    let found = reach.over(|| catch_unwind(AssertUnwindSafe(work)));
    found.map_err(|thrown: Box<dyn Any + Send>| match thrown.downcast::<Interrupted>() {
        Ok(interrupted) => *interrupted,
        Err(panic) => resume_unwind(panic),
    })
}

thread_local! {
    /// The reach of the work that this thread is at; `None` where it cannot be interrupted.
    static CURRENT: RefCell<Option<Reach>> = const { RefCell::new(None) };
}

/// The signals that some work heeds: a token and, on the thread that calls, a watch.
#[derive(Clone)]
pub(crate) struct Reach {
    token: Token,
    watch: Option<Rc<Watch>>,
}

impl Reach {
    pub(crate) fn new(token: Token, watch: Option<Watch>) -> Self {
        Self { token, watch: watch.map(Rc::new) }
    }

    /// The reach of the work that this thread is at.
    pub(crate) fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    pub(crate) fn token(&self) -> &Token {
        &self.token
    }

    pub(crate) fn watch(&self) -> Option<&Watch> {
        self.watch.as_deref()
    }

    /// Runs `work` on this thread in this reach; afterwards the thread is in the one in which it was.
    pub(crate) fn over<T>(self, work: impl FnOnce() -> T) -> T {
        let _former = Former(CURRENT.replace(Some(self)));
        work()
    }
}

/// Runs `work` on this thread where it heeds `token`.
pub(crate) fn heeding<T>(token: &Token, work: impl FnOnce() -> T) -> T {
    let heeds = CURRENT.with_borrow(|current| current.as_ref().is_some_and(|reach| reach.token.is(token)));
    if heeds { work() } else { Reach::new(token.clone(), None).over(work) }
}

/// The reach that a thread goes back to.
struct Former(Option<Reach>);

impl Drop for Former {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// Leaves the call if it is told to end; does nothing in work that cannot be interrupted. Takes a few nanoseconds.
#[inline]
pub fn check() {
    let (is_told, due) = CURRENT.with_borrow(|current| match current {
        None => (false, None),
        Some(reach) => (reach.token.is_set(), reach.watch.as_ref().filter(|watch| watch.is_due()).cloned()),
    });
    // The watch may run anything, also another call.
    if is_told || due.is_some_and(|watch| watch.asked(Reach::current().as_ref().map(Reach::token))) {
        leave();
    }
}

#[cold]
fn leave() {
    // While a call is already being left, a value that is dropped goes on.
    if !std::thread::panicking() {
        resume_unwind(Box::new(Interrupted));
    }
}

/// An iterator over these items with a check before every 1024th: for loops whose rounds take nanoseconds.
pub fn checked<I: IntoIterator>(items: I) -> impl Iterator<Item = I::Item> {
    items.into_iter().enumerate().map(|(index, item)| {
        if index % 1024 == 0 {
            check();
        }
        item
    })
}
