//! Whether lasers launch what receivers need, within their budgets, and what energy a plan costs them. Written from the
//! documentation of meshes, not from the crate that routes.

use std::collections::{BTreeMap, BTreeSet};

use model::{Circuits, LaunchPower, Light, LightPath, Plan, Shape, sum_seconds};

use super::circuit_name::at;
use super::geometry::Geometry;
use crate::report::{Check, Tally, agree};

/// The most by which a power or an energy may be off, relative to it.
const TOLERANCE: f64 = 1e-9;

/// Checks launched power of every circuit, and of tiles and interposers; `plan` says which configurations are set up
/// while the one before is in use.
pub(super) fn power_check(circuits: &Circuits, geometry: Geometry<'_>, shape: &Shape, plan: Option<&Plan>) -> Check {
    let mut tally = Tally::new("launch power");
    let Some(power) = geometry.mesh.launch_power else {
        let paths = circuits.light().iter().enumerate();
        for (index, path) in paths.flat_map(|(index, light)| light.paths.iter().map(move |path| (index, path))) {
            tally.expect(path.launch_mw.is_none(), || {
                format!("{}: a launch power is stated, and the mesh says nothing about receivers", at(index, path))
            });
        }
        return tally.into_check("circuit", "without a launch power");
    };
    let mut before: Option<&Light> = None;
    for (index, light) in circuits.light().iter().enumerate() {
        for path in &light.paths {
            let Some(needed_dbm) = needed_dbm(geometry, &power, path) else { continue };
            let needed_mw = milliwatts(needed_dbm);
            tally.expect(path.launch_mw.is_some_and(|stated| agree(stated, needed_mw, TOLERANCE)), || {
                let stated = path.launch_mw.map_or("none".to_string(), |stated| format!("{stated} mW"));
                format!("{}: its laser has to launch {needed_mw} mW, and {stated} is stated", at(index, path))
            });
            let limit_dbm = power.max_launch_dbm.unwrap_or(f64::INFINITY);
            tally.expect(needed_dbm <= limit_dbm + TOLERANCE, || {
                format!(
                    "{}: its laser launches {needed_dbm} dBm, more than the limit of {limit_dbm} dBm",
                    at(index, path)
                )
            });
        }
        let still_lit = before.filter(|_| plan.is_some_and(|plan| begins_early(circuits, plan, index)));
        budgets(&mut tally, (geometry, &power, shape), index, (light, still_lit));
        before = Some(light);
    }
    tally.into_check("number", "of launched powers, recomputed from the paths and compared with the budgets")
}

/// Checks the sums of launched power at tiles and interposers in one configuration, with circuits that are still lit.
fn budgets(
    tally: &mut Tally,
    (geometry, power, shape): (Geometry<'_>, &LaunchPower, &Shape),
    index: usize,
    (light, still_lit): (&Light, Option<&Light>),
) {
    let (each, _) = geometry.gpus_and_tiles();
    let mut seen = BTreeSet::new();
    let mut sums: [BTreeMap<u32, f64>; 2] = Default::default();
    for path in light.paths.iter().chain(still_lit.into_iter().flat_map(|light| &light.paths)) {
        let same = (path.connection, &path.mzis, &path.waveguides, path.wavelength);
        let Some(needed_dbm) = needed_dbm(geometry, power, path).filter(|_| seen.insert(same)) else { continue };
        let gpu = (path.connection.ingress - 1) / shape.ports();
        for (sums, place) in sums.iter_mut().zip([gpu, gpu / each]) {
            *sums.entry(place).or_insert(0.0) += milliwatts(needed_dbm);
        }
    }
    for ((sums, budget_mw), noun) in
        sums.iter().zip([power.max_tile_mw, power.max_interposer_mw]).zip(["tile of GPU", "interposer"])
    {
        let Some(budget_mw) = budget_mw else { continue };
        for (place, sum_mw) in sums {
            tally.expect(*sum_mw <= budget_mw * (1.0 + TOLERANCE), || {
                format!(
                    "configuration {}: the lasers of the {noun} {place} launch {sum_mw} mW, more than its budget of \
                     {budget_mw} mW",
                    index + 1
                )
            });
        }
    }
}

/// Whether a configuration begins to be set before the step ends that uses the one before.
fn begins_early(circuits: &Circuits, plan: &Plan, index: usize) -> bool {
    let configuration = &circuits.configurations()[index];
    let first = configuration.steps.first().filter(|&&step| step <= plan.steps.len());
    let Some(&first) = first.filter(|_| index > 0) else { return false };
    let start_s = sum_seconds(plan.steps[..first].iter().flat_map(|step| step.cost.terms()));
    configuration.time_s < start_s - 1e-9 * plan.total_s()
}

/// Checks the energy of every step, of the changes and of all, and that of a bit.
pub(super) fn energy_check(circuits: &Circuits, geometry: Geometry<'_>, plan: &Plan) -> Option<Check> {
    let efficiency = geometry.mesh.launch_power.and_then(|power| power.laser_efficiency);
    let power = geometry.mesh.launch_power;
    let mut tally = Tally::new("energy");
    let (Some(stated), Some(efficiency), Some(power)) = (circuits.energy(), efficiency, power) else {
        let agrees = circuits.energy().is_some() == efficiency.is_some();
        if agrees && efficiency.is_none() {
            return None;
        }
        tally.expect(agrees, || "an energy is stated without the efficiency of lasers, or the other way round".into());
        return Some(tally.into_check("energy", ""));
    };
    let mut of_step_w = vec![0.0; plan.steps.len()];
    for (configuration, light) in circuits.configurations().iter().zip(circuits.light()) {
        let needed = light.paths.iter().filter_map(|path| needed_dbm(geometry, &power, path));
        let watts = needed.map(milliwatts).sum::<f64>() / 1000.0 / efficiency;
        for &step in &configuration.steps {
            if let Some(of_step) = of_step_w.get_mut(step) {
                *of_step = watts;
            }
        }
    }
    let count_agrees = stated.steps_j.len() == plan.steps.len();
    tally.expect(count_agrees, || {
        format!("{} steps have an energy, where the plan has {}", stated.steps_j.len(), plan.steps.len())
    });
    let mut total_j = 0.0;
    let (mut changes_j, mut bits) = (0.0, 0.0);
    for (index, (step, watts)) in plan.steps.iter().zip(&of_step_w).enumerate() {
        let step_j = watts * step.cost.terms().iter().sum::<f64>();
        total_j += step_j;
        changes_j += watts * step.cost.reconfiguration_s;
        bits += 8.0 * step.transfer_bytes * step.step.traffic().expanded().iter().map(|one| one.weight).sum::<f64>();
        let said = stated.steps_j.get(index).copied().unwrap_or(f64::NAN);
        tally.expect(agree(said, step_j, TOLERANCE), || {
            format!("step {index}: its lasers take {step_j} J, and {said} J are stated")
        });
    }
    let per_bit = if bits > 0.0 { 1e12 * total_j / bits } else { 0.0 };
    for (noun, said, found) in [
        ("J of all changes", stated.changes_j, changes_j),
        ("J in all", stated.total_j, total_j),
        ("bits", stated.sent_bits, bits),
        ("pJ for each bit", stated.picojoules_per_bit, per_bit),
    ] {
        tally.expect(agree(said, found, TOLERANCE), || format!("{said} {noun} are stated, and there are {found}"));
    }
    Some(tally.into_check("number", "of the lasers' energy, recomputed from their power and the plan's times"))
}

/// dBm that a circuit's laser has to launch; `None` where its path leads nowhere.
fn needed_dbm(geometry: Geometry<'_>, power: &LaunchPower, path: &LightPath) -> Option<f64> {
    Some(power.sensitivity_dbm + geometry.loss_db(&path.mzis)? + power.margin_db)
}

fn milliwatts(level_dbm: f64) -> f64 {
    (level_dbm / 10.0 * std::f64::consts::LN_10).exp()
}
