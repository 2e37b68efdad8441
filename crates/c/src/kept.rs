//! Values kept under keys, made once by the first caller; where there are many, the least recently used is dropped.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The value made for a key; empty while it is being made.
type Slot<V, E> = Arc<OnceLock<Result<V, E>>>;

/// Values by key, of all threads.
pub struct Kept<K, V, E> {
    entries: Mutex<Entries<K, V, E>>,
    most: usize,
}

struct Entries<K, V, E> {
    by_key: BTreeMap<K, (Slot<V, E>, u64)>,
    uses: u64,
}

impl<K: Ord + Clone, V: Clone, E: Clone> Kept<K, V, E> {
    /// Keeps at most this many values; all of them where `most` is 0.
    pub fn new(most: usize) -> Self {
        Self { entries: Mutex::new(Entries { by_key: BTreeMap::new(), uses: 0 }), most }
    }

    /// The value that is kept under the key. O(log values).
    pub fn look_up(&self, key: &K) -> Option<V> {
        let slot = self.entries().used(key)?;
        slot.get().and_then(|made| made.clone().ok())
    }

    /// The value under the key, made if missing; of threads that ask at the same time one makes it. O(log values) for
    /// one that is there.
    ///
    /// # Errors
    /// The error of `make`, which is asked again the next time.
    pub fn get_or_make(&self, key: &K, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let slot = self.slot(key);
        let mut is_new = false;
        let made = slot
            .get_or_init(|| {
                is_new = true;
                make()
            })
            .clone();
        if made.is_err() {
            self.entries().forget(key, &slot);
        } else if is_new {
            // Evicted only now: a key whose plan is refused must not evict another.
            self.entries().keep_at_most(self.most);
        }
        made
    }

    /// Keeps a value in place of what was there.
    pub fn put(&self, key: &K, value: V) {
        let mut entries = self.entries();
        entries.insert(key, Arc::new(OnceLock::from(Ok(value))));
        entries.keep_at_most(self.most);
    }

    fn slot(&self, key: &K) -> Slot<V, E> {
        let mut entries = self.entries();
        entries.used(key).unwrap_or_else(|| entries.insert(key, Arc::default()))
    }

    fn entries(&self) -> MutexGuard<'_, Entries<K, V, E>> {
        // Nothing panics half way through a change of the entries.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Ord + Clone, V, E> Entries<K, V, E> {
    /// The slot of the key, which is now the most recently used.
    fn used(&mut self, key: &K) -> Option<Slot<V, E>> {
        self.uses += 1;
        let (slot, last_use) = self.by_key.get_mut(key)?;
        *last_use = self.uses;
        Some(slot.clone())
    }

    /// Enters the slot in place of what was there. O(log entries).
    fn insert(&mut self, key: &K, slot: Slot<V, E>) -> Slot<V, E> {
        self.uses += 1;
        self.by_key.insert(key.clone(), (slot.clone(), self.uses));
        slot
    }

    /// Drops the least recently used value where there are more than `most`, and that is not 0. O(entries).
    fn keep_at_most(&mut self, most: usize) {
        // A slot whose maker panicked is empty and is dropped.
        self.by_key.retain(|_, (slot, _)| slot.get().is_some() || Arc::strong_count(slot) > 1);
        let made = || self.by_key.iter().filter(|(_, (slot, _))| slot.get().is_some_and(Result::is_ok));
        if most > 0 && made().count() > most {
            let oldest = made().min_by_key(|(_, (_, last_use))| *last_use).map(|(key, _)| key.clone());
            oldest.and_then(|oldest| self.by_key.remove(&oldest));
        }
    }

    /// Drops the slot, unless another is under the key by now.
    fn forget(&mut self, key: &K, slot: &Slot<V, E>) {
        if self.by_key.get(key).is_some_and(|(held, _)| Arc::ptr_eq(held, slot)) {
            self.by_key.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn a_value_is_made_once_by_many_threads() {
        let (kept, made) = (Kept::<u32, u32, ()>::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for key in 0..50 {
                        let value = kept.get_or_make(&key, || {
                            made.fetch_add(1, Ordering::Relaxed);
                            Ok(key * 2)
                        });
                        assert_eq!(value, Ok(key * 2));
                    }
                });
            }
        });
        assert_eq!(made.into_inner(), 50);
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let kept = Kept::<u32, u32, ()>::new(2);
        kept.put(&1, 1);
        kept.put(&2, 2);
        assert_eq!(kept.look_up(&1), Some(1));
        kept.put(&3, 3);
        assert_eq!([1, 2, 3].map(|key| kept.look_up(&key)), [Some(1), None, Some(3)]);
        kept.put(&3, 4);
        assert_eq!([1, 3].map(|key| kept.look_up(&key)), [Some(1), Some(4)]);
    }

    #[test]
    fn failures_are_not_kept() {
        let kept = Kept::<u32, u32, &str>::new(0);
        assert_eq!(kept.get_or_make(&1, || Err("no")), Err("no"));
        assert_eq!(kept.look_up(&1), None);
        assert_eq!(kept.get_or_make(&1, || Ok(7)), Ok(7));
        assert_eq!(kept.get_or_make(&1, || Err("not asked")), Ok(7));
    }

    #[test]
    fn what_is_refused_drives_nothing_out() {
        let kept = Kept::<u32, u32, &str>::new(2);
        for key in [1, 2] {
            assert_eq!(kept.get_or_make(&key, || Ok(key)), Ok(key));
        }
        for key in 3..9 {
            assert_eq!(kept.get_or_make(&key, || Err("no")), Err("no"));
            assert!(
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    kept.get_or_make(&(10 * key), || panic!("once"))
                }))
                .is_err()
            );
        }
        assert_eq!([1, 2].map(|key| kept.look_up(&key)), [Some(1), Some(2)]);
        assert_eq!(kept.get_or_make(&3, || Ok(3)), Ok(3));
        assert_eq!([1, 2, 3].map(|key| kept.look_up(&key)), [None, Some(2), Some(3)]);
    }

    #[test]
    fn what_panics_is_made_by_the_next() {
        let kept = Kept::<u32, u32, ()>::new(0);
        let panicked =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| kept.get_or_make(&1, || panic!("once"))));
        assert!(panicked.is_err());
        assert_eq!(kept.get_or_make(&1, || Ok(3)), Ok(3));
    }
}
