//! Few searches serve many points, and each gets what a search of its own finds.
use collectives::Options;
use lightloom_planners::{Envelope, OperatingPoint, Problem, find};
use model::{Collective, CostSettings, Error, Fabric, Initial, ReconfigurationPolicy, Shape};

fn problem() -> Problem {
    let shape = Shape::new(16, &[], 2).unwrap();
    let schedule =
        collectives::find("swing").unwrap().build(Collective::AllReduce, &shape, &Options::default()).unwrap();
    let patterns: Vec<&model::Traffic> = schedule.steps().iter().map(|step| step.traffic()).collect();
    let families: Vec<String> = topologies::candidates::defaults().into_iter().map(str::to_string).collect();
    let candidates = topologies::candidates::build(&families, &shape, &patterns, 0).unwrap();
    let fabric = Fabric {
        shape,
        bandwidth_bps: 8e11,
        startup_s: 500e-9,
        barrier_s: 0.0,
        hop_delay_s: 500e-9,
        reconfiguration: ReconfigurationPolicy::constant(1e-6),
        initial: Initial::Free,
        optics: None,
        electrical: None,
    };
    let candidates = topologies::candidates::dedupe(candidates);
    Problem::new(schedule, fabric, CostSettings::default(), 1 << 20, candidates).unwrap()
}

/// Sizes up to 1 GiB against delays up to 10 ms.
fn points(problem: &Problem, along: i32) -> Vec<OperatingPoint> {
    let own = OperatingPoint::of(&problem.fabric, problem.size_bytes);
    let pairs = (0..along).flat_map(|row| (0..along).map(move |column| (row, column)));
    let one = |(row, column): (i32, i32)| OperatingPoint {
        size_bytes: (1024.0 * 2f64.powf(20.0 * f64::from(row) / f64::from(along))) as u64,
        reconfiguration_delay_s: 1e-8 * 10f64.powf(6.0 * f64::from(column) / f64::from(along)),
        ..own
    };
    pairs.map(one).collect()
}

#[test]
fn searches_grow_far_slower_than_points() {
    let problem = problem();
    let harvest = find("harvest").unwrap();
    let search = |at: &OperatingPoint| harvest.choose(&problem.at(at));
    let coarse = Envelope::of(&points(&problem, 40), search).unwrap();
    let fine = Envelope::of(&points(&problem, 160), search).unwrap();
    assert!(fine.searches < 3 * coarse.searches, "{} {}", fine.searches, coarse.searches);
    assert!(fine.searches < 160 * 160 / 10, "{}", fine.searches);
    assert!(fine.pieces.len() > 5, "{}", fine.pieces.len());
}

#[test]
fn a_refusal_is_handed_on() {
    let refused = Envelope::of(&points(&problem(), 2), |_| Err(Error::infeasible("candidates", "none")));
    assert!(refused.is_err_and(|error| error.field() == "candidates"));
    let none = Envelope::of(&[], |_| Err(Error::infeasible("candidates", "none"))).unwrap();
    assert!(none.pieces.is_empty() && none.of_point.is_empty());
}
