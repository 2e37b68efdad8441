//! A listener to better choices while they are looked for.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use model::Result;

use crate::Choice;

/// Choices that are faster by less than this, relatively, are the same but for rounding.
const ROUNDING: f64 = 1e-6;

/// A choice that is faster than those before it.
pub struct BetterChoice {
    /// Time of the plan, s.
    pub total_s: f64,
    /// Makes the choice.
    pub choice: Box<dyn Fn() -> Result<Choice> + Send + Sync>,
}

/// Whether a time is below another by more than rounding.
pub fn is_better(total_s: f64, than_s: f64) -> bool {
    total_s < than_s * (1.0 - ROUNDING)
}

/// A function that is told of every choice that is faster than those before it by more than rounding, one at a time.
#[derive(Clone)]
pub struct Listener(Arc<Told>);

struct Told {
    /// Time of the best that was told, s.
    best_s: Mutex<f64>,
    tell: Box<dyn Fn(BetterChoice) + Send + Sync>,
}

impl Listener {
    /// A listener that nothing was told yet.
    pub fn new(tell: impl Fn(BetterChoice) + Send + Sync + 'static) -> Self {
        Self(Arc::new(Told { best_s: Mutex::new(f64::INFINITY), tell: Box::new(tell) }))
    }

    /// Tells of a choice of this time if it is the best so far. `choice` prepares what makes it.
    pub fn tell<M: Fn() -> Result<Choice> + Send + Sync + 'static>(&self, total_s: f64, choice: impl FnOnce() -> M) {
        let mut best_s = self.0.best_s.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_better(total_s, *best_s) {
            return;
        }
        *best_s = total_s;
        (self.0.tell)(BetterChoice { total_s, choice: Box::new(choice()) });
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Listener")
    }
}

impl PartialEq for Listener {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
