//! What tells a call to end, and which one the work of this thread heeds.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::{Interrupted, Watch};

/// What tells calls to end. Copies are the same token; once set, it stays set.
#[derive(Debug, Clone, Default)]
pub struct Token(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    is_set: AtomicBool,
    /// Those of the tokens that are set with this one.
    children: Mutex<Vec<Weak<Flag>>>,
}

impl Token {
    /// A token that is set with this one, and may be set without it.
    #[must_use]
    pub fn child(&self) -> Self {
        let child = Self::default();
        let mut children = self.0.children();
        if self.is_set() {
            child.interrupt();
        } else {
            children.retain(|other| other.strong_count() > 0);
            children.push(Arc::downgrade(&child.0));
        }
        child
    }

    /// Tells the calls that heed this to end.
    pub fn interrupt(&self) {
        let children = {
            let mut children = self.0.children();
            self.0.is_set.store(true, Relaxed);
            std::mem::take(&mut *children)
        };
        children.into_iter().filter_map(|child| child.upgrade()).for_each(|child| Self(child).interrupt());
    }

    /// Whether they were told.
    pub fn is_set(&self) -> bool {
        self.0.is_set.load(Relaxed)
    }

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Flag {
    fn children(&self) -> MutexGuard<'_, Vec<Weak<Self>>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    /// What the work that this thread is at heeds; `None` where nobody can interrupt it.
    static CURRENT: RefCell<Option<Reach>> = const { RefCell::new(None) };
}

/// What some work heeds: a token and, on the thread that calls, a watch.
#[derive(Clone)]
pub(crate) struct Reach {
    token: Token,
    watch: Option<Rc<Watch>>,
}

impl Reach {
    pub(crate) fn new(token: Token, watch: Option<Watch>) -> Self {
        Self { token, watch: watch.map(Rc::new) }
    }

    /// That of the work that this thread is at.
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

pub(crate) fn check() {
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
    // What is dropped while a call is being left goes on.
    if !std::thread::panicking() {
        resume_unwind(Box::new(Interrupted));
    }
}
