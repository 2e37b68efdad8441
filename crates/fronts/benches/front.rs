//! Fronts on the quotient against the same pairs without symmetry, by our column generation and by one plain
//! linear program; then pairs that have no symmetry, and patterns of many arcs.
#![expect(clippy::print_stdout, reason = "a bench reports its ratios")]

mod reference;

use std::time::Instant;

use lightloom_fronts::RoutingNetwork;
use model::{Link, Routing, Topology, Traffic, TrafficEntry, Translations};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use ratio::{median_s, report_alone};

fn circulant(n: u32, generators: &[u32]) -> Topology {
    let links = generators.iter().map(|&g| Link { src: 0, dst: g, count: 1 });
    Topology::new("circulant", Translations::cyclic(n), links).expect("valid links")
}

fn shifts(n: u32, offsets: impl IntoIterator<Item = u32>) -> Traffic {
    let arcs = offsets.into_iter().map(|dst| TrafficEntry { src: 0, dst, weight: 1.0 });
    Traffic::new(Translations::cyclic(n), arcs).expect("valid arcs")
}

fn without_symmetry(topology: &Topology, traffic: &Traffic) -> (Topology, Traffic) {
    let none = Translations::trivial(topology.ranks());
    (
        Topology::new("expanded", none.clone(), topology.expanded()).expect("valid links"),
        Traffic::new(none, traffic.expanded()).expect("valid arcs"),
    )
}

/// A union of `count` seeded permutations, as (from, to).
fn permutations(n: u32, count: u32, seed: u64) -> Vec<(u32, u32)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut pairs = Vec::new();
    for _ in 0..count {
        let mut to: Vec<u32> = (0..n).collect();
        to.shuffle(&mut rng);
        pairs.extend((0..n).zip(to).filter(|(a, b)| a != b));
    }
    pairs
}

/// Least load of the front, with preparation, as a planner asks for it.
fn least_load(topology: &Topology, traffic: &Traffic) -> f64 {
    let front = RoutingNetwork::new(topology).front(traffic, Routing::ConcurrentFlow).expect("a connected topology");
    front.points()[front.points().len() - 1].load
}

fn quotient_against_full() {
    let generators = [1, 63, 8, 56, 20, 44];
    for degree in [2, 4, 6] {
        let (topology, traffic) = (circulant(64, &generators[..degree]), shifts(64, [27]));
        let (plain, arcs) = without_symmetry(&topology, &traffic);
        let (load, full) = (least_load(&topology, &traffic), least_load(&plain, &arcs));
        let quotient_s = median_s(101, || least_load(&topology, &traffic));
        let columns_s = median_s(3, || least_load(&plain, &arcs));
        let start = Instant::now();
        let reference = reference::load_by_link_flows(&plain, &arcs).unwrap_or(f64::NAN);
        let program_s = start.elapsed().as_secs_f64();
        assert!((load - full).abs() <= 1e-9 * load && (load - reference).abs() <= 1e-5 * load);
        println!(
            "n=64 d={degree}: whole front on the quotient {:.1} us; without symmetry {:.2} ms, {:.0}x; one linear program \
             (clarabel, one point) {:.0} ms, {:.0}x",
            quotient_s * 1e6,
            columns_s * 1e3,
            columns_s / quotient_s,
            program_s * 1e3,
            program_s / quotient_s,
        );
    }
}

fn without_any_symmetry() {
    for (degree, peers) in [(2, 1), (4, 1), (6, 1), (6, 6)] {
        let none = Translations::trivial(64);
        let links = permutations(64, degree, 1).into_iter().map(|(src, dst)| Link { src, dst, count: 1 });
        let arcs = permutations(64, peers, 2).into_iter().map(|(src, dst)| TrafficEntry { src, dst, weight: 1.0 });
        let topology = Topology::new("random", none.clone(), links).expect("valid links");
        let traffic = Traffic::new(none, arcs).expect("valid arcs");
        let seconds = median_s(10, || least_load(&topology, &traffic));
        report_alone(&format!("front without symmetry, n=64 d={degree}, {peers} peers"), seconds);
    }
}

fn many_arcs() {
    let all = shifts(1024, 1..1024);
    let topology = circulant(1024, &[1, 1023, 32, 992]);
    report_alone("front of All-to-All, n=1024 d=4", median_s(10, || least_load(&topology, &all)));
    let ring = RoutingNetwork::new(&circulant(1024, &[3]));
    let step = shifts(1024, [500]);
    let seconds = median_s(100, || ring.estimate(&step, Routing::ConcurrentFlow));
    report_alone("estimate of one arc, n=1024", seconds);
}

fn main() {
    quotient_against_full();
    without_any_symmetry();
    many_arcs();
}
