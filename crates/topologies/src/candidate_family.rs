//! The interface of a family of candidates.

use model::{Error, Result, Shape, Topology, Traffic};

use crate::families;

/// A family of topologies that are candidates together.
pub trait CandidateFamily: Sync {
    /// The name in a list of candidates, such as `shifted-rings`.
    fn name(&self) -> &'static str;

    /// A description in one line.
    fn summary(&self) -> &'static str;

    /// The publication of the family: paper and section.
    fn source(&self) -> &'static str;

    /// The topologies of this family for `shape`, none when it cannot serve it. `patterns` are the
    /// distinct traffic patterns of the schedule's steps, in order, and `seed` decides all chance.
    ///
    /// # Errors
    /// Where the family uses the patterns: one of another number of ranks than the shape's.
    fn build(&self, shape: &Shape, patterns: &[&Traffic], seed: u64) -> Result<Vec<Topology>>;
}

/// The topologies of those `specs` that `shape` can have.
pub(crate) fn those_that_fit(specs: impl IntoIterator<Item = String>, shape: &Shape) -> Result<Vec<Topology>> {
    let mut topologies = Vec::new();
    for spec in specs {
        match families::build(&spec, shape) {
            Ok(topology) => topologies.push(topology),
            Err(Error::Refused { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(topologies)
}
