//! The rates of circuits where ports or pairs of GPUs have different rates, and whether each has its own.

use std::collections::{BTreeMap, BTreeSet};

use model::{Link, PairRates, Plan, Rank, Shape, Topology, Translations};

use crate::faults::{DeadPorts, broken};
use crate::links::circuits;
use crate::report::{Check, Tally};

/// Numbers of circuits of a link by the rate of their ports, the fastest first; one number where ports are alike.
pub(crate) fn by_rate(topology: &Topology, link: &Link) -> Vec<u32> {
    topology.circuits_by_rate(link.src, link.dst).map_or_else(|| vec![link.count], <[u32]>::to_vec)
}

/// Circuits, one of each orbit of `group`, by their ends and the place of their rate; sorted.
pub(crate) fn circuits_under(topology: &Topology, group: &Translations) -> Vec<((Rank, Rank, usize), u32)> {
    let links = topology.links_under(group);
    if !topology.is_on_ports() {
        return links.into_iter().map(|Link { src, dst, count }| ((src, dst, 0), count)).collect();
    }
    let of_link = |link: &Link| {
        let (src, dst) = (link.src, link.dst);
        by_rate(topology, link).into_iter().enumerate().map(move |(rate, count)| ((src, dst, rate), count))
    };
    links.iter().flat_map(of_link).collect()
}

/// Bit/s of the fastest circuits between two different GPUs.
fn fastest_bps_of(pairs: &PairRates) -> f64 {
    let all = (0..pairs.gpus()).flat_map(|src| (0..src).map(move |dst| (src, dst)));
    all.map(|(src, dst)| pairs.rate_bps(src, dst)).fold(0.0, f64::max)
}

/// The rates of the ports of a GPU, the fastest first, or those of pairs of GPUs; none where circuits are alike.
pub(crate) struct Speeds {
    /// Each rate over the fastest.
    relative: Vec<f64>,
    /// Ports of each.
    ports: Vec<Vec<u32>>,
    /// GPUs by rank, and the ports at them that do not send, or do not receive.
    gpus: Vec<u32>,
    dead: [DeadPorts; 2],
    /// The rates of pairs of GPUs, where these differ, with the fastest in bit/s.
    pairs: Option<(PairRates, f64)>,
}

impl Speeds {
    pub(crate) fn of(shape: &Shape) -> Self {
        let mut ports_of: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        // Rates are above zero, so that their bits are in the order of the numbers.
        for (port, rate_bps) in (0..).zip(shape.rates().map(|rates| rates.by_port_bps()).unwrap_or_default()) {
            ports_of.entry(rate_bps.to_bits()).or_default().push(port);
        }
        let fastest_bps = ports_of.keys().next_back().copied().map_or(1.0, f64::from_bits);
        let relative = ports_of.keys().rev().map(|&bits| f64::from_bits(bits) / fastest_bps).collect();
        let pairs = shape.pairs().map(|pairs| (pairs.clone(), fastest_bps_of(pairs)));
        let (out, into, _) = broken(shape);
        let gpus = (0..shape.gpus()).map(|rank| shape.gpu_of(rank)).collect();
        Self { relative, ports: ports_of.into_values().rev().collect(), gpus, dead: [out, into], pairs }
    }

    /// The rate of all circuits from one GPU to another, over that of a circuit on the fastest port.
    pub(crate) fn capacity(&self, topology: &Topology, src: Rank, dst: Rank) -> f64 {
        if let Some((pairs, fastest_bps)) = &self.pairs {
            return f64::from(circuits(topology, src, dst)) * pairs.rate_bps(src, dst) / fastest_bps;
        }
        match topology.circuits_by_rate(src, dst) {
            Some(circuits) => circuits.iter().zip(&self.relative).map(|(&each, rate)| f64::from(each) * rate).sum(),
            None => f64::from(circuits(topology, src, dst)),
        }
    }

    /// Checks that every circuit of a topology has a rate, and no GPU more circuits of a rate than ports.
    pub(crate) fn check(&self, topology: &Topology, tally: &mut Tally) {
        let name = topology.name();
        let mut used: BTreeMap<(usize, usize, Rank), u64> = BTreeMap::new();
        for link in topology.expanded() {
            let of = by_rate(topology, &link);
            let all: u64 = of.iter().map(|&each| u64::from(each)).sum();
            tally.expect(of.len() == self.ports.len() && all == u64::from(link.count), || {
                format!("topology `{name}` does not say the rate of each circuit {} → {}", link.src, link.dst)
            });
            for (rate, &each) in of.iter().enumerate() {
                *used.entry((0, rate, link.src)).or_insert(0) += u64::from(each);
                *used.entry((1, rate, link.dst)).or_insert(0) += u64::from(each);
            }
        }
        for ((side, rate, rank), circuits) in used {
            let gpu = self.gpus[rank as usize];
            let works = |port: &&u32| !self.dead[side].get(&gpu).is_some_and(|dead| dead.contains(port));
            let ports = self.ports.get(rate).map_or(0, |ports| ports.iter().filter(works).count() as u64);
            let direction = ["out of", "into"][side];
            tally.expect(circuits <= ports, || {
                format!(
                    "topology `{name}` has {circuits} circuits {direction} GPU {gpu} of a rate that {ports} working ports have"
                )
            });
        }
    }
}

/// Checks that a plan counts in circuits of the fastest port, and all of its topologies, the initial one included.
/// `None` where ports are alike and no topology says otherwise.
///
/// Costs O(links of all topologies · rates · log links).
pub(crate) fn check(plan: &Plan) -> Option<Check> {
    let speeds = Speeds::of(&plan.fabric.shape);
    let topologies = || plan.topologies.iter().chain(plan.fabric.initial.given());
    if let Some(pairs) = plan.fabric.shape.pairs() {
        return Some(of_pairs(plan, pairs, topologies()));
    }
    let Some(rates) = plan.fabric.shape.rates() else {
        topologies().find(|topology| topology.is_on_ports())?;
        let mut tally = Tally::new("rates");
        tally.expect(false, || "circuits have different rates, and the fabric has one".into());
        return Some(tally.into_check("comparison", ""));
    };
    let mut tally = Tally::new("rates");
    let bandwidth_bps = plan.fabric.bandwidth_bps;
    tally.expect(rates.by_port_bps().into_iter().fold(0.0, f64::max) == bandwidth_bps, || {
        format!("loads count in circuits of {bandwidth_bps} bit/s, which is not the rate of the fastest port")
    });
    for topology in topologies() {
        interruption::check();
        speeds.check(topology, &mut tally);
    }
    Some(tally.into_check("comparison", "of circuits by rate with the ports of that rate"))
}

/// Checks that loads count in circuits of the fastest pair, and that every circuit is said to have the rate of its
/// pair.
fn of_pairs<'a>(plan: &Plan, pairs: &PairRates, topologies: impl Iterator<Item = &'a Topology>) -> Check {
    let mut tally = Tally::new("rates");
    let bandwidth_bps = plan.fabric.bandwidth_bps;
    tally.expect(fastest_bps_of(pairs) == bandwidth_bps, || {
        format!("loads count in circuits of {bandwidth_bps} bit/s, which is not the rate of the fastest pair")
    });
    let rates: BTreeSet<u64> =
        (0..pairs.gpus()).flat_map(|src| (0..src).map(move |dst| pairs.rate_bps(src, dst).to_bits())).collect();
    for topology in topologies {
        interruption::check();
        for link in topology.expanded() {
            let own = pairs.rate_bps(link.src, link.dst).to_bits();
            let wanted: Vec<u32> = rates.iter().rev().map(|&rate| if rate == own { link.count } else { 0 }).collect();
            tally.expect(by_rate(topology, &link) == wanted, || {
                format!("topology `{}` has circuits {} → {} of another rate", topology.name(), link.src, link.dst)
            });
        }
    }
    tally.into_check("comparison", "of circuits by rate with the rate of their pair of GPUs")
}
