//! Long work that ends soon after a request to stop.
//!
//! A call runs [`within`] the reach of a [`Token`]. Every loop that may take long calls [`check`] once in a round, and
//! parallel iterators are made [`Interruptible`], so that their tasks know the token on whichever thread they run.
//! Once the token is set, the next check leaves the whole call by unwinding, and `within` returns [`Interrupted`].
//!
//! Unwinding is not an error that a search could take for the refusal of one candidate, and it leaves what is kept for
//! later calls as it was: a `OnceLock` whose initialisation unwinds stays empty. No lock may be held in a state that
//! others must not see while something that checks is called.

mod parallel;
mod reach;
mod token;
mod watch;

pub use parallel::{Interruptible, InterruptibleIter, on_pool};
pub use reach::{Interrupted, check, checked, within};
pub use token::Token;
pub use watch::Watch;

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;
    use std::sync::OnceLock;
    use std::time::Duration;

    use rayon::prelude::*;

    use super::*;

    #[test]
    fn work_that_nobody_interrupts_is_done() {
        check();
        assert_eq!(within(&Token::default(), None, || (check(), 5).1), Ok(5));
    }

    #[test]
    fn a_token_that_is_set_ends_the_call_and_no_other() {
        let (token, other) = (Token::default(), Token::default());
        token.interrupt();
        let work = || {
            assert_eq!(within(&other, None, || (check(), 1).1), Ok(1));
            check();
        };
        assert_eq!(within(&token, None, work), Err(Interrupted));
        check();
    }

    #[test]
    fn children_are_set_with_their_parents_and_alone() {
        let parent = Token::default();
        let (child, other) = (parent.child(), parent.child());
        child.interrupt();
        assert_eq!([&parent, &child, &other].map(Token::is_set), [false, true, false]);
        let grandchild = other.child();
        parent.interrupt();
        assert!([other, grandchild, parent.child()].iter().all(Token::is_set));
    }

    #[test]
    fn a_watch_is_asked_by_checks_and_while_other_threads_work() {
        for parallel in [false, true] {
            let mut left = 3;
            let watch = Watch::new(Duration::ZERO, move || {
                left -= 1;
                left == 0
            });
            let work = || {
                if parallel {
                    (0..4).into_par_iter().interruptible().for_each(|_| {
                        loop {
                            check();
                        }
                    });
                }
                loop {
                    check();
                }
            };
            let ended: Result<(), Interrupted> = within(&Token::default(), Some(watch), work);
            assert_eq!(ended, Err(Interrupted));
        }
    }

    #[test]
    fn tasks_on_other_threads_heed_the_token_of_their_call() {
        let (token, other) = (Token::default(), Token::default());
        let tasks = || {
            (0..1000)
                .into_par_iter()
                .interruptible()
                .map(|number: u32| {
                    if number == 500 {
                        token.interrupt();
                    }
                    check();
                    number
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(within(&token, None, tasks), Err(Interrupted));
        let rest: Vec<u32> = (0..1000).into_par_iter().interruptible().map(|number| (check(), number).1).collect();
        assert_eq!(rest, (0..1000).collect::<Vec<_>>());
        let nested = |number: u32| (0..number).into_par_iter().interruptible().map(u64::from).sum::<u64>();
        let sums = || (0..100u32).into_par_iter().interruptible().map(nested).sum::<u64>();
        assert_eq!(within(&other, None, sums), Ok((0..100u64).map(|n| n * n.saturating_sub(1) / 2).sum()));
    }

    #[test]
    fn what_is_kept_stays_empty() {
        let (kept, token) = (OnceLock::<u32>::new(), Token::default());
        token.interrupt();
        assert_eq!(within(&token, None, || *kept.get_or_init(|| (check(), 1).1)), Err(Interrupted));
        assert_eq!(kept.get(), None);
        assert_eq!(within(&Token::default(), None, || *kept.get_or_init(|| 2)), Ok(2));
    }

    #[test]
    fn panics_pass() {
        let panicked = catch_unwind(|| within(&Token::default(), None, || panic!("a fault")));
        assert_eq!(panicked.expect_err("it panics").downcast_ref(), Some(&"a fault"));
    }

    #[test]
    fn a_pool_runs_work_in_the_reach_of_the_caller() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let work = || on_pool(&pool, || (check(), rayon::current_num_threads()).1);
        assert_eq!(within(&Token::default(), None, work), Ok(1));
        let token = Token::default();
        token.interrupt();
        assert_eq!(within(&token, None, work), Err(Interrupted));
    }
}
