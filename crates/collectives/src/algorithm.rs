//! The interface of every algorithm.

use model::{Collective, Error, Rank, Result, Schedule, Shape};

use crate::Extent;

/// Choices that some algorithms take; the others ignore them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// Radix r of Bruck's algorithms, at least 2; `None` means 2.
    pub radix: Option<u32>,
    /// Blocks that one message of `pat` joins at most, a power of two; `None` means as many as it can.
    pub aggregation: Option<u32>,
    /// Rank that a Broadcast or Scatter starts from, and that a Reduce or Gather ends at; `None` means 0.
    pub root: Option<Rank>,
}

impl Options {
    /// The root of a collective that has one.
    pub fn root(&self) -> Rank {
        self.root.unwrap_or(0)
    }

    /// Whether these options go with the collective.
    ///
    /// # Errors
    /// A root of a collective that has none.
    pub fn check(&self, collective: Collective) -> Result<()> {
        if self.root.is_none() || collective.has_root() {
            return Ok(());
        }
        Err(Error::value(
            "root",
            format!("a root for {}", collective.name()),
            "a root only for broadcast, reduce, gather and scatter",
        ))
    }
}

/// A way to compute one or more collectives.
pub trait Algorithm: Sync {
    /// The name in the command line, in plans and in Python.
    fn name(&self) -> &'static str;

    /// A description in one line.
    fn summary(&self) -> &'static str;

    /// The publication of the algorithm.
    fn source(&self) -> &'static str;

    /// The collectives that it computes.
    fn collectives(&self) -> &'static [Collective];

    /// The shapes that it takes, in words.
    fn requirement(&self) -> &'static str;

    /// The size of the schedule of [`Algorithm::build`], at most, found in O(n) without building it. Steps are exact.
    /// Useful only where [`Algorithm::accepts`] agrees.
    fn extent(&self, collective: Collective, shape: &Shape, options: &Options) -> Extent;

    /// Number of steps of [`Algorithm::build`]. Useful only where [`Algorithm::accepts`] agrees.
    fn steps(&self, collective: Collective, shape: &Shape, options: &Options) -> u32 {
        self.extent(collective, shape, options).steps as u32
    }

    /// The conditions of [`Algorithm::accepts`] beyond the collective being one of [`Algorithm::collectives`].
    ///
    /// # Errors
    /// The reason why the shape or an option is refused, and what it would take.
    fn check(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<()>;

    /// The schedule, for a problem that [`Algorithm::accepts`] has agreed to.
    ///
    /// # Errors
    /// The errors of [`Schedule::new`].
    fn construct(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<Schedule>;

    /// Whether [`Algorithm::build`] would succeed.
    ///
    /// # Errors
    /// The collective, shape or option that is refused, and what it would take.
    fn accepts(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<()> {
        if !self.collectives().contains(&collective) {
            let offered: Vec<&str> = self.collectives().iter().map(|known| known.name()).collect();
            let reason = format!("it computes {}, not {}", offered.join(", "), collective.name());
            return Err(Error::refused("algorithm", self.name(), reason));
        }
        options.check(collective)?;
        self.check(collective, shape, options)
    }

    /// The schedule for these ranks.
    ///
    /// # Errors
    /// The errors of [`Algorithm::accepts`].
    fn build(&self, collective: Collective, shape: &Shape, options: &Options) -> Result<Schedule> {
        self.accepts(collective, shape, options)?;
        self.construct(collective, shape, options)
    }
}
