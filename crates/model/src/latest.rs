//! The latest values that were made, kept for callers that ask for the same again.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// At most `MOST` values, the oldest of which makes room for a new one. They are few and looked through one by one, so
/// that what tells them apart may have floats, which libraries of caches cannot hash. Several threads may ask.
#[derive(Debug)]
pub struct Latest<T, const MOST: usize>(Mutex<VecDeque<T>>);

impl<T, const MOST: usize> Default for Latest<T, MOST> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone, const MOST: usize> Latest<T, MOST> {
    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The oldest value that `is_it` holds for.
    pub fn find(&self, is_it: impl FnMut(&&T) -> bool) -> Option<T> {
        self.lock().iter().find(is_it).cloned()
    }

    /// Keeps a value that was made while others could ask.
    pub fn keep(&self, value: T) {
        push(&mut self.lock(), value, MOST);
    }

    /// The oldest value that `is_it` holds for; else a new one. Others wait while it is made.
    pub fn find_or_make(&self, is_it: impl FnMut(&&T) -> bool, make: impl FnOnce() -> T) -> T {
        let mut latest = self.lock();
        if let Some(found) = latest.iter().find(is_it) {
            return found.clone();
        }
        let made = make();
        push(&mut latest, made.clone(), MOST);
        made
    }

    /// The number of values that are kept.
    pub fn count(&self) -> usize {
        self.lock().len()
    }
}

fn push<T>(latest: &mut VecDeque<T>, value: T, most: usize) {
    if latest.len() == most {
        latest.pop_front();
    }
    latest.push_back(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_makes_room() {
        let latest = Latest::<u32, 2>::default();
        for (asked, expected) in [(1, 1), (2, 2), (1, 1), (3, 3)] {
            assert_eq!(latest.find_or_make(|kept| **kept == asked, || asked), expected);
        }
        assert_eq!([1, 2, 3].map(|asked| latest.find(|kept| **kept == asked)), [None, Some(2), Some(3)]);
        latest.keep(4);
        assert_eq!((latest.find(|kept| **kept == 2), latest.count()), (None, 2));
    }
}
