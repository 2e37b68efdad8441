//! The stated routing: what it says of the paths of every arc.

use std::collections::{BTreeMap, BTreeSet};

use model::{Plan, Rank, RoutedEntry, Routing, Topology};

use crate::cutoffs::routing::MOST_LISTED;
use crate::report::{Check, Tally, agree};
use crate::speeds::Speeds;

/// Checks that single-path arcs have one shortest path, and equally split ones all of theirs, each once, with shares by
/// parallel circuits (to 1e-9); where there are more than [`MOST_LISTED`], shortest paths that load every circuit as
/// all of them would. Concurrent flow may take any paths.
///
/// Costs O(links) for each sender of an arc that is listed, as far as its longest path reaches.
pub(crate) fn check(plan: &Plan) -> Check {
    let mut tally = Tally::new("routing");
    let (routing, speeds) = (plan.settings.routing, Speeds::of(&plan.fabric.shape));
    for (index, step) in plan.steps.iter().enumerate().filter(|_| routing != Routing::ConcurrentFlow) {
        let network = CircuitCounts::new(&plan.topologies[step.topology], &speeds);
        let mut by_source: BTreeMap<Rank, Vec<&RoutedEntry>> = BTreeMap::new();
        for arc in step.routes.arcs.iter().filter(|arc| arc.src.max(arc.dst) < network.ranks()) {
            by_source.entry(arc.src).or_default().push(arc);
        }
        for (src, arcs) in by_source {
            interruption::check();
            let from_src = network.reached(src, longest(&arcs));
            for arc in arcs {
                interruption::check();
                let fault = match routing {
                    Routing::SinglePath if arc.paths.len() != 1 => Some(format!("has {} paths", arc.paths.len())),
                    _ => network.fault(routing, arc, &from_src),
                };
                tally.expect(fault.is_none(), || {
                    let (name, fault) = (routing.name(), fault.unwrap_or_default());
                    format!("step {index}: with routing {name} the traffic {} → {} {fault}", arc.src, arc.dst)
                });
            }
        }
    }
    match routing {
        Routing::ConcurrentFlow => tally.into_check("path", "checked: routing concurrent-flow may take any"),
        _ => tally.into_check("traffic entry", &format!("routed by {}", routing.name())),
    }
}

/// Hops of the longest path of these arcs.
fn longest(arcs: &[&RoutedEntry]) -> usize {
    arcs.iter().flat_map(|arc| &arc.paths).map(|path| path.nodes.len().saturating_sub(1)).max().unwrap_or(0)
}

/// GPUs that are reached from one, or from which one is reached.
type FromOne = BTreeMap<Rank, Reached>;

/// The shortest paths by which a GPU is reached.
#[derive(Debug, Clone, Copy, Default)]
struct Reached {
    /// Hops; `None` where it is not reached.
    hops: Option<usize>,
    /// Paths, those over parallel circuits counted each, by their rates.
    paths: f64,
    /// Paths, those over parallel circuits counted once.
    ways: f64,
}

/// Circuits out of each GPU, slower ones as parts of one.
struct CircuitCounts(Vec<BTreeMap<Rank, f64>>);

impl CircuitCounts {
    fn new(topology: &Topology, speeds: &Speeds) -> Self {
        let mut out = vec![BTreeMap::new(); topology.ranks() as usize];
        for link in topology.expanded() {
            out[link.src as usize].insert(link.dst, speeds.capacity(topology, link.src, link.dst));
        }
        Self(out)
    }

    fn ranks(&self) -> Rank {
        self.0.len() as Rank
    }

    /// The paths to the GPUs at most `most` hops from `src`, hop by hop.
    fn reached(&self, src: Rank, most: usize) -> FromOne {
        let mut all = FromOne::from([(src, Reached { hops: Some(0), paths: 1.0, ways: 1.0 })]);
        let mut last = vec![src];
        for hops in 1..=most {
            let mut next = Vec::new();
            for &node in &last {
                let Reached { paths, ways, .. } = all[&node];
                for (&to, &count) in &self.0[node as usize] {
                    let at = all.entry(to).or_default();
                    if at.hops.is_none() {
                        at.hops = Some(hops);
                        next.push(to);
                    }
                    if at.hops == Some(hops) {
                        at.paths += paths * count;
                        at.ways += ways;
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            last = next;
        }
        all
    }

    /// The circuits turned round.
    fn reversed(&self) -> Self {
        let mut out = vec![BTreeMap::new(); self.0.len()];
        for (src, links) in (0..).zip(&self.0) {
            for (&dst, &count) in links {
                out[dst as usize].insert(src, count);
            }
        }
        Self(out)
    }

    /// The fault of the loads that the paths of an arc put on the circuits, if they are to load these as all shortest
    /// paths do.
    fn load_fault(&self, arc: &RoutedEntry, from_src: &FromOne) -> Option<String> {
        let to_dst = self.reversed().reached(arc.dst, longest(&[arc]));
        let of = |reached: &FromOne, rank: Rank| reached.get(&rank).copied().unwrap_or_default();
        let all = of(from_src, arc.dst);
        let mut stated: BTreeMap<(Rank, Rank), f64> = BTreeMap::new();
        for path in &arc.paths {
            path.nodes.windows(2).for_each(|hop| *stated.entry((hop[0], hop[1])).or_default() += path.share);
        }
        for (src, links) in (0..).zip(&self.0) {
            for (&dst, &count) in links {
                let (before, after) = (of(from_src, src), of(&to_dst, dst));
                let hops = before.hops.zip(after.hops).map(|(before, after)| before + 1 + after);
                let part = if hops == all.hops { before.paths * count * after.paths / all.paths } else { 0.0 };
                let load = stated.get(&(src, dst)).copied().unwrap_or(0.0);
                if (load - part).abs() > 1e-9 {
                    return Some(format!("puts {load} on {src} → {dst}, where all shortest paths put {part}"));
                }
            }
        }
        None
    }

    /// The fault of the paths of an arc, if any.
    fn fault(&self, routing: Routing, arc: &RoutedEntry, from_src: &FromOne) -> Option<String> {
        let reached = from_src.get(&arc.dst).copied().unwrap_or_default();
        let are_all_listed = reached.ways <= MOST_LISTED;
        let mut seen: BTreeSet<&[Rank]> = BTreeSet::new();
        for path in &arc.paths {
            let hops = path.nodes.len().saturating_sub(1);
            if reached.hops != Some(hops) {
                return Some(format!("takes {hops} hops where {} are enough", reached.hops.unwrap_or(0)));
            }
            if !seen.insert(&path.nodes) {
                return Some(format!("lists path {:?} twice", path.nodes));
            }
            let count =
                |hop: &[Rank]| self.0.get(hop[0] as usize).and_then(|out| out.get(&hop[1])).copied().unwrap_or(0.0);
            let parallel: f64 = path.nodes.windows(2).map(count).product();
            let share = parallel / reached.paths;
            if routing == Routing::EqualSplit && are_all_listed && !agree(path.share, share, 1e-9) {
                return Some(format!("puts {} on path {:?}, whose part is {share}", path.share, path.nodes));
            }
        }
        (routing == Routing::EqualSplit && !are_all_listed).then(|| self.load_fault(arc, from_src)).flatten()
    }
}
