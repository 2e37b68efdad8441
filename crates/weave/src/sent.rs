//! What a step of a flood sends.

use std::collections::BTreeMap;

use model::Rank;

/// The origins of what goes over each link in a step.
pub(crate) type Sent = BTreeMap<(Rank, Rank), Vec<Rank>>;
