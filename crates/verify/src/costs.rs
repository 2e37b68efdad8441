//! Times of a plan, recomputed from the fabric's numbers (HARVEST eq. 4):
//! T = Σ_i [ b + α + δ·hops_i + β·m_i·load_i + α_r·(G_i ≠ G_{i−1}) ], b being the barrier, less the part of α_r that is
//! hidden. Where packets overlap hop delays with queueing, propagation and transmission of a step together are taken as
//! stated, and how they are split is checked.
//!
//! A stated number may be off by the rounding errors of its terms. The error is never relative to the result: a
//! difference of large numbers may be zero.

use model::{Fabric, Initial, Overlap, Plan, PlanStep, Propagation, counted};

use crate::changes::Charge;
use crate::report::{Check, Tally, agree};
use crate::{fibres, tiers};

/// Rounding error of a product of a few numbers, relative to it.
const ROUNDING: f64 = 1e-12;

/// Rounding error of a difference of a few numbers, relative to the largest of them.
const CANCELLED: f64 = 16.0 * f64::EPSILON;

/// A time, and by how much it may be stated otherwise, s.
#[derive(Debug, Clone, Copy)]
struct ToleratedTime {
    seconds: f64,
    rounding_s: f64,
}

impl ToleratedTime {
    fn product(seconds: f64) -> Self {
        Self { seconds, rounding_s: ROUNDING * seconds }
    }

    /// A difference of numbers up to `largest_s`.
    fn difference(seconds: f64, largest_s: f64) -> Self {
        Self { seconds, rounding_s: CANCELLED * largest_s }
    }
}

/// Checks the terms of every step, which steps are reconfigured, and the total.
pub(crate) fn check(plan: &Plan) -> Vec<Check> {
    let mut terms = ["startup", "propagation", "transmission", "reconfiguration", "barrier"].map(Tally::new);
    let mut flags = Tally::new("reconfigured");
    let fabric = &plan.fabric;
    let mut in_force = match &fabric.initial {
        Initial::Free => None,
        Initial::Topology(topology) => Some(topology),
        // The run before has ended on the last step's.
        Initial::Repeated => plan.steps.last().map(|step| &plan.topologies[step.topology]),
    };
    // The report counts barriers only for a plan that has some.
    let waits = fabric.barrier_s != 0.0 || plan.steps.iter().any(|step| step.cost.barrier_s != 0.0);
    let stated = if waits { 5 } else { 4 };
    let mut all_terms = Vec::with_capacity(5 * plan.steps.len());
    let mut reconfigurations = 0;
    let mut before_s = 0.0;
    for (index, step) in plan.steps.iter().enumerate() {
        let topology = &plan.topologies[step.topology];
        // The part that is left is no more than the delay; so is its rounding error, however long the rest is.
        let charge = |before| Charge::of(fabric, (before, topology), index, before_s);
        let Charge { ports: changed, seconds: left_s, of_s } = in_force.map(charge).unwrap_or_default();
        in_force = Some(topology);
        reconfigurations += usize::from(changed > 0);
        flags.expect(step.reconfigured == (changed > 0), || {
            format!("step {index}: reconfigured is {}, and {changed} circuits change", step.reconfigured)
        });
        let [startup, propagation, transmission, reconfiguration, barrier] = &mut terms;
        let [startup_s, propagation_s, transmission_s, charge_s, barrier_s] = step.cost.terms();
        let passing = passing(plan, index);
        let step_s = fabric.barrier_s + fabric.startup_s + passing[0].seconds + passing[1].seconds;
        before_s = step_s;
        for (tally, stated, known) in [
            (startup, startup_s, ToleratedTime::product(fabric.startup_s)),
            (barrier, barrier_s, ToleratedTime::product(fabric.barrier_s)),
            (propagation, propagation_s, passing[0]),
            (transmission, transmission_s, passing[1]),
            (reconfiguration, charge_s, ToleratedTime::difference(left_s, of_s)),
        ] {
            let ToleratedTime { seconds, rounding_s } = known;
            tally.expect((stated - seconds).abs() <= rounding_s, || {
                format!("step {index}: stated as {stated} s; recomputed from the fabric it is {seconds} s")
            });
        }
        all_terms.extend(step.cost.terms().into_iter().take(stated));
    }
    let said = terms.into_iter().take(stated);
    let mut checks: Vec<Check> = said.map(|tally| tally.into_check("term", "as recomputed from the fabric")).collect();
    checks.push(flags.into_check("step", "marked as reconfigured where circuits change"));
    checks.push(total(plan, all_terms, reconfigurations));
    checks
}

/// Propagation and transmission of a step.
fn passing(plan: &Plan, index: usize) -> [ToleratedTime; 2] {
    let (fabric, step): (&Fabric, &PlanStep) = (&plan.fabric, &plan.steps[index]);
    if let Some(tiers) = tiers::of_step(plan, step).filter(|tiers| tiers.electrical_load > 0.0) {
        return [tiers.propagation_s, tiers.transmission_s].map(ToleratedTime::product);
    }
    match plan.settings.overlap {
        Overlap::Additive => {
            let delayed = match plan.settings.propagation {
                Propagation::Hops => f64::from(step.hops),
                Propagation::InverseThroughput => {
                    step.load / (step.step.traffic().node_load() / f64::from(fabric.shape.ports()))
                }
            };
            let propagation_s = fibres::hop_s(plan, &plan.topologies[step.topology]) * delayed;
            let transmission_s = 8.0 / fabric.bandwidth_bps * step.transfer_bytes * step.load;
            [propagation_s, transmission_s].map(ToleratedTime::product)
        }
        Overlap::Pipelined => {
            // From the first packet to the last bit, as stated; of it the hop delays are propagation, up to all.
            let together_s = step.cost.propagation_s + step.cost.transmission_s;
            let propagation_s =
                f64::min(fibres::hop_s(plan, &plan.topologies[step.topology]) * f64::from(step.hops), together_s);
            [propagation_s, together_s - propagation_s].map(|seconds| ToleratedTime::difference(seconds, together_s))
        }
    }
}

/// The total against a sum of the sorted terms, smallest first: another order and rounding than the plan's.
fn total(plan: &Plan, mut terms: Vec<f64>, reconfigurations: usize) -> Check {
    let mut tally = Tally::new("total");
    let count = terms.len();
    terms.sort_by(f64::total_cmp);
    let sum: f64 = terms.into_iter().sum();
    // Each of the additions rounds once, by half a unit of the sum at most.
    let tolerance = f64::EPSILON * (count as f64).max(4.0);
    tally.expect(agree(plan.total_s(), sum, tolerance), || {
        format!("the total is stated as {} s, and the terms add up to {sum} s", plan.total_s())
    });
    tally.expect(plan.reconfigurations() == reconfigurations, || {
        format!("{} reconfigurations are stated, and {reconfigurations} steps change circuits", plan.reconfigurations())
    });
    tally.into_check(
        "sum",
        &format!("recomputed, of {} and {}", counted(count, "term"), counted(reconfigurations, "reconfiguration")),
    )
}
