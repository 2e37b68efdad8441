//! Times of a plan, recomputed from the fabric's numbers (HARVEST eq. 4):
//! T = Σ_i [ α + δ·hops_i + β·m_i·load_i + α_r·(G_i ≠ G_{i−1}) ], with what is hidden taken off α_r; or, where packets
//! overlap hop delays with queueing, from a simulation of the plan.

use model::{Initial, Overlap, Plan, Propagation};
use simulate::{Settings, simulate};

use crate::changes::Changes;
use crate::report::{Check, Tally, agree};

/// Terms must agree to this, relative.
const TERM_TOLERANCE: f64 = 1e-12;

/// Checks the four terms of every step, which steps are reconfigured, the total and the bound.
pub(crate) fn check(plan: &Plan) -> Vec<Check> {
    let mut terms = ["startup", "propagation", "transmission", "reconfiguration"].map(Tally::new);
    let mut flags = Tally::new("reconfigured");
    let fabric = &plan.fabric;
    let mut in_force = match &fabric.initial {
        Initial::Free => None,
        Initial::Topology(topology) => Some(topology),
    };
    let packets = match plan.settings.overlap {
        Overlap::Additive => None,
        Overlap::Pipelined => Some(simulate(plan, &Settings::default())),
    };
    if let Some(Err(error)) = &packets {
        flags.expect(false, || format!("the plan cannot be simulated: {error}"));
    }
    let mut all_terms = Vec::with_capacity(4 * plan.steps.len());
    let mut reconfigurations = 0;
    let mut before_s = 0.0;
    for (index, step) in plan.steps.iter().enumerate() {
        let topology = &plan.topologies[step.topology];
        let changes = in_force.map_or_else(Changes::default, |before| Changes::between(before, topology));
        let changed = changes.ports();
        in_force = Some(topology);
        reconfigurations += usize::from(changed > 0);
        flags.expect(step.reconfigured == (changed > 0), || {
            format!("step {index}: reconfigured is {}, {changed} circuits change", step.reconfigured)
        });
        let delayed = match plan.settings.propagation {
            Propagation::Hops => f64::from(step.hops),
            Propagation::InverseThroughput => f64::from(fabric.shape.ports()) * step.load,
        };
        let (propagation_s, transmission_s, tolerance) = match &packets {
            Some(Ok(simulation)) => {
                let took = &simulation.steps[index];
                let transfer_fs = took.duration_fs() - took.reconfiguration_fs - took.startup_fs;
                let propagation_s = fabric.hop_delay_s * f64::from(step.hops);
                let transmission_s = transfer_fs as f64 / 1e15 - propagation_s;
                // A term that is a small difference of large ones is rounded as they are.
                (propagation_s, transmission_s, TERM_TOLERANCE + cancelled(propagation_s, transmission_s))
            }
            Some(Err(_)) | None => {
                let transmission_s = 8.0 / fabric.bandwidth_bps * step.transfer_bytes * step.load;
                (fabric.hop_delay_s * delayed, transmission_s, TERM_TOLERANCE)
            }
        };
        let (charge_s, delay_s) = changes.charge_s(fabric, index, before_s);
        before_s = fabric.startup_s + propagation_s + transmission_s;
        let hidden = if fabric.hides() { cancelled(delay_s + before_s, charge_s) } else { 0.0 };
        let expected = [
            (fabric.startup_s, tolerance),
            (propagation_s, tolerance),
            (transmission_s, tolerance),
            (charge_s, tolerance + hidden),
        ];
        for ((tally, stated), (recomputed, tolerance)) in terms.iter_mut().zip(step.cost.terms()).zip(expected) {
            tally.expect(agree(stated, recomputed, tolerance), || {
                format!("step {index}: stated as {stated} s, the fabric makes it {recomputed} s")
            });
        }
        all_terms.extend(step.cost.terms());
    }
    let mut checks: Vec<Check> =
        terms.into_iter().map(|tally| tally.into_check("terms as the fabric makes them")).collect();
    checks.push(flags.into_check("steps marked as their circuits change"));
    checks.push(total(plan, all_terms, reconfigurations));
    checks.push(bound(plan));
    checks
}

/// What rounding makes of a difference of numbers of which one is `of`, relative to the difference.
fn cancelled(of: f64, difference: f64) -> f64 {
    4.0 * f64::EPSILON * of / difference.abs().max(f64::MIN_POSITIVE)
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
        format!("the total is stated as {} s, the terms add up to {sum} s", plan.total_s())
    });
    tally.expect(plan.reconfigurations() == reconfigurations, || {
        format!("{} reconfigurations are stated, {reconfigurations} steps change circuits", plan.reconfigurations())
    });
    tally.into_check(&format!("sums of {count} terms and {reconfigurations} reconfigurations"))
}

fn bound(plan: &Plan) -> Check {
    let mut tally = Tally::new("bound");
    let seconds = plan.bound.seconds;
    tally.expect(seconds.is_finite() && seconds >= 0.0, || format!("{seconds} s is not a time"));
    tally.expect(seconds <= plan.total_s() * (1.0 + 1e-9), || {
        format!("the bound is {seconds} s for {}, the plan takes {} s", plan.bound.class, plan.total_s())
    });
    tally.into_check("comparisons of the bound")
}
