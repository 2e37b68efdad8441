//! A budget of lasers that the paths of circuits do not keep to.

/// Difference that comes from adding powers in different orders, relative.
pub(super) const TOLERANCE: f64 = 1e-9;

/// The place whose lasers share a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaserPlace {
    /// A tile, numbered row by row over all interposers.
    Tile(u32),
    /// An interposer, numbered row by row.
    Interposer(u32),
}

impl LaserPlace {
    /// The key of the budget.
    pub fn budget_key(self) -> &'static str {
        match self {
            Self::Tile(_) => "max_tile_mw",
            Self::Interposer(_) => "max_interposer_mw",
        }
    }
}

impl std::fmt::Display for LaserPlace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tile(number) => write!(formatter, "tile {number}"),
            Self::Interposer(number) => write!(formatter, "interposer {number}"),
        }
    }
}

/// A place whose lasers launch more than its budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverBudget {
    /// The place.
    pub place: LaserPlace,
    /// Power that its lasers launch at once, mW.
    pub launch_mw: f64,
    /// The most that they may, mW.
    pub budget_mw: f64,
    /// Power that they launch at least: mW; a lower bound, which leaves out detours to the fibres.
    pub least_mw: f64,
}

impl std::fmt::Display for OverBudget {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { place, launch_mw, budget_mw, least_mw } = self;
        let key = place.budget_key();
        if *least_mw > *budget_mw * (1.0 + TOLERANCE) {
            return write!(
                formatter,
                "the lasers of {place} must launch at least {least_mw:.6} mW at once, more than the budget {key} of \
                 {budget_mw} mW"
            );
        }
        write!(
            formatter,
            "the lasers of {place} launch {launch_mw:.6} mW at once on the paths that were found, more than the \
             budget {key} of {budget_mw} mW"
        )
    }
}
