//! For tests: how many random cases a long search draws, and from which seed. `tests/draws.py` is the same for Python.
//!
//! `make test` draws a quarter of the cases, always the same ones; `make test-long` sets `LIGHTLOOM_LONG_TESTS` to its seed,
//! draws all of them, and each time others.

/// The seed of `make test-long`; `None` elsewhere.
fn long() -> Option<u64> {
    let seed = std::env::var("LIGHTLOOM_LONG_TESTS").ok()?;
    Some(seed.parse().unwrap_or_else(|_| panic!("LIGHTLOOM_LONG_TESTS is a whole number, not `{seed}`")))
}

/// The number of cases that a search draws which has `all` of them in `make test-long`.
pub fn cases(all: u32) -> u32 {
    if long().is_some() { all } else { all.div_ceil(4) }
}

/// The seed of a search whose cases in `make test` are those of `usual`.
pub fn seed(usual: u64) -> u64 {
    long().map_or(usual, |seed| seed.wrapping_add(usual))
}
