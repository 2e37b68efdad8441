//! From topologies to light: commands for switches, circuits through meshes of MZIs, and fibres between servers.
//!
//! ```text
//! Plan ─▶ what is held, and when ─▶ kind of fabric: circuits to ports ─▶ Circuits
//! ```
//!
//! A [`Kind`] of fabric says which switches there are and whose transmitters and receivers are at their ports; each has
//! a file in `kinds/`. A kind assigns the circuits of all topologies to ports so that few connections change.

mod charge;
mod circuit;
mod cutoffs;
mod energy;
mod fibre_delay;
pub mod fibres;
mod grid;
mod groups;
mod held;
mod iteration;
mod kind;
mod kinds;
pub mod mesh;
mod mixed_rates;
mod optics;
mod parallel;
mod rounds;
mod shared_ports;

use charge::{SwitchChange, charged_s, in_background};
use energy::laser_energy;
use fibre_delay::fibre_delay;
use model::{Circuits, Configuration, Error, Plan, Result, SwitchSetting, sum_seconds};

pub use circuit::Circuit;
pub use grid::{Grid, Side};
pub use held::{Held, PlannedChange};
pub use iteration::iteration_circuits;
pub use kind::{Assignment, Kind, PortMap};
pub use kinds::REGISTRY;
pub use optics::Optics;
pub use rounds::rounds;

/// The circuits of a plan on ports, and how good the assignment is.
#[derive(Debug, Clone, PartialEq)]
pub struct Assigned {
    /// The instructions for the switches.
    pub circuits: Circuits,
    /// Lower bound on the connections that any assignment on these switches sets up after the first configuration.
    pub least_connects: u64,
    /// Seconds that the plan's rule charges for what changes on these ports, all changes together.
    pub charged_s: f64,
}

/// Puts the circuits of `plan` on the ports of `optics`.
///
/// # Errors
/// Switches with too few ports, parameters that do not go with the plan's GPUs, or a topology that the fabric cannot
/// have, with its step.
pub fn circuits(plan: &Plan, optics: &Optics) -> Result<Assigned> {
    if plan.fabric.shape.subset().is_some() && !optics.holds_all() {
        let reason = "a plan among some GPUs of a fabric has circuits on ports of their own: crossbar or parallel";
        return Err(Error::refused("optics", optics.spelling(), reason));
    }
    optics.check_faults(&plan.fabric.shape)?;
    let held = held::of_plan(plan);
    let ports = optics.port_map(&plan.fabric.shape)?;
    let assignment = optics.assign(&plan.fabric, &held)?;
    let light = optics.light(&plan.fabric, &held, &assignment)?;
    let Assignment { connections, least_connects } = assignment;
    let mut before = vec![Vec::new(); ports.switches.len()];
    let mut configurations = Vec::with_capacity(held.len());
    let mut charges_s = Vec::with_capacity(held.len());
    for (Held { index: topology, steps, mut time_s, change, .. }, connections) in held.into_iter().zip(connections) {
        let set = |(before, now): (&Vec<_>, _)| {
            SwitchSetting::after(before, now).with_wavelengths(|connection| optics.wavelength(connection))
        };
        let switches: Vec<SwitchSetting> = before.iter().zip(connections).map(set).collect();
        if let Some(planned) = change {
            let changes: Vec<SwitchChange> =
                before.iter().zip(&switches).map(|(before, setting)| SwitchChange::of(before, setting)).collect();
            charges_s.push(charged_s(&plan.fabric, planned, &changes));
            // Ports that carry the step before cannot be moved while it runs.
            if !in_background(&plan.fabric, planned, &changes) {
                time_s = planned.from_s;
            }
        }
        before = switches.iter().map(|setting| setting.connections.clone()).collect();
        configurations.push(Configuration { topology, steps, time_s, switches, events: None });
    }
    let mesh = optics.mesh(&plan.fabric.shape)?;
    let energy = mesh.as_ref().and_then(|mesh| laser_energy(plan, &configurations, &light, mesh));
    let delay = mesh.as_ref().and_then(|mesh| fibre_delay(plan, &configurations, &light, mesh));
    let circuits =
        Circuits::new(ports.switches, configurations).map_err(|error| error.in_field("names"))?.with_light(light)?;
    let circuits = match mesh {
        Some(mesh) => circuits.with_mesh(mesh)?,
        None => circuits,
    };
    let circuits = match energy {
        Some(energy) => circuits.with_energy(energy)?,
        None => circuits,
    };
    let circuits = match delay {
        Some(delay) => circuits.with_fibre_delay(delay)?,
        None => circuits,
    };
    Ok(Assigned { circuits, least_connects, charged_s: sum_seconds(charges_s) })
}
