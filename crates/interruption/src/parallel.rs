//! Tasks on other threads, which heed the same token as the call that starts them.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use rayon::iter::ParallelIterator;
use rayon::iter::plumbing::{Consumer, Folder, UnindexedConsumer};
use rayon::{Scope, ThreadPool};

use crate::Token;
use crate::reach::{Reach, check, heeding};

/// The shortest time between two looks at a watch while other threads work.
const SHORTEST: Duration = Duration::from_millis(1);

/// Parallel iterators whose items are computed in the reach of the call's token.
pub trait Interruptible: ParallelIterator {
    /// An iterator over these items in which work on each of them begins with a check and heeds the token of the call.
    /// It stands directly before that work: what is done to an item before does not heed it.
    fn interruptible(self) -> InterruptibleIter<Self> {
        InterruptibleIter(self)
    }
}

impl<I: ParallelIterator> Interruptible for I {}

/// The iterator that [`Interruptible::interruptible`] returns.
pub struct InterruptibleIter<I>(I);

impl<I: ParallelIterator> ParallelIterator for InterruptibleIter<I> {
    type Item = I::Item;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, base: C) -> C::Result {
        let Some(reach) = Reach::current() else { return self.0.drive_unindexed(base) };
        let token = reach.token();
        let drive = || self.0.drive_unindexed(Heeding { base, token });
        // A thread of the pool works itself; others wait for the pool.
        let found = if rayon::current_thread_index().is_some() { drive() } else { attended(None, &reach, drive) };
        // Where the token is set, items are left out: one task unwinds, not each of thousands.
        check();
        found
    }
}

/// Runs `work` on a thread of `pool`, under the interrupt token of this thread's call.
pub fn on_pool<T: Send>(pool: &ThreadPool, work: impl FnOnce() -> T + Send) -> T {
    let Some(reach) = Reach::current() else { return pool.install(work) };
    let token = reach.token();
    attended(Some(pool), &reach, || heeding(token, work))
}

/// Runs `work` on another thread, and asks the watch meanwhile, which a thread that is blocked could not.
fn attended<'scope, T: Send + 'scope>(
    pool: Option<&ThreadPool>,
    reach: &Reach,
    work: impl FnOnce() -> T + Send + 'scope,
) -> T {
    let (told, done) = sync_channel(1);
    let attend = move |scope: &Scope<'scope>| {
        scope.spawn(move |_| {
            let _ = told.send(work());
        });
        let Some(watch) = reach.watch() else { return done.recv().ok() };
        loop {
            match done.recv_timeout(watch.every().max(SHORTEST)) {
                Err(RecvTimeoutError::Timeout) if !watch.asked(Some(reach.token())) => {}
                Err(RecvTimeoutError::Timeout) => return done.recv().ok(),
                found => return found.ok(),
            }
        }
    };
    let found = match pool {
        Some(pool) => pool.in_place_scope(attend),
        None => rayon::in_place_scope(attend),
    };
    found.expect("work without a result has unwound, which the scope passes on")
}

/// A consumer or folder whose work on every item heeds a token.
struct Heeding<'a, C> {
    base: C,
    token: &'a Token,
}

impl<'a, T, C: Consumer<T>> Consumer<T> for Heeding<'a, C> {
    type Folder = Heeding<'a, C::Folder>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let (left, right, reducer) = self.base.split_at(index);
        (Self { base: left, token: self.token }, Self { base: right, token: self.token }, reducer)
    }

    fn into_folder(self) -> Self::Folder {
        Heeding { base: self.base.into_folder(), token: self.token }
    }

    fn full(&self) -> bool {
        self.token.is_set() || self.base.full()
    }
}

impl<T, C: UnindexedConsumer<T>> UnindexedConsumer<T> for Heeding<'_, C> {
    fn split_off_left(&self) -> Self {
        Self { base: self.base.split_off_left(), token: self.token }
    }

    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

impl<T, F: Folder<T>> Folder<T> for Heeding<'_, F> {
    type Result = F::Result;

    fn consume(self, item: T) -> Self {
        let Self { base, token } = self;
        let base = heeding(token, || {
            check();
            base.consume(item)
        });
        Self { base, token }
    }

    fn consume_iter<I: IntoIterator<Item = T>>(self, items: I) -> Self {
        let Self { base, token } = self;
        let base = heeding(token, || base.consume_iter(items.into_iter().inspect(|_| check())));
        Self { base, token }
    }

    fn complete(self) -> F::Result {
        self.base.complete()
    }

    fn full(&self) -> bool {
        self.token.is_set() || self.base.full()
    }
}
