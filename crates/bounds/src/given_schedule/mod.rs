//! Lower bounds that hold for a given schedule on any sequence of topologies of degree d.
//!
//! A schedule on some topologies is cut into intervals of steps on one each. An interval costs no less than the largest
//! of what is known of it:
//!
//! - each of its steps by itself, and all of them together, by the [places](places) near a rank;
//! - where islands of GPUs share ports, by what passes these in a step;
//! - on one port, by [winding numbers](winding);
//! - where all steps are invariant under one group, by [fractional topologies](fractional), which takes long.
//!
//! The bound is a shortest path over the cuts, with the least cost of a change at each. Where packets overlap hop
//! delays with queueing, a step takes the larger of the two and not their sum.
//!
//! Class: these steps, any topology in each. A planner may split a step into several, or join several into one; that is
//! another schedule, which this does not bound, and the words of the class say so.

mod fractional;
mod places;
mod winding;

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{
    CostSettings, Fabric, Initial, Islands, OpticalLayer, Schedule, Step, Traffic, TrafficEntry, Translations,
    sum_seconds,
};

use self::places::SharedPlaces;
use self::winding::{Cycles, Joined};
use crate::mixed_rates;
use crate::rates::Rates;
use crate::repetition::repeated;
use crate::statement::Statement;
use crate::topology_class::any_topology;

/// Knowledge of intervals of steps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum IntervalKnowledge {
    /// The bounds on each step by itself.
    Steps,
    /// In addition, all steps share the places near a rank.
    SharedPlaces,
    /// In addition, how often they wind around one port's cycles.
    Winding,
}

/// Bound for `schedule` with a buffer of `size_bytes`. O(steps · peers log peers), and as many intervals as some
/// million operations allow.
pub fn given_schedule(schedule: &Schedule, fabric: &Fabric, settings: CostSettings, size_bytes: u64) -> Statement {
    mixed_rates::larger(fabric, |alike| {
        let needs = Needs::new(schedule, alike, settings, size_bytes, BUDGET);
        needs.least(IntervalKnowledge::Winding, alike)
    })
}

/// Every bound of this class, each with all that the ones before it know. The last one, over fractional topologies, is
/// there up to 64 ranks and takes seconds.
pub fn given_schedule_statements(
    schedule: &Schedule,
    fabric: &Fabric,
    settings: CostSettings,
    size_bytes: u64,
) -> Vec<Statement> {
    mixed_rates::all_larger(fabric, |alike| statements_on_alike_ports(schedule, alike, settings, size_bytes))
}

fn statements_on_alike_ports(
    schedule: &Schedule,
    fabric: &Fabric,
    settings: CostSettings,
    size_bytes: u64,
) -> Vec<Statement> {
    let needs = Needs::new(schedule, fabric, settings, size_bytes, LARGE_BUDGET);
    let mut all = Vec::new();
    for known in [IntervalKnowledge::Steps, IntervalKnowledge::SharedPlaces, IntervalKnowledge::Winding] {
        if known < IntervalKnowledge::Winding || needs.rates.ports == 1 {
            all.push(needs.least(known, fabric));
        }
    }
    all.extend(needs.fractional_statement());
    all
}

/// The class of schedules that run these steps on any topologies of the fabric; `steps` says which, as in
/// "swing in its 4 steps".
pub fn class_of_steps(steps: &str, fabric: &Fabric) -> String {
    let topology = any_topology(fabric.shape.ports(), fabric.optics.as_ref().and_then(OpticalLayer::islands));
    format!("{steps} unchanged, {topology} in each, any reconfigurations")
}

/// The steps of a schedule, as the ones of its algorithm.
pub fn steps_of_algorithm(schedule: &Schedule) -> String {
    format!("{} in its {}", schedule.algorithm(), counted(schedule))
}

/// The steps of a schedule, as the ones of a plan, which may be those of an algorithm split or joined.
pub fn steps_of_plan(schedule: &Schedule) -> String {
    format!("the plan's {}", counted(schedule))
}

fn counted(schedule: &Schedule) -> String {
    let count = schedule.steps().len();
    format!("{count} step{}", if count == 1 { "" } else { "s" })
}

/// Needs of each step.
#[derive(Clone)]
struct Needs {
    /// The class of the bound, in words.
    class: String,
    rates: Rates,
    /// The group under which all steps are invariant.
    symmetry: Translations,
    /// The steps; equal ones in a row are joined.
    steps: Vec<Arc<StepNeeds>>,
    /// Longest interval that is looked at as a whole.
    longest: usize,
}

struct StepNeeds {
    /// One traffic entry for each pair and orbit of the common group.
    arcs: Vec<TrafficEntry>,
    cycles: Cycles,
    /// Seconds a hop of the longest path, and a unit of load.
    prices: (f64, f64),
    hops: u32,
    load: f64,
}

/// Seconds of hop delays and of bytes.
#[derive(Clone, Copy, Default)]
struct Seconds {
    hops: f64,
    loads: f64,
}

impl Seconds {
    fn total(self) -> f64 {
        self.hops + self.loads
    }
}

/// Lower bound on the load of an island's busiest port: its outgoing or incoming traffic divided by its ports.
fn load_of_islands(traffic: &Traffic, islands: Islands) -> f64 {
    let (mut out, mut into) = (BTreeMap::new(), BTreeMap::new());
    for arc in traffic.expanded() {
        let (from, to) = (arc.src / islands.gpus, arc.dst / islands.gpus);
        if from != to {
            *out.entry(from).or_insert(0.0) += arc.weight;
            *into.entry(to).or_insert(0.0) += arc.weight;
        }
    }
    out.into_values().chain(into.into_values()).fold(0.0, f64::max) / f64::from(islands.ports)
}

/// Where a schedule is cut at least cost.
struct Cuts {
    /// First step, step after the last, whether the topology changes before it, and its seconds; in order.
    intervals: Vec<(usize, usize, bool, Seconds)>,
}

/// Operations that intervals may take in a bound that every plan carries, and where it is the bound that is asked for.
const BUDGET: usize = 2_000_000;
const LARGE_BUDGET: usize = 100_000_000;

impl Needs {
    fn new(schedule: &Schedule, fabric: &Fabric, settings: CostSettings, size_bytes: u64, budget: usize) -> Self {
        let rates = Rates::new(fabric, settings);
        let symmetry = schedule.symmetry();
        let islands = fabric.optics.as_ref().and_then(OpticalLayer::islands);
        let needs_of = |step: &Step| {
            let (hops, load) = places::least_hops_and_load(step.traffic(), rates.ports);
            let load = load.max(islands.map_or(0.0, |islands| load_of_islands(step.traffic(), islands)));
            let byte_s = rates.byte_s * size_bytes as f64 * step.share();
            let delays = settings.of_packets().propagation.of_step(rates.ports, || step.traffic().node_load());
            let prices = delays.hop_and_load_s(rates.hop_s, byte_s);
            let cycles = if rates.ports == 1 { winding::cycles(step.traffic()) } else { Vec::new() };
            StepNeeds { arcs: step.traffic().arcs_under(&symmetry), cycles, prices, hops, load }
        };
        let mut steps: Vec<Arc<StepNeeds>> = Vec::with_capacity(schedule.steps().len());
        let mut before: Option<&Step> = None;
        for step in schedule.steps() {
            let same = |before: &Step| before.share() == step.share() && before.traffic() == step.traffic();
            let known = steps.last().filter(|_| before.is_some_and(same)).cloned();
            steps.push(known.unwrap_or_else(|| Arc::new(needs_of(step))));
            before = Some(step);
        }
        let (count, arcs) = (steps.len(), steps.iter().map(|step| step.arcs.len()).sum::<usize>());
        let ranks = if rates.ports == 1 { rates.ranks as usize } else { 1 };
        let work = |longest: usize| arcs * longest * (ranks * arcs.div_ceil(count).min(4) + 2 * longest);
        let longest = (1..=count).take_while(|&longest| work(longest) <= budget).last().unwrap_or(1);
        let class = class_of_steps(&steps_of_algorithm(schedule), fabric);
        Self { class, rates, symmetry, steps, longest }
    }

    /// A step with these hops and this load.
    fn seconds(&self, step: &StepNeeds, hops: u32, load: f64) -> Seconds {
        let (hops, loads) = (step.prices.0 * f64::from(hops), step.prices.1 * load);
        match self.rates.overlaps {
            false => Seconds { hops, loads },
            true if hops > loads => Seconds { hops, loads: 0.0 },
            true => Seconds { hops: 0.0, loads },
        }
    }

    /// Least hops and load of a step on a topology that joins this many ranks.
    fn hops_and_load(&self, step: &StepNeeds, joined: u32) -> (u32, f64) {
        let (hops, load) = winding::least_hops_and_load(&step.cycles, joined);
        (step.hops.max(hops), step.load.max(load))
    }

    /// Whether intervals that start with one step have the same steps as intervals that start with another.
    fn same_from(&self, first: usize, other: usize) -> bool {
        let window = |first: usize| &self.steps[first..self.steps.len().min(first + self.longest)];
        let (a, b) = (window(first), window(other));
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b))
    }

    /// Seconds of every interval that starts with step `first`, up to the longest: its hops and loads.
    fn intervals_from(&self, first: usize, known: IntervalKnowledge) -> Vec<Seconds> {
        let last = self.steps.len().min(first + self.longest);
        let orbits = self.symmetry.orbits();
        let (mut shared, mut joined) = (SharedPlaces::default(), Joined::new(self.rates.ranks));
        let mut all = Vec::with_capacity(last - first);
        for end in first + 1..=last {
            interruption::check();
            let step = &self.steps[end - 1];
            if known >= IntervalKnowledge::SharedPlaces {
                shared.add(&step.arcs, orbits, self.rates.ports, step.prices);
            }
            // Leaving pairs out is safe: it only makes the joined sets smaller.
            if known >= IntervalKnowledge::Winding && self.rates.ports == 1 && step.arcs.len() <= 4 * orbits as usize {
                for element in self.symmetry.elements() {
                    for arc in &step.arcs {
                        let move_by = |rank| self.symmetry.apply(element, rank);
                        joined.join(move_by(arc.src), move_by(arc.dst));
                    }
                }
            }
            let mut best =
                self.steps_joined(first, end, if known >= IntervalKnowledge::Winding { joined.largest() } else { 1 });
            if known >= IntervalKnowledge::SharedPlaces && end > first + 1 {
                for &mix in self.rates.mixes() {
                    let seconds = shared.seconds(self.rates.ports, mix);
                    if seconds > best.total() {
                        // The time of one of the two by itself tells the parts apart.
                        let hops = shared.seconds(self.rates.ports, (mix.0, 0.0)).min(seconds);
                        best = Seconds { hops, loads: seconds - hops };
                    }
                }
            }
            all.push(best);
        }
        all
    }

    /// The steps of an interval one by one, on a topology that joins this many ranks.
    fn steps_joined(&self, first: usize, end: usize, joined: u32) -> Seconds {
        self.steps[first..end].iter().fold(Seconds::default(), |sum, step| {
            let (hops, load) = self.hops_and_load(step, joined);
            let seconds = self.seconds(step, hops, load);
            Seconds { hops: sum.hops + seconds.hops, loads: sum.loads + seconds.loads }
        })
    }

    /// The bound by the cheapest cuts.
    fn least(&self, known: IntervalKnowledge, fabric: &Fabric) -> Statement {
        let at = |rates: &Rates| {
            let needs = Self { rates: *rates, ..self.clone() };
            needs.statement(known, &needs.cuts(known, &BTreeMap::new()))
        };
        if fabric.initial == Initial::Repeated { repeated(&self.rates, at) } else { at(&self.rates) }
    }

    /// The cheapest cuts. Intervals longer than the longest that is looked at are taken in pieces of that length,
    /// between which nothing is charged. `better` has what else is known of intervals.
    fn cuts(&self, known: IntervalKnowledge, better: &BTreeMap<(usize, usize), Seconds>) -> Cuts {
        let count = self.steps.len();
        // Least seconds before a step when its topology is new, and when it is that of the piece before; and the piece.
        let mut best = vec![(f64::INFINITY, 0, false, Seconds::default()); count + 1];
        let mut whole = best.clone();
        best[0].0 = 0.0;
        let mut from_first: Vec<Seconds> = Vec::new();
        for first in 0..count {
            if first == 0 || !self.same_from(first - 1, first) {
                from_first = self.intervals_from(first, known);
            }
            let changed_s = best[first].0 + if first > 0 { self.rates.change_s } else { 0.0 };
            let (before_s, changed) =
                if whole[first].0 < changed_s { (whole[first].0, false) } else { (changed_s, first > 0) };
            for (end, mut seconds) in (first + 1..).zip(from_first.iter().copied()) {
                if let Some(&other) = better.get(&(first, end)).filter(|other| other.total() > seconds.total()) {
                    seconds = other;
                }
                let total = before_s + seconds.total();
                if total < best[end].0 {
                    best[end] = (total, first, changed, seconds);
                }
                if end - first == self.longest && total < whole[end].0 {
                    whole[end] = (total, first, changed, seconds);
                }
            }
        }
        let (mut end, mut continued, mut intervals) = (count, false, Vec::new());
        while end > 0 {
            let (_, first, changed, seconds) = if continued { whole[end] } else { best[end] };
            intervals.push((first, end, changed, seconds));
            continued = first > 0 && !changed;
            end = first;
        }
        intervals.reverse();
        Cuts { intervals }
    }

    fn statement(&self, known: IntervalKnowledge, cuts: &Cuts) -> Statement {
        let (name, why) = match known {
            IntervalKnowledge::Steps => {
                ("places", "in each step, at most d of a rank's peers are one hop away, d^2 two hops, and so on")
            }
            IntervalKnowledge::SharedPlaces => (
                "shared-places",
                "of all a rank's peers between two reconfigurations, at most d are one hop away, d^2 two hops, and so \
                on",
            ),
            IntervalKnowledge::Winding => (
                "winding",
                "with one port a topology is a set of cycles, around which every cycle of transfers goes at least once",
            ),
        };
        self.named(name, why, cuts)
    }

    fn named(&self, name: &'static str, why: &'static str, cuts: &Cuts) -> Statement {
        let rates = &self.rates;
        let sum = |part: fn(&Seconds) -> f64| sum_seconds(cuts.intervals.iter().map(|(.., seconds)| part(seconds)));
        let (hops_s, loads_s) = (sum(|seconds| seconds.hops), sum(|seconds| seconds.loads));
        let changes = cuts.intervals.iter().filter(|(_, _, changed, _)| *changed).count() as u32;
        Statement {
            name,
            class: self.class.clone(),
            why,
            startup_s: rates.startup_s * self.steps.len() as f64,
            propagation_s: hops_s,
            transmission_s: loads_s,
            reconfiguration_s: rates.change_s * f64::from(changes + rates.first_changes),
            topologies: changes + 1,
            steps: self.steps.len() as u32,
            segments: Vec::new(),
        }
    }

    /// The bound with fractional topologies: solved for the intervals of the cheapest cuts, until those of the cuts
    /// that are cheapest then have been.
    fn fractional_statement(&self) -> Option<Statement> {
        if self.rates.ranks > fractional::MOST_RANKS || !self.symmetry.is_transitive() {
            return None;
        }
        let mut better: BTreeMap<(usize, usize), Seconds> = BTreeMap::new();
        loop {
            let cuts = self.cuts(IntervalKnowledge::Winding, &better);
            let unknown: Vec<(usize, usize)> = cuts.intervals.iter().map(|&(first, end, ..)| (first, end)).collect();
            let unknown: Vec<_> = unknown.into_iter().filter(|interval| !better.contains_key(interval)).collect();
            if unknown.is_empty() || better.len() >= fractional::MOST_INTERVALS {
                let why = "no topology, not even of fractions of circuits, carries the bytes of the steps between two \
                           reconfigurations in less time";
                return Some(self.named("fractional-topology", why, &cuts));
            }
            for (first, end) in unknown {
                let steps = &self.steps[first..end];
                let patterns: Vec<(&[TrafficEntry], f64)> =
                    steps.iter().map(|step| (&step.arcs[..], step.prices.1)).collect();
                let loads = fractional::least_load_seconds(&patterns, &self.symmetry, self.rates.ports);
                let mut joined = Joined::new(self.rates.ranks);
                for (element, arc) in self
                    .symmetry
                    .elements()
                    .into_iter()
                    .flat_map(|e| steps.iter().flat_map(move |s| s.arcs.iter().map(move |a| (e, a))))
                {
                    joined.join(self.symmetry.apply(element, arc.src), self.symmetry.apply(element, arc.dst));
                }
                let hops: f64 = steps
                    .iter()
                    .map(|step| step.prices.0 * f64::from(self.hops_and_load(step, joined.largest()).0))
                    .sum();
                let seconds = match self.rates.overlaps {
                    true if hops > loads => Seconds { hops, loads: 0.0 },
                    true => Seconds { hops: 0.0, loads },
                    false => Seconds { hops, loads },
                };
                better.insert((first, end), seconds);
            }
        }
    }
}
