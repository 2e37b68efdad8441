//! The token that tells a call to end.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A token that tells calls to end. Copies are the same token; once set, it stays set.
#[derive(Debug, Clone, Default)]
pub struct Token(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    is_set: AtomicBool,
    /// The tokens that are set with this one.
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

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Flag {
    fn children(&self) -> MutexGuard<'_, Vec<Weak<Self>>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
