//! The values that rows of the table share.

use super::option::{Kind, Part, PlanningOption};

/// Verbs that plan.
pub(super) const PLANNING: &[&str] = &["plan", "compare", "bound"];
/// Verbs that take a fabric.
pub(super) const ON_FABRIC: &[&str] = &["plan", "compare", "bound", "train", "jobs", "robust"];
/// Verbs that plan collectives.
pub(super) const OF_COLLECTIVES: &[&str] = &["plan", "compare", "bound", "robust"];

/// The defaults of a row.
pub(super) const OPEN: PlanningOption = PlanningOption {
    name: "",
    kind: Kind::Name,
    part: Part::Setting,
    group: "",
    meaning: "",
    verbs: PLANNING,
    default: None,
    otherwise: "",
    names: "",
    others: &[],
    metavar: "",
    example: "",
    python: "",
};
