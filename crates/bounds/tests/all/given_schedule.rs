//! Bounds for a given schedule, against the best of all 8! one-port topologies of eight ranks in every step.
use lightloom_bounds::{Statement, given_schedule_statements};
use model::{
    Chunks, Collective, CostSettings, Digit, Fabric, Initial, Op, Propagation, Rank, ReconfigurationPolicy, Routing,
    Schedule, Shape, Step, Transfer, Translations,
};
use proptest::prelude::*;

const RANKS: u32 = 8;

fn fabric(startup_s: f64, hop_delay_s: f64, change_s: f64) -> Fabric {
    Fabric {
        shape: Shape::new(RANKS, &[], 1).unwrap(),
        bandwidth_bps: 8e9,
        startup_s,
        barrier_s: 0.0,
        hop_delay_s,
        reconfiguration: ReconfigurationPolicy::constant(change_s),
        initial: Initial::Free,
        optics: None,
        electrical: None,
    }
}

/// Steps in which rank u sends `parts` of its chunks to u + shift, for each shift.
fn schedule(symmetry: &Translations, steps: &[Vec<(Rank, u32)>]) -> Schedule {
    let chunks = Chunks::even(Collective::AllToAll, RANKS, 8).unwrap();
    let steps = steps.iter().map(|shifts| {
        let transfers = shifts.iter().map(|&(shift, parts)| Transfer {
            src: 0,
            dst: shift,
            op: Op::Copy,
            chunks: (0..parts).map(|part| chunks.pair(0, shift, part)).collect(),
        });
        Step::new(symmetry.clone(), transfers, &chunks).unwrap()
    });
    let steps = steps.collect();
    Schedule::new("given", chunks, steps).unwrap()
}

/// Every permutation of the ranks: where the circuit of each goes.
fn permutations() -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..RANKS {
        let longer = all.iter().flat_map(|some| {
            (0..RANKS as usize)
                .filter(|to| !some.contains(to))
                .map(|to| [&some[..], &[to]].concat())
                .collect::<Vec<_>>()
        });
        all = longer.collect();
    }
    all
}

/// Longest path and load of the busiest circuit; `None` where some pair is not joined.
fn on_permutation(next: &[usize], step: &Step) -> Option<(u32, f64)> {
    let (mut hops, mut loads) = (0, vec![0.0; next.len()]);
    for arc in step.traffic().expanded() {
        let (mut at, mut length) = (arc.src as usize, 0);
        while at != arc.dst as usize {
            loads[at] += arc.weight;
            (at, length) = (next[at], length + 1);
            if at == arc.src as usize {
                return None;
            }
        }
        hops = hops.max(length);
    }
    Some((hops, loads.into_iter().fold(0.0, f64::max)))
}

/// Least time over all sequences of permutations.
fn optimum(schedule: &Schedule, fabric: &Fabric, settings: CostSettings, size_bytes: u64) -> f64 {
    let all = permutations();
    let mut best = vec![0.0; all.len()];
    for (index, step) in schedule.steps().iter().enumerate() {
        let byte_s = fabric.byte_s() * size_bytes as f64 * step.share();
        let least = best.iter().copied().fold(f64::INFINITY, f64::min);
        for (best, next) in best.iter_mut().zip(&all) {
            let step_s = on_permutation(next, step).map_or(f64::INFINITY, |(hops, load)| {
                let delayed = if settings.propagation == Propagation::Hops { f64::from(hops) } else { load };
                fabric.startup_s + fabric.hop_delay_s * delayed + byte_s * load
            });
            let before = if index == 0 { 0.0 } else { best.min(least + fabric.reconfiguration.lower_bound_s()) };
            *best = before + step_s;
        }
    }
    best.into_iter().fold(f64::INFINITY, f64::min)
}

fn named<'a>(all: &'a [Statement], name: &str) -> &'a Statement {
    all.iter().find(|statement| statement.name == name).unwrap()
}

#[test]
fn winding_is_the_optimum_of_recursive_doubling_and_of_bruck() {
    let halving = [(1, 4), (2, 2), (4, 1)].map(|step| vec![step]);
    let both: Vec<_> = halving.iter().chain(halving.iter().rev()).cloned().collect();
    let bruck = [(1, 4), (2, 4), (4, 4)].map(|step| vec![step]);
    for steps in [&halving[..], &both, &bruck] {
        let schedule = schedule(&Translations::cyclic(RANKS), steps);
        for change_s in [0.0, 1e-6, 5e-6, 1e-3] {
            let fabric = fabric(1e-6, 0.5e-6, change_s);
            let settings = CostSettings::default();
            let all = given_schedule_statements(&schedule, &fabric, settings, 64_000);
            let (bound, least) = (named(&all, "winding").seconds(), optimum(&schedule, &fabric, settings, 64_000));
            assert!((bound - least).abs() < 1e-9 * least, "{change_s}: {bound} {least}");
        }
    }
}

fn shifts() -> impl Strategy<Value = Vec<(Rank, u32)>> {
    let one = prop::collection::btree_map(1..RANKS, 1..=8_u32, 1..3);
    one.prop_map(|shifts| shifts.into_iter().collect())
}

fn groups() -> impl Strategy<Value = Translations> {
    let pairs = Translations::new(RANKS, vec![Digit { stride: 1, radix: 2 }, Digit { stride: 2, radix: 4 }]).unwrap();
    prop::sample::select(vec![Translations::cyclic(RANKS), Translations::xor(RANKS), pairs])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws::cases(24)))]

    #[test]
    fn no_bound_is_above_the_best_of_all_permutations(
        group in groups(),
        steps in prop::collection::vec(shifts(), 1..5),
        delays_us in prop::array::uniform3(0.0..4.0f64),
        change_us in prop::sample::select(vec![0.0, 1.0, 10.0, 1000.0]),
        size_bytes in 1..200_000u64,
        propagation in prop::sample::select(Propagation::ALL.to_vec()),
    ) {
        let schedule = schedule(&group, &steps);
        let fabric = fabric(delays_us[0] * 1e-6, delays_us[1] * 1e-6, change_us * delays_us[2] * 1e-6);
        let settings = CostSettings::additive(Routing::ConcurrentFlow, propagation);
        let least = optimum(&schedule, &fabric, settings, size_bytes);
        for statement in given_schedule_statements(&schedule, &fabric, settings, size_bytes) {
            prop_assert!(statement.seconds() <= least * (1.0 + 1e-12), "{least}: {statement:?}");
        }
    }
}
