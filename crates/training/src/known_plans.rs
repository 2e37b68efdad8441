//! Plans of groups that iterations have found, for other iterations on fabrics that differ in rates and delays.

use std::sync::{Arc, Mutex, PoisonError};

use lightloom::KnownRequests;
use model::{Plan, Result};

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
    variants: Mutex<Vec<Variant>>,
}

impl KnownPlans {
    /// The variant of a plan, made where it is not known.
    pub(crate) fn variant(
        &self,
        of: &Arc<Plan>,
        kind: VariantKind,
        make: impl FnOnce() -> Result<Plan>,
    ) -> Result<Arc<Plan>> {
        let lock = || self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |(plan, known, _): &&Variant| Arc::ptr_eq(plan, of) && *known == kind;
        let known = lock().iter().find(is_it).map(|(.., variant)| variant.clone());
        known.unwrap_or_else(|| {
            let made = make().map(Arc::new);
            lock().push((of.clone(), kind, made.clone()));
            made
        })
    }
}
