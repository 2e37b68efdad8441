//! The problems of the tests.

use collectives::Options;
use lightloom_planners::{Choice, Planner, Problem, find};
use model::{Collective, CostSettings, Fabric, Initial, Link, ReconfigurationPolicy, Shape, Topology, Translations};
use proptest::prelude::*;

use crate::reference::bridge_vectors::Instance;

pub const ALPHA_S: f64 = 1.7e-6;
pub const DELTA_S: f64 = 1e-6;
pub const BYTE_S: f64 = 8.0 / 8e11;

#[derive(Debug, Clone, Copy)]
pub struct Setting {
    pub algorithm: &'static str,
    pub collective: Collective,
    pub gpus: u32,
    pub ports: u32,
    pub radix: u32,
    pub size_bytes: u64,
    pub startup_s: f64,
    pub hop_s: f64,
    pub delay_s: f64,
}

/// BRIDGE §4.1: 64 GPUs, 800 Gbit/s, α = 1.7 µs, δ = 1 µs, α_r = 10 µs.
pub fn paper(algorithm: &'static str, collective: Collective) -> Setting {
    Setting {
        algorithm,
        collective,
        gpus: 64,
        ports: 1,
        radix: 2,
        size_bytes: 1 << 10,
        startup_s: ALPHA_S,
        hop_s: DELTA_S,
        delay_s: 10e-6,
    }
}

impl Setting {
    pub fn instance(self, from_ring: bool) -> Instance {
        Instance {
            collective: self.collective,
            gpus: self.gpus,
            block: 1,
            size_bytes: self.size_bytes,
            startup_s: self.startup_s,
            hop_s: self.hop_s,
            byte_s: BYTE_S,
            delay_s: self.delay_s,
            from_ring,
        }
    }
}

pub fn circulant(gpus: u32, offsets: &[(u32, u32)]) -> Topology {
    let links = offsets.iter().map(|&(dst, count)| Link { src: 0, dst, count });
    Topology::new(format!("{offsets:?}"), Translations::cyclic(gpus), links).unwrap()
}

pub fn ring(gpus: u32) -> Topology {
    circulant(gpus, &[(1, 1)])
}

pub fn problem(setting: Setting, initial: Initial) -> Problem {
    let shape = Shape::new(setting.gpus, &[], setting.ports).unwrap();
    let options = Options { radix: Some(setting.radix), ..Options::default() };
    let algorithm = collectives::find(setting.algorithm).unwrap();
    let schedule = algorithm.build(setting.collective, &shape, &options).unwrap();
    let fabric = Fabric {
        shape,
        bandwidth_bps: 8e11,
        startup_s: setting.startup_s,
        barrier_s: 0.0,
        hop_delay_s: setting.hop_s,
        reconfiguration: ReconfigurationPolicy::constant(setting.delay_s),
        initial,
        optics: None,
        electrical: None,
    };
    let some_candidate = circulant(setting.gpus, &[(1, setting.ports)]);
    Problem::new(schedule, fabric, CostSettings::default(), setting.size_bytes, vec![some_candidate]).unwrap()
}

pub fn bridge() -> &'static dyn Planner {
    find("bridge").unwrap()
}

pub fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs()
}

/// 1 before every step before which the fabric is reconfigured.
pub fn vector(choice: Choice) -> String {
    let plan = choice.into_plan(true).unwrap();
    assert!(lightloom::verify_plan(&plan).passed(), "{:?}", lightloom::verify_plan(&plan).first_failure());
    plan.steps.iter().map(|step| if step.reconfigured { '1' } else { '0' }).collect()
}

/// Whether a choice makes a plan of the time that it says, not below its bound, that the verifier passes.
pub fn check(choice: Choice) -> Result<(), TestCaseError> {
    let total_s = choice.total_s;
    let plan = choice.into_plan(true).unwrap();
    prop_assert!((plan.total_s() - total_s).abs() <= 1e-9 * total_s);
    prop_assert!(plan.bound.seconds <= total_s * (1.0 + 1e-12));
    let report = lightloom::verify_plan(&plan);
    prop_assert!(report.passed(), "{:?}", report.first_failure());
    Ok(())
}
