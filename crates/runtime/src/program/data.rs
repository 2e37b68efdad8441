//! The data that a program is made for: of the plan's size or of another.

/// The data that a program is made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// The plan's own size.
    OfPlan,
    /// So many elements in a rank's whole buffer, at least one, as the plan divides its own.
    Elements(u64),
    /// Of an All-to-All of n ranks: elements that rank s has for rank d, at `s·n + d`, on the paths of the plan's data
    /// from s to d.
    Blocks(Vec<u64>),
}
