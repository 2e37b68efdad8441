//! Subtori (§5): every sequence of topologies on small tori, the closed form, the baselines.

use collectives::Options;
use lightloom_planners::{Bridge, Planner, Problem, find};
use model::{Collective, CostSettings, Fabric, Initial, ReconfigurationDelay, ReconfigurationPolicy, Shape};
use proptest::prelude::*;

use super::setting::{BYTE_S, bridge, check, near};

const COLLECTIVES: [Collective; 4] =
    [Collective::AllToAll, Collective::ReduceScatter, Collective::AllGather, Collective::AllReduce];

#[derive(Debug, Clone)]
struct Setting {
    collective: Collective,
    dims: Vec<u32>,
    ports: u32,
    size_bytes: u64,
    startup_s: f64,
    hop_s: f64,
    delay_s: f64,
}

fn torus(collective: Collective, dims: &[u32], ports: u32) -> Setting {
    let dims = dims.to_vec();
    Setting { collective, dims, ports, size_bytes: 1 << 20, startup_s: 5e-7, hop_s: 5e-7, delay_s: 1e-5 }
}

fn problem_by(algorithm: &str, setting: &Setting, initial: &str, candidates: &[&str]) -> Problem {
    let shape = Shape::new(setting.dims.iter().product(), &setting.dims, setting.ports).unwrap();
    let algorithm = collectives::find(algorithm).unwrap();
    let schedule = algorithm.build(setting.collective, &shape, &Options::default()).unwrap();
    let build = |name: &&str| topologies::build(name, &shape).unwrap();
    let candidates = candidates.iter().map(build).collect();
    let initial = if initial == "free" { Initial::Free } else { Initial::Topology(build(&initial)) };
    let fabric = Fabric {
        shape,
        bandwidth_bps: 8.0 / BYTE_S,
        startup_s: setting.startup_s,
        barrier_s: 0.0,
        hop_delay_s: setting.hop_s,
        reconfiguration: ReconfigurationPolicy::constant(setting.delay_s),
        initial,
        optics: None,
        electrical: None,
    };
    Problem::new(schedule, fabric, CostSettings::default(), setting.size_bytes, candidates).unwrap()
}

fn problem(setting: &Setting, initial: &str) -> Problem {
    problem_by("bruck-torus", setting, initial, &["ring"])
}

/// A step by the paper's formulas on sizes that are powers of two: by dimension the share of m that a rank sends
/// along it, and the exponent of the distance.
struct ReferenceStep {
    shares: Vec<f64>,
    exponent: u32,
}

/// The steps of a part for each dimension: round k takes digit k of the dimensions that have it, part p from
/// dimension p on.
fn reference_steps(setting: &Setting) -> Vec<ReferenceStep> {
    let parts = setting.dims.len();
    let mut by_part: Vec<Vec<(usize, u32)>> = vec![Vec::new(); parts];
    for exponent in 0..setting.dims.iter().map(|size| size.ilog2()).max().unwrap() {
        for (part, turns) in by_part.iter_mut().enumerate() {
            let order = (part..part + parts).map(|j| j % parts);
            turns.extend(order.filter(|&dim| exponent < setting.dims[dim].ilog2()).map(|dim| (dim, exponent)));
        }
    }
    let half = |gathers: bool| {
        let mut steps: Vec<ReferenceStep> = (0..by_part[0].len())
            .map(|step| {
                // An All-to-All sends half of what there is in every step; a ReduceScatter half of what is left.
                let halvings = if setting.collective == Collective::AllToAll { 1 } else { step as i32 + 1 };
                let share = 0.5f64.powi(halvings) / parts as f64;
                let mut shares = vec![0.0; parts];
                by_part.iter().for_each(|turns| shares[turns[step].0] += share);
                ReferenceStep { shares, exponent: by_part[0][step].1 }
            })
            .collect();
        if gathers {
            steps.reverse();
        }
        steps
    };
    match setting.collective {
        Collective::AllReduce => half(false).into_iter().chain(half(true)).collect(),
        collective => half(collective == Collective::AllGather),
    }
}

/// The least time over all sequences of offsets, one by one; `None` stands for a dimension without circuits.
fn over_all_sequences(setting: &Setting) -> f64 {
    let mut topologies: Vec<Vec<Option<u32>>> = vec![Vec::new()];
    for size in &setting.dims {
        let options: Vec<Option<u32>> = (0..size.ilog2()).map(Some).chain([None]).collect();
        topologies = topologies
            .iter()
            .flat_map(|so_far| options.iter().map(|option| [&so_far[..], &[*option]].concat()))
            .collect();
    }
    let step_s = |step: &ReferenceStep, topology: &[Option<u32>]| {
        let lit = topology.iter().flatten().count() as u32;
        if lit == 0 || lit > setting.ports {
            return f64::INFINITY;
        }
        let circuits = f64::from(setting.ports / lit);
        let (mut hops, mut loads): (f64, f64) = (0.0, 0.0);
        for (share, offset) in step.shares.iter().zip(topology) {
            if *share > 0.0 {
                let Some(offset) = offset.filter(|offset| *offset <= step.exponent) else { return f64::INFINITY };
                let along = f64::from(1u32 << (step.exponent - offset));
                hops = hops.max(along);
                loads = loads.max(share * along / circuits);
            }
        }
        setting.startup_s + setting.hop_s * hops + BYTE_S * setting.size_bytes as f64 * loads
    };
    let steps = reference_steps(setting);
    let costs: Vec<Vec<f64>> =
        steps.iter().map(|step| topologies.iter().map(|topology| step_s(step, topology)).collect()).collect();
    fn least_s(costs: &[Vec<f64>], before: Option<usize>, delay_s: f64) -> f64 {
        let Some((first, rest)) = costs.split_first() else { return 0.0 };
        let possible = (0..first.len()).filter(|&topology| first[topology].is_finite());
        let total_s = |topology: usize| {
            let change_s = if before.is_some_and(|before| before != topology) { delay_s } else { 0.0 };
            change_s + first[topology] + least_s(rest, Some(topology), delay_s)
        };
        possible.map(total_s).fold(f64::INFINITY, f64::min)
    }
    least_s(&costs, None, setting.delay_s)
}

fn grids(dims: &[&[u32]]) -> Vec<Vec<u32>> {
    dims.iter().map(|dims| dims.to_vec()).collect()
}

fn settings(dims: Vec<Vec<u32>>) -> impl Strategy<Value = Setting> {
    let grid = (prop::sample::select(COLLECTIVES.to_vec()), prop::sample::select(dims), 0u32..5);
    (grid, 0u32..31, -9.0f64..-5.0, -9.0f64..-5.0, -9.0f64..-2.5).prop_map(
        |((collective, dims, spare), log_size, startup, hop, delay)| Setting {
            collective,
            ports: dims.len() as u32 + spare,
            dims,
            size_bytes: 1 << log_size,
            startup_s: 10f64.powf(startup),
            hop_s: 10f64.powf(hop),
            delay_s: 10f64.powf(delay),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(60)))]

    #[test]
    fn equals_the_best_of_all_sequences(
        setting in settings(grids(&[&[2, 2], &[2, 4], &[8, 2], &[4, 4], &[2, 2, 2], &[2, 4, 2]])),
    ) {
        // All sequences of an AllReduce on more are too many.
        let is_small = setting.dims.iter().product::<u32>() <= 8;
        let collective = if is_small { setting.collective } else { Collective::ReduceScatter };
        let collective = if setting.collective == Collective::AllReduce { collective } else { setting.collective };
        let setting = Setting { collective, ..setting };
        let choice = bridge().choose(&problem(&setting, "free")).unwrap();
        let expected = over_all_sequences(&setting);
        prop_assert!((choice.total_s - expected).abs() <= 1e-9 * expected, "{} {}", choice.total_s, expected);
        prop_assert!(bridge().choose_within(&problem(&setting, "free"), choice.total_s * 0.999).unwrap().is_none());
        check(choice)?;
    }

    /// One topology throughout is one of its sequences: no slower than tori that never change, one-way or two-way, or
    /// the torus at the start.
    #[test]
    fn is_no_slower_than_a_torus_that_never_changes(
        setting in settings(grids(&[&[4, 4], &[8, 8], &[2, 16], &[4, 2, 8], &[4, 4, 4]])),
        from_torus in prop::bool::ANY,
    ) {
        let tori: &[&str] = if from_torus { &["torus"] } else { &["torus", "torus:one-way"] };
        let given = problem_by("bruck-torus", &setting, "free", tori);
        let never_s = find("static").unwrap().choose(&given).unwrap().total_s;
        let initial = if from_torus { "torus" } else { "free" };
        let choice = bridge().choose(&problem(&setting, initial)).unwrap();
        prop_assert!(choice.total_s <= never_s * (1.0 + 1e-9), "{} {}", choice.total_s, never_s);
        check(choice)?;
    }
}

/// Every torus of two or three dimensions with at most 64 GPUs: the plan computes its collective.
#[test]
#[ignore = "large: make test-large"]
fn plans_of_all_tori_pass() {
    let mut grids: Vec<Vec<u32>> = Vec::new();
    for first in 2..=32u32 {
        for second in 2..=64 / first {
            grids.push(vec![first, second]);
            grids.extend((2..=64 / first / second).map(|third| vec![first, second, third]));
        }
    }
    assert_eq!(grids.len(), 153 + 147);
    for dims in grids {
        for collective in COLLECTIVES {
            let setting = torus(collective, &dims, dims.len() as u32);
            let choice = bridge().choose(&problem(&setting, "free")).unwrap();
            check(choice).unwrap_or_else(|error| panic!("{collective:?} {dims:?}: {error}"));
        }
    }
}

/// On a^D GPUs, D ≤ d ports, R changes of an All-to-All at even distances: s·α + (R + 1)·D·(a^(1/(R+1)) − 1)·(δ +
/// β·m/2d) + R·α_r, where a ring takes (R + 1)·(n^(1/(R+1)) − 1) in place of the middle factor.
#[test]
fn evenly_spaced_changes_have_a_closed_form() {
    for (size, dimensions) in [(16u32, 2u32), (4, 2), (4, 3), (2, 3)] {
        let dims = vec![size; dimensions as usize];
        let gpus: u32 = dims.iter().product();
        let setting = torus(Collective::AllToAll, &dims, 2 * dimensions);
        let per_hop_s = setting.hop_s + BYTE_S * setting.size_bytes as f64 / 2.0 / f64::from(setting.ports);
        let steps = f64::from(gpus.ilog2());
        for segments in (1..=size.ilog2()).filter(|segments| size.ilog2().is_multiple_of(*segments)) {
            let (changes, root) = (f64::from(segments - 1), f64::from(1u32 << (size.ilog2() / segments)));
            let expected = steps * setting.startup_s
                + f64::from(segments * dimensions) * (root - 1.0) * per_hop_s
                + changes * setting.delay_s;
            let found =
                Bridge::EVERY_GPU.choose_with(&problem(&setting, "free"), segments as usize - 1).unwrap().unwrap();
            assert!(near(found.total_s, expected), "{dims:?} {segments}: {} {expected}", found.total_s);
            let line = problem_by("bruck", &setting, "free", &["ring"]);
            let ring = Bridge::EVERY_GPU.choose_with(&line, segments as usize - 1).unwrap().unwrap();
            assert!(found.total_s <= ring.total_s * (1.0 + 1e-12), "{dims:?} {segments}");
        }
    }
}

/// 8×8, all steps direct: two changes, where a ring of 64 takes five.
#[test]
fn all_dimensions_change_at_once() {
    let setting = Setting { delay_s: 1e-9, ..torus(Collective::ReduceScatter, &[8, 8], 2) };
    let plan = bridge().choose(&problem(&setting, "free")).unwrap().into_plan(true).unwrap();
    assert!(plan.steps.iter().all(|step| step.hops == 1));
    assert_eq!(plan.reconfigurations(), 2);
    let names: Vec<&str> = plan.topologies.iter().map(model::Topology::name).collect();
    assert_eq!(names, ["torus:8x8,one-way", "shifted-torus:8x8:2,2,one-way", "shifted-torus:8x8:4,4,one-way"]);
}

/// Charged for each port that changes: a dimension may change without the other, whose circuits stay.
#[test]
fn a_charge_by_ports_is_chosen_by() {
    let setting = Setting { size_bytes: 1 << 26, ..torus(Collective::AllToAll, &[4, 16], 2) };
    let mut given = problem(&setting, "free");
    given.fabric.reconfiguration = ReconfigurationPolicy::from(ReconfigurationDelay::per_port(0.0, 1e-7));
    let choice = bridge().choose(&given).unwrap();
    // No sequence of the class is cheaper: the shortest path of HARVEST on the same candidates.
    let known = choice.problem.table.clone();
    let candidates = (0..known.candidates()).map(|index| known.candidate(index).clone()).collect();
    let same = given.with(given.schedule().clone(), given.settings, candidates).unwrap();
    let expected = find("harvest").unwrap().choose(&same).unwrap().total_s;
    assert!((choice.total_s - expected).abs() <= 1e-9 * expected, "{} {expected}", choice.total_s);
    let total_s = choice.total_s;
    let plan = choice.into_plan(true).unwrap();
    assert!((plan.total_s() - total_s).abs() <= 1e-9 * total_s);
    assert!(lightloom::verify_plan(&plan).passed());
    assert!(plan.reconfigurations() > 0);
}

#[test]
fn too_few_ports_and_blocks_are_refused() {
    let given = problem(&torus(Collective::AllToAll, &[4, 4], 1), "free");
    let error = bridge().choose(&given).err().unwrap().to_string();
    assert!(error.contains("ranks have 2 peers in a step and 1 port; it takes a port for each peer"), "{error}");
    let given = problem(&torus(Collective::AllToAll, &[4, 4], 2), "free");
    let error = Bridge::with_optical_ports(16, 16).unwrap().choose(&given).err().unwrap().to_string();
    assert!(error.contains("along a line of GPUs, not a torus"), "{error}");
}
