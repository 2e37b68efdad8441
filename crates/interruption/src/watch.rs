//! A function that a call asks, from time to time and on its own thread, whether to end.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use crate::Token;

/// Checks that come within this part of the time between two questions look at the clock together.
const SOON: u32 = 64;
/// Number of checks that do not look at the clock, after one that does.
const SKIPPED: u32 = 15;

/// A question that is asked at most once in a while.
pub struct Watch {
    every: Duration,
    asked: Cell<Instant>,
    looked: Cell<Instant>,
    /// Checks that do not look at the clock, since the last ones came soon after each other.
    skipped: Cell<u32>,
    /// Empty while it is being asked.
    ask: RefCell<Box<dyn FnMut() -> bool>>,
}

impl Watch {
    /// `ask` says whether the call shall end; it is asked by the first check after `every`, time after time.
    pub fn new(every: Duration, ask: impl FnMut() -> bool + 'static) -> Self {
        let now = Cell::new(Instant::now());
        Self { every, asked: now.clone(), looked: now, skipped: Cell::new(0), ask: RefCell::new(Box::new(ask)) }
    }

    pub(crate) fn every(&self) -> Duration {
        self.every
    }

    pub(crate) fn is_due(&self) -> bool {
        if let Some(left) = self.skipped.get().checked_sub(1) {
            self.skipped.set(left);
            return false;
        }
        let now = Instant::now();
        if now - self.looked.replace(now) < self.every / SOON {
            self.skipped.set(SKIPPED);
        }
        now - self.asked.get() >= self.every
    }

    /// Asks, and sets the token where the answer is yes.
    pub(crate) fn asked(&self, token: Option<&Token>) -> bool {
        // The watch is being asked already, where it makes a call itself; that call has another watch.
        let Ok(mut ask) = self.ask.try_borrow_mut() else { return false };
        let is_told = ask();
        self.asked.set(Instant::now());
        if is_told && let Some(token) = token {
            token.interrupt();
        }
        is_told
    }
}
