//! The electrical energy of the lasers of a plan's circuits.

use model::{Configuration, LaserEnergy, Light, MziMesh, Plan, sum_seconds};

/// The energy of a plan on a mesh; `None` where the efficiency of its lasers is not known.
///
/// The lasers of a configuration's circuits are lit during its steps, from the change that the first of them is charged
/// to the end of the last: none is switched off while it waits. A change that is hidden, and the computation before a
/// step, take none of the plan's time and no energy here.
pub(crate) fn laser_energy(
    plan: &Plan,
    configurations: &[Configuration],
    light: &[Light],
    mesh: &MziMesh,
) -> Option<LaserEnergy> {
    let efficiency = mesh.launch_power?.laser_efficiency?;
    let mut power_w = vec![0.0; plan.steps.len()];
    for (configuration, light) in configurations.iter().zip(light) {
        let launch_mw = sum_seconds(light.paths.iter().filter_map(|path| path.launch_mw));
        configuration.steps.iter().for_each(|&step| power_w[step] = launch_mw * 1e-3 / efficiency);
    }
    let steps = || plan.steps.iter().zip(&power_w);
    let steps_j: Vec<f64> = steps().map(|(step, power_w)| power_w * step.cost.total_s()).collect();
    let changes_j = sum_seconds(steps().map(|(step, power_w)| power_w * step.cost.reconfiguration_s));
    let total_j = sum_seconds(steps_j.iter().copied());
    let sent = plan.steps.iter().map(|step| {
        let traffic = step.step.traffic();
        let of_class = f64::from(traffic.symmetry().order());
        8.0 * step.transfer_bytes * of_class * traffic.arcs().iter().map(|arc| arc.weight).sum::<f64>()
    });
    let sent_bits = sum_seconds(sent);
    let picojoules_per_bit = if sent_bits > 0.0 { total_j / sent_bits * 1e12 } else { 0.0 };
    Some(LaserEnergy { steps_j, changes_j, total_j, sent_bits, picojoules_per_bit })
}
