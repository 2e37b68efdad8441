//! Given starts, delays per port, and what is refused.

use lightloom_planners::{Bridge, Planner};
use model::{Collective, Initial, ReconfigurationDelay};

use super::setting::{Setting, bridge, circulant, near, paper, problem, ring};

#[test]
fn a_given_start_is_charged_and_may_be_used() {
    let slow = Setting { size_bytes: 1 << 26, delay_s: 1e-4, ..paper("bruck-doubling", Collective::AllGather) };
    let free = bridge().choose(&problem(slow, Initial::Free)).unwrap();
    let from_ring = bridge().choose(&problem(slow, Initial::Topology(ring(64)))).unwrap();
    assert_eq!((free.reconfigurations(), from_ring.reconfigurations()), (2, 3));
    assert!(near(from_ring.total_s, free.total_s + slow.delay_s));
    // A start that serves every step is kept where changes are slow.
    let slow = Setting { ports: 2, delay_s: 1.0, ..slow };
    let torus = circulant(64, &[(1, 1), (8, 1)]);
    let kept = bridge().choose(&problem(slow, Initial::Topology(torus))).unwrap();
    assert_eq!(kept.reconfigurations(), 0);
}

/// Only the circuits between blocks change: with blocks of four, a quarter of the ports.
#[test]
fn a_change_of_blocks_moves_the_ports_at_their_ends() {
    let mut problem = problem(Setting { size_bytes: 1 << 26, ..paper("bruck", Collective::AllToAll) }, Initial::Free);
    problem.fabric.reconfiguration = ReconfigurationDelay::per_port(0.0, 1e-6).into();
    let plan = Bridge::with_optical_ports(64, 32).unwrap().choose(&problem).unwrap().into_plan(true).unwrap();
    let changes: Vec<f64> = plan.steps.iter().map(|step| step.cost.reconfiguration_s * 1e6).collect();
    let hops: Vec<u32> = plan.steps.iter().map(|step| step.hops).collect();
    assert_eq!(changes.iter().map(|ports| ports.round()).collect::<Vec<_>>(), [0.0, 0.0, 0.0, 16.0, 16.0, 16.0]);
    // §3.7: not one hop but 2n/z.
    assert_eq!(hops, [1, 2, 4, 4, 4, 4]);
    assert!(lightloom::verify_plan(&plan).passed());
}

#[test]
fn what_is_not_bruck_is_refused_with_what_would_be_taken() {
    let ring_s = problem(Setting { algorithm: "ring", ..paper("ring", Collective::AllGather) }, Initial::Free);
    let wide = problem(Setting { radix: 4, ..paper("bruck", Collective::AllToAll) }, Initial::Free);
    let ternary = problem(Setting { radix: 3, ports: 2, ..paper("bruck", Collective::AllToAll) }, Initial::Free);
    let in_blocks = Bridge::with_optical_ports(64, 64).unwrap();
    for (planner, problem, reason) in [
        (Bridge::EVERY_GPU, &ring_s, "algorithms bruck, bruck-doubling"),
        (Bridge::EVERY_GPU, &wide, "3 peers in a step and 1 port"),
        (in_blocks, &ternary, "radix 2 that send in one direction"),
    ] {
        let error = planner.choose(problem).err().unwrap().to_string();
        assert!(error.starts_with("planner: bridge refuses") && error.contains(reason), "{error}");
    }
    for ports in [0, 1, 2, 3, 127, 50] {
        // 127 ports make blocks of two; 50 ones of three, which do not divide 64.
        let made = Bridge::with_optical_ports(64, ports);
        assert_eq!(made.map(|planner| planner.block()).ok(), (ports == 127).then_some(2), "{ports}");
    }
    assert_eq!(Bridge::with_optical_ports(64, 128).unwrap(), Bridge::EVERY_GPU);
}
