//! Plans of a group on one-way rings: all circuits of a topology go from u to u + shift.

use model::{
    Bound, CostSettings, Fabric, Initial, Link, Plan, PlanParts, PlanStep, ReconfigurationPolicy, RoutedEntry,
    RoutedPath, Routes, Shape, StepCost, Topology, Translations,
};

use crate::schedules::doubling_all_gather;

pub const STARTUP_S: f64 = 5e-7;
pub const HOP_S: f64 = 3e-7;
pub const CHANGE_S: f64 = 1e-5;
/// Bytes a second of a port.
pub const BYTES: f64 = 1e11;

pub fn fabric(gpus: u32, ports: u32, initial: Initial) -> Fabric {
    Fabric {
        shape: Shape::new(gpus, &[], ports).unwrap(),
        bandwidth_bps: 8.0 * BYTES,
        startup_s: STARTUP_S,
        barrier_s: 0.0,
        hop_delay_s: HOP_S,
        reconfiguration: ReconfigurationPolicy::constant(CHANGE_S),
        initial,
        optics: None,
        electrical: None,
    }
}

/// `ports` circuits from every GPU to the one `shift` further.
pub fn ring(gpus: u32, ports: u32, shift: u32) -> Topology {
    let link = Link { src: 0, dst: shift % gpus, count: ports };
    Topology::new(format!("shift-{shift}"), Translations::cyclic(gpus), [link]).unwrap()
}

/// Hops from u to u + `offset`.
pub fn hops(gpus: u32, shift: u32, offset: u32) -> u32 {
    (1..gpus).find(|hops| hops * shift % gpus == offset % gpus).unwrap()
}

/// The doubling AllGather whose i-th step, from u to u + 2^i, is on the ring of shift `shifts[i]`: as many transfers
/// are on each link as each takes hops.
pub fn all_gather(gpus: u32, ports: u32, size_bytes: u64, shifts: &[u32], initial: Option<u32>) -> Plan {
    let schedule = doubling_all_gather(gpus, 1);
    let mut used: Vec<u32> = shifts.to_vec();
    used.sort_unstable();
    used.dedup();
    let mut in_force = initial;
    let steps = schedule.steps().iter().zip(shifts).enumerate().map(|(index, (step, &shift))| {
        let offset = 1 << index;
        let hops = hops(gpus, shift, offset);
        let bytes = (size_bytes << index) as f64 / f64::from(gpus);
        let load = f64::from(hops) / f64::from(ports);
        let reconfigured = in_force.replace(shift).is_some_and(|before| before != shift);
        PlanStep {
            step: step.clone(),
            topology: used.iter().position(|&other| other == shift).unwrap(),
            reconfigured,
            transfer_bytes: bytes,
            hops,
            load,
            electrical_load: 0.0,
            routes: Routes {
                symmetry: Translations::cyclic(gpus),
                arcs: vec![RoutedEntry {
                    src: 0,
                    dst: offset,
                    paths: vec![RoutedPath { share: 1.0, nodes: (0..=hops).map(|hop| hop * shift % gpus).collect() }],
                }],
            },
            cost: StepCost {
                startup_s: STARTUP_S,
                propagation_s: HOP_S * f64::from(hops),
                transmission_s: bytes * load / BYTES,
                reconfiguration_s: if reconfigured { CHANGE_S } else { 0.0 },
                barrier_s: 0.0,
            },
        }
    });
    Plan::new(PlanParts {
        algorithm: "recursive-doubling".into(),
        planner: "by hand".into(),
        size_bytes,
        fabric: fabric(gpus, ports, initial.map_or(Initial::Free, |shift| Initial::Topology(ring(gpus, ports, shift)))),
        settings: CostSettings::default(),
        chunks: schedule.chunks().clone(),
        steps: steps.collect(),
        topologies: used.into_iter().map(|shift| ring(gpus, ports, shift)).collect(),
        bound: Bound { seconds: 0.0, class: "any".into() },
        narrow_bound: None,
    })
    .unwrap()
}

/// Seconds of [`all_gather`], by hand: a change where a step's ring is not the one before, but for the first step.
pub fn all_gather_s(gpus: u32, ports: u32, size_bytes: u64, shifts: &[u32]) -> f64 {
    let steps = shifts.iter().zip(0..).map(|(&shift, index)| {
        let hops = f64::from(hops(gpus, shift, 1 << index));
        let bytes = (size_bytes << index) as f64 / f64::from(gpus);
        STARTUP_S + hops * (HOP_S + bytes / f64::from(ports) / BYTES)
    });
    let changes = shifts.windows(2).filter(|pair| pair[0] != pair[1]).count();
    steps.sum::<f64>() + CHANGE_S * changes as f64
}
