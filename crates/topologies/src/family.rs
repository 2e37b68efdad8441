//! The interface of a topology family.

use model::{Result, Shape, Topology};

/// A kind of topology that can be built by name.
pub trait Family: Sync {
    /// The name in a spec, such as `ring`.
    fn name(&self) -> &'static str;

    /// A summary, in one line, with what happens to ports that it does not need.
    fn summary(&self) -> &'static str;

    /// The publication of the family: paper and section, or the usual reference.
    fn source(&self) -> &'static str;

    /// Parameters that may follow the name in a spec, `[...]` where they may be left out; empty when nothing may
    /// follow.
    fn parameters(&self) -> &'static str;

    /// The topology of this family for `shape`. `parameters` is the text after the colon of the spec, empty when there
    /// is no colon. At most `shape.ports()` circuits leave and enter each GPU.
    ///
    /// # Errors
    /// [`model::Error::Value`] for parameters that the family does not take, [`model::Error::Refused`] for
    /// a shape that it cannot serve; both name `topology`.
    fn build(&self, shape: &Shape, parameters: &str) -> Result<Topology>;
}
