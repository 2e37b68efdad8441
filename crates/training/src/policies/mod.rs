//! Policies, a file and a line here each: who decides the plans, the ports and the topologies of an iteration.

mod alone;
mod carry;
mod kept;
mod one_shot;
mod packet_switch;
mod pccl;
mod policy;
mod static_tori;

use model::{Error, Result, unknown_name};

use crate::context::Context;
pub(crate) use policy::Outcome;
pub use policy::Policy;

/// All policies, in the order in which they are planned: a policy may look at those before it.
pub const POLICIES: [Policy; 6] =
    [alone::POLICY, pccl::POLICY, static_tori::POLICY, one_shot::POLICY, carry::POLICY, packet_switch::POLICY];

/// The policy of that name.
///
/// # Errors
/// An unknown name, or a policy that cannot be chosen.
pub fn find(name: &str) -> Result<&'static Policy> {
    let known = POLICIES.iter().find(|policy| policy.is_called(name));
    let choosable = POLICIES.iter().filter(|policy| policy.can_be_chosen).map(|policy| policy.name);
    match known {
        Some(policy) if !policy.can_be_chosen => {
            let accepts = choosable.collect::<Vec<_>>().join(", ");
            Err(Error::value("policy", format!("`{name}`, which is only for comparison,"), accepts))
        }
        Some(policy) => Ok(policy),
        None => Err(unknown_name("policy", name, choosable)),
    }
}

/// The outcomes of all policies, in the order of the registry; no outcome where a policy does not serve the workload.
pub(crate) fn outcomes(context: &mut Context<'_>, progress: &(dyn Fn(&str) + Sync)) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    for policy in &POLICIES {
        progress(&format!("policy {}", policy.title));
        let found = (policy.plan)(context, &outcomes);
        // An outcome that is only a reference is of another fabric.
        outcomes.extend(found.map(|found| if policy.can_be_chosen { found.in_best_order(context) } else { found }));
    }
    outcomes
}
