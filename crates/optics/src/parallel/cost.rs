//! What assignments are judged by.

use super::colouring::Colouring;

/// What an assignment is judged by; less is better, the first number first.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(crate) struct Cost {
    /// What all changes are charged, s.
    pub charge_s: f64,
    /// Connections set up, those of slow switches counting for more.
    pub weighted: f64,
}

/// What judges the change from one assignment to the next, by place of the next.
pub(crate) type Judge<'a> = dyn Fn(usize, &Colouring, &Colouring) -> Cost + 'a;
