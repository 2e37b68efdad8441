//! Changes of circuits that drivers are asked for.

/// A change of circuits as drivers are asked for it; without a number it makes the first circuits of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) change: Option<usize>,
    pub(super) from: Option<u32>,
    pub(super) configuration: u32,
    pub(super) dark_ns: u64,
}

/// A change that a driver was asked for, by a moment at the latest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waited {
    pub(super) what: Asked,
    pub(super) driver: usize,
    pub(super) ticket: u32,
    pub(super) asked_ns: u64,
    pub(super) allowed_ns: u64,
    pub(super) until_ns: u64,
}

/// The first moment after which one of several changes is late.
pub(super) fn deadline_of(asked: &[Waited]) -> u64 {
    asked.iter().map(|one| one.until_ns).min().unwrap_or(u64::MAX)
}
