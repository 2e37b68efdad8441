//! The measure by which assignments are judged.

use super::colouring::Colouring;

/// The measure of an assignment; less is better, the first number first.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(crate) struct Cost {
    /// The charges of all changes, s.
    pub charge_s: f64,
    /// Connections set up, those of slow switches counting for more.
    pub weighted: f64,
}

/// The judge of the change from one assignment to the next, by place of the next.
pub(crate) type Judge<'a> = dyn Fn(usize, &Colouring, &Colouring) -> Cost + 'a;
