//! A simulation takes nothing from a plan that transfers, circuits, routes and fabric make, and nothing from the last
//! bits of shares.
use crate::plans::fabric;
use crate::plans::planned;

use fabric::fabric;
use lightloom_simulate::{
    Forwarding, Injection, Level, ReconfigurationScope, Settings, Synchronisation, simulate, step_s,
};
use model::{
    Collective, Initial, Overlap, Plan, PlanParts, ReconfigurationOverlap, ReconfigurationPolicy, StepCost, Window,
};
use planned::planned;
use proptest::prelude::*;

/// Plans that change circuits, at once or in the background, and one whose traffic is split.
fn any_plan() -> impl Strategy<Value = Plan> {
    let kinds = prop::sample::select(vec![
        (vec![8], 1, Collective::AllReduce, "recursive-doubling", None),
        (vec![8], 2, Collective::ReduceScatter, "recursive-doubling", None),
        (vec![8], 2, Collective::AllReduce, "swing", None),
        (vec![7], 2, Collective::AllToAll, "direct", Some("kautz")),
        (vec![3, 4], 4, Collective::AllToAll, "direct", Some("torus")),
        (vec![7], 2, Collective::Broadcast, "binary-tree", Some("kautz")),
    ]);
    let delays = (prop::sample::select(vec![0.0, 200e-9, 3e-6]), any::<bool>(), prop::sample::select(vec![0.0, 1e-7]));
    (kinds, 1_u64..100, delays).prop_map(|(kind, size, (fixed_s, background, every_s))| {
        let (dims, ports, collective, algorithm, topology) = kind;
        let mut fabric = fabric(&dims, ports);
        let overlap = ReconfigurationOverlap { background, window: Window { every_s, ..Window::default() } };
        fabric.reconfiguration = ReconfigurationPolicy::constant(fixed_s).with_overlap(overlap);
        fabric.initial = Initial::Topology(topologies::build("ring", &fabric.shape).unwrap());
        planned(fabric, collective, algorithm, size * 4099, topology)
    })
}

fn any_settings() -> impl Strategy<Value = Settings> {
    (
        prop::sample::select(Level::ALL),
        prop::sample::select(Injection::ALL),
        prop::sample::select(Forwarding::ALL),
        prop::sample::select(Synchronisation::ALL),
        prop::sample::select(ReconfigurationScope::ALL),
    )
        .prop_map(|(level, injection, forwarding, sync, reconfiguration)| Settings {
            level,
            payload_bytes: 1000,
            header_bytes: 16,
            injection,
            forwarding,
            sync,
            reconfiguration,
            ..Settings::default()
        })
}

/// The plan with other parts.
fn other(plan: &Plan, change: impl FnOnce(&mut PlanParts)) -> Plan {
    let mut parts = PlanParts::clone(plan);
    change(&mut parts);
    Plan::new(parts).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(200)))]

    #[test]
    fn what_a_plan_states_makes_no_difference(
        plan in any_plan(), settings in any_settings(), lies in prop::collection::vec(0.0_f64..2e-5, 4), scale in 0.1_f64..9.0
    ) {
        let stated = other(&plan, |parts| {
            for step in &mut parts.steps {
                let [startup_s, propagation_s, transmission_s, late_s] = lies[..] else { unreachable!() };
                let reconfiguration_s = if step.reconfigured { late_s } else { 0.0 };
                step.cost = StepCost { startup_s, propagation_s, transmission_s, reconfiguration_s, barrier_s: 0.0 };
                (step.hops, step.load) = (step.hops + 3, step.load * scale);
                step.transfer_bytes *= scale;
            }
            parts.bound.seconds = 0.0;
        });
        prop_assert_eq!(simulate(&stated, &settings), simulate(&plan, &settings));
    }

    /// At flow level a byte may be rounded to another path.
    #[test]
    fn rounding_of_shares_makes_no_difference(
        plan in any_plan(), settings in any_settings(), noise in prop::collection::vec(-4_i32..5, 64)
    ) {
        let mut steps = noise.iter().cycle();
        let noisy = other(&plan, |parts| {
            for path in parts.steps.iter_mut().flat_map(|step| &mut step.routes.arcs).flat_map(|arc| &mut arc.paths) {
                path.share *= 1.0 + f64::from(*steps.next().unwrap()) * f64::EPSILON;
            }
        });
        let [exact_s, noisy_s] = [&plan, &noisy].map(|plan| simulate(plan, &settings).unwrap().total_s());
        let close = if settings.level == Level::Packet { 0.0 } else { 1e-3 };
        prop_assert!((exact_s - noisy_s).abs() <= close * exact_s, "{exact_s} {noisy_s}");
    }

    #[test]
    fn a_step_alone_takes_what_it_takes_among_others(plan in any_plan()) {
        let found = simulate(&plan, &Settings::default()).unwrap();
        for (index, step) in found.steps.iter().enumerate() {
            let transfer_fs = step.duration_fs() - step.reconfiguration_fs - step.startup_fs;
            prop_assert_eq!(step_s(&plan, index), Ok(transfer_fs as f64 / 1e15));
        }
    }

    /// The charge in a plan by packets is the dark time in the simulation.
    #[test]
    fn changes_take_what_a_pipelined_plan_is_charged(plan in any_plan()) {
        let (mut before_s, mut expected) = (0.0, Vec::new());
        let mut in_force = match &plan.fabric.initial {
            Initial::Topology(topology) => topology,
            Initial::Free | Initial::Repeated => unreachable!(),
        };
        for (index, step) in plan.steps.iter().enumerate() {
            let now = &plan.topologies[step.topology];
            let policy = &plan.fabric.reconfiguration;
            let change = policy.between(in_force, now, plan.fabric.shape.ports());
            let delay_s = if in_force.same_links(now) { 0.0 } else { policy.charge_s(change, index, before_s) };
            before_s = plan.fabric.startup_s + step_s(&plan, index).unwrap();
            in_force = now;
            expected.push(delay_s);
        }
        let found = simulate(&plan, &Settings::default()).unwrap();
        for (step, delay_s) in found.steps.iter().zip(expected) {
            prop_assert!((step.reconfiguration_fs as f64 - delay_s * 1e15).abs() <= 2.0, "{} {delay_s}", step.reconfiguration_fs);
        }
        prop_assert_eq!(plan.settings.overlap, Overlap::Additive);
    }
}
