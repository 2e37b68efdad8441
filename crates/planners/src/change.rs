//! The cost of a change of topology where nothing of it is hidden.

/// Seconds that a change of topology costs where nothing of it is hidden.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// One number of seconds for every change.
    Constant(f64),
    /// Row-major `[from][to]`, zero on the diagonal.
    Matrix(Vec<f64>),
}

impl Change {
    /// Seconds to change from one of `candidates` to another; 0 when they are the same.
    pub fn between(&self, candidates: usize, from: usize, to: usize) -> f64 {
        match self {
            _ if from == to => 0.0,
            Self::Constant(delay_s) => *delay_s,
            Self::Matrix(delays_s) => delays_s[from * candidates + to],
        }
    }
}
