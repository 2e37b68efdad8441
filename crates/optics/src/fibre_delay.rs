//! The time of light through the fibres of a plan's circuits.

use model::{Configuration, FibreDelay, Light, MziMesh, Plan, sum_seconds};

/// The delay of fibres in a plan, whose hop delay is one for all circuits: for each step its hops times the delay of
/// the circuit with the most fibre, so that no path takes longer. `None` where nothing is said about lengths.
pub(crate) fn fibre_delay(
    plan: &Plan,
    configurations: &[Configuration],
    light: &[Light],
    mesh: &MziMesh,
) -> Option<FibreDelay> {
    let lengths = mesh.fibre_lengths.as_ref()?;
    let mut steps_s = vec![0.0; plan.steps.len()];
    for (configuration, light) in configurations.iter().zip(light) {
        let most_m = light.paths.iter().filter_map(|path| path.fibre_m).fold(0.0, f64::max);
        for &step in &configuration.steps {
            steps_s[step] = lengths.delay_s(most_m) * f64::from(plan.steps[step].hops);
        }
    }
    let total_s = sum_seconds(steps_s.iter().copied());
    Some(FibreDelay { steps_s, total_s })
}
