//! HARVEST's dynamic program: the closed form for recursive doubling, and the state search, each against the
//! paper's algorithm 1 as it is written, with the same step costs at hand; and the lazy search against the
//! same search with every front computed beforehand.

#[path = "../tests/all/reference/algorithm_1.rs"]
mod algorithm_1;

use std::hint::black_box;

use collectives::Options;
use lightloom_planners::{Before, Costs, Problem, StateSearch, optimum};
use model::{Collective, CostSettings, Fabric, Initial, ReconfigurationPolicy, Shape};

fn main() {
    for log_ranks in [6, 10] {
        recursive_doubling(log_ranks);
    }
    direct_all_to_all(64);
    lazy_search(1e-6);
    lazy_search(1e-3);
}

/// AllReduce of 1 MiB at α = δ = 500 ns, α_r = 1 µs, 800 Gbit/s. Algorithm 1 takes its intervals from eq. 8.
fn recursive_doubling(log_ranks: u8) {
    let costs = Costs { startup_s: 500e-9, hop_s: 500e-9, buffer_s: 1_048_576.0 * 8.0 / 8e11, change_s: 1e-6 };
    let half = usize::from(log_ranks);
    let exponent = |step: usize| if step < half { step } else { 2 * half - 1 - step };
    let completion_time = |a: usize, b: usize| {
        let ring = (a - 1..b).map(exponent).min().unwrap_or(0);
        let distances: f64 = (a - 1..b).map(|step| f64::from(1 << (exponent(step) - ring))).sum();
        let steps = (b + 1 - a) as f64;
        let time = steps * (costs.startup_s + costs.buffer_s * 0.5 / f64::from(1 << ring)) + costs.hop_s * distances;
        (ring, time)
    };
    let ours = optimum(Collective::AllReduce, log_ranks, costs).total_s;
    let theirs = algorithm_1::harvest(2 * half, costs.change_s, &completion_time).total_s;
    assert!((ours - theirs).abs() < 1e-12 * theirs);
    let ours_s = ratio::median_s(51, || optimum(Collective::AllReduce, log_ranks, black_box(costs)));
    let theirs_s = ratio::median_s(51, || algorithm_1::harvest(2 * half, black_box(costs.change_s), &completion_time));
    let what = format!("recursive doubling AllReduce, {} GPUs, closed form", 1 << log_ranks);
    ratio::report(&what, ours_s, "algorithm 1", theirs_s);
}

/// Direct All-to-All of 1 MiB on one port, all shifted rings as candidates. Both have every step's cost on
/// every candidate; algorithm 1 is given the best topology of every interval besides.
fn direct_all_to_all(gpus: u32) {
    let shape = Shape::new(gpus, &[], 1).expect("a shape");
    let options = Options::default();
    let direct = collectives::find("direct").expect("registered");
    let schedule = direct.build(Collective::AllToAll, &shape, &options).expect("accepted");
    let rings = (1..gpus).map(|offset| topologies::build(&format!("shifted-ring:{offset}"), &shape).expect("a ring"));
    let fabric = Fabric {
        shape: shape.clone(),
        bandwidth_bps: 8e11,
        startup_s: 500e-9,
        barrier_s: 0.0,
        hop_delay_s: 500e-9,
        reconfiguration: ReconfigurationPolicy::constant(1e-6),
        initial: Initial::Free,
        optics: None,
        electrical: None,
    };
    let problem = Problem::new(schedule, fabric, CostSettings::default(), 1 << 20, rings.collect()).expect("a problem");
    let (steps, candidates) = (problem.table.steps(), problem.table.candidates());
    let cost = |step, candidate| problem.step_cost(step, candidate).map_or(f64::INFINITY, |(cost, ..)| cost.total_s());
    let mut intervals = vec![(0, f64::INFINITY); (steps + 1) * (steps + 1)];
    for candidate in 0..candidates {
        for a in 1..=steps {
            let mut total_s = 0.0;
            for b in a..=steps {
                total_s += cost(b - 1, candidate);
                let best = &mut intervals[a * (steps + 1) + b];
                if total_s < best.1 {
                    *best = (candidate, total_s);
                }
            }
        }
    }
    let completion_time = |a: usize, b: usize| intervals[a * (steps + 1) + b];
    let (rates, charges) = (problem.rates(), problem.charges());
    let run = |rates| StateSearch::new(&problem.table).run(rates, &charges, Before::Nothing, f64::INFINITY);
    let ours = run(&rates).expect("feasible").expect("finite");
    let theirs = algorithm_1::harvest(steps, 1e-6, &completion_time).total_s;
    assert!((ours - theirs).abs() < 1e-12 * theirs);
    let ours_s = ratio::median_s(31, || run(black_box(&rates)));
    let theirs_s = ratio::median_s(5, || algorithm_1::harvest(steps, black_box(1e-6), &completion_time));
    ratio::report(&format!("direct All-to-All, {gpus} GPUs, state search"), ours_s, "algorithm 1", theirs_s);
}

/// Bruck's All-to-All of 1 MiB on an 8x8 fabric with four ports, from the problem to the choice. Most patterns
/// have no symmetry in common with the generalised Kautz graph and the random lift.
fn lazy_search(delay_s: f64) {
    let shape = Shape::new(64, &[8, 8], 4).expect("a shape");
    let bruck = collectives::find("bruck").expect("registered");
    let schedule = bruck.build(Collective::AllToAll, &shape, &Options::default()).expect("accepted");
    let names = ["kautz", "random-lift:0", "torus", "ring", "shifted-ring:2", "shifted-ring:4", "shifted-ring:8"];
    let candidates = names.map(|name| topologies::build(name, &shape).expect("a topology"));
    let fabric = Fabric {
        shape: shape.clone(),
        bandwidth_bps: 8e11,
        startup_s: 500e-9,
        barrier_s: 0.0,
        hop_delay_s: 500e-9,
        reconfiguration: ReconfigurationPolicy::constant(delay_s),
        initial: Initial::Free,
        optics: None,
        electrical: None,
    };
    let problem = || {
        let candidates = candidates.to_vec();
        Problem::new(schedule.clone(), fabric.clone(), CostSettings::default(), 1 << 20, candidates).expect("a problem")
    };
    let search = |problem: &Problem| {
        let mut search = StateSearch::new(&problem.table);
        search
            .run(&problem.rates(), &problem.charges(), Before::Nothing, f64::INFINITY)
            .expect("feasible")
            .expect("finite")
    };
    let eager = || {
        let problem = problem();
        let (patterns, candidates) = (problem.table.patterns().len(), problem.table.candidates());
        problem.table.compute_fronts((0..patterns).flat_map(|pattern| (0..candidates).map(move |c| (pattern, c))));
        search(&problem)
    };
    let lazy = || search(&problem());
    assert!((lazy() - eager()).abs() < 1e-12 * eager());
    let (lazy_s, eager_s) = (ratio::median_s(5, lazy), ratio::median_s(5, eager));
    let what = format!("Bruck All-to-All, 8x8, α_r = {delay_s:e} s, bounds before fronts");
    ratio::report(&what, lazy_s, "all fronts", eager_s);
}
