//! The ports of different rates on which the circuits of a topology are.

use std::sync::Arc;

/// The circuits of every link of a topology by the rate of their ports.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CircuitRates {
    /// By class of ports, their rate over that of the fastest, which come first.
    pub(crate) relative: Arc<[f64]>,
    /// By link, then by class of ports.
    pub(crate) circuits: Arc<[Vec<u32>]>,
}

impl CircuitRates {
    /// The same rates of other links, with their circuits by class of ports.
    pub(crate) fn of_links(&self, circuits: Vec<Vec<u32>>) -> Self {
        Self { circuits: circuits.into(), ..self.clone() }
    }
}
