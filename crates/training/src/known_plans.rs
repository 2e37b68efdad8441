//! Plans of groups that iterations have found, for other iterations on fabrics that differ in rates and delays.

use std::sync::Arc;

use lightloom::KnownRequests;
use model::{Latest, Plan, Result};

use crate::cutoffs::known_plans::MOST_VARIANTS;

/// A variant of a plan ([`crate::variants`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VariantKind {
    Reversed,
    Renumbered,
}

/// A plan, and its variant of a kind.
type Variant = (Arc<Plan>, VariantKind, Result<Arc<Plan>>);

/// Plans that were found for groups, and their variants.
#[derive(Default)]
pub struct KnownPlans {
    /// Collectives of groups.
    pub requests: KnownRequests,
    variants: Latest<Variant, MOST_VARIANTS>,
}

impl KnownPlans {
    /// The variant of a plan, made where it is not known.
    pub(crate) fn variant(
        &self,
        of: &Arc<Plan>,
        kind: VariantKind,
        make: impl FnOnce() -> Result<Plan>,
    ) -> Result<Arc<Plan>> {
        let known = self.variants.find(|(plan, known, _)| Arc::ptr_eq(plan, of) && *known == kind);
        if let Some((.., variant)) = known {
            return variant;
        }
        let made = make().map(Arc::new);
        self.variants.keep((of.clone(), kind, made.clone()));
        made
    }
}
