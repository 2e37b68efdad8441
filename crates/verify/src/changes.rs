//! The circuits that a change of topology sets up and gives up, and the part of its delay that is charged on a fabric
//! that hides some of it.

use std::collections::BTreeMap;

use model::{Fabric, Link, Rank, Topology};

use crate::speeds::circuits_under;

/// Circuits that change between two topologies.
#[derive(Debug, Default, Clone, Copy)]
struct Changes {
    /// Circuits set up.
    up: u64,
    /// Transmitters that are joined to another receiver than before, or to none, or now to one.
    transmitters: u64,
    /// The most circuits that are set up out of, or into, one GPU.
    up_at_one: u32,
    /// Largest number of circuits out of, or into, a GPU that sets one up: its circuits before the change plus the new
    /// ones.
    needed: u32,
}

/// The charge of a change of circuits before a step.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Charge {
    /// Transmitters whose circuit differs.
    pub(crate) ports: u64,
    pub(crate) seconds: f64,
    /// The seconds of the charge before a part of them is hidden.
    pub(crate) of_s: f64,
}

impl Charge {
    /// The charge of the change from `from` to `to` before step `index`, after a step of `before_s` seconds without its
    /// own change.
    pub(crate) fn of(fabric: &Fabric, (from, to): (&Topology, &Topology), index: usize, before_s: f64) -> Self {
        let changes = Changes::between(from, to);
        let switches_s = fabric.reconfiguration.delay().terms().by_port_s;
        let (of_s, hidden_s) = match switches_s {
            [] => changes.delay_s(fabric, before_s),
            _ => Switches::delay_s(fabric, [from, to].map(|topology| Switches::of(topology, switches_s)), before_s),
        };
        let window = &fabric.reconfiguration.overlap().window;
        let hidden_s = hidden_s + window.steps.get(&index).copied().unwrap_or(window.every_s);
        let seconds = if hidden_s >= of_s { 0.0 } else { of_s - hidden_s };
        Self { ports: changes.transmitters, seconds, of_s }
    }
}

impl Changes {
    /// Both lists of circuits are sorted, so one pass over them.
    fn between(from: &Topology, to: &Topology) -> Self {
        let both = from.symmetry().meet(to.symmetry());
        let (from, to) = (circuits_under(from, &both), circuits_under(to, &both));
        let key = |circuits: Option<&((Rank, Rank, usize), u32)>| circuits.map(|(place, _)| *place);
        // Per orbit of GPUs: circuits out before, out and new, in before, in and new, out and given up.
        let mut counts = vec![[0u32; 5]; both.orbits() as usize];
        let mut changes = Self::default();
        let (mut from, mut to) = (from.iter().peekable(), to.iter().peekable());
        while let Some(place) = key(from.peek().copied()).into_iter().chain(key(to.peek().copied())).min() {
            let had = from.next_if(|of| of.0 == place).map_or(0, |of| of.1);
            let has = to.next_if(|of| of.0 == place).map_or(0, |of| of.1);
            let (src, dst) = (both.orbit(place.0) as usize, both.orbit(place.1) as usize);
            let (new, lost) = (has.saturating_sub(had), had.saturating_sub(has));
            for (orbit, at, count) in [(src, 0, had), (src, 1, new), (dst, 2, had), (dst, 3, new), (src, 4, lost)] {
                counts[orbit][at] = counts[orbit][at].saturating_add(count);
            }
            changes.up += u64::from(new);
        }
        let order = u64::from(both.order());
        changes.up *= order;
        for [out, out_new, into, into_new, out_lost] in counts {
            changes.transmitters += u64::from(out_new.max(out_lost)) * order;
            for (had, new) in [(out, out_new), (into, into_new)] {
                if new > 0 {
                    changes.up_at_one = changes.up_at_one.max(new);
                    changes.needed = changes.needed.max(had.saturating_add(new));
                }
            }
        }
        changes
    }

    /// Whether each GPU sets up what it does on one port that was dark before.
    fn fit_one_dark_port(&self, ports: u32) -> bool {
        self.up_at_one <= 1 && self.needed <= ports
    }

    /// Seconds that they take on ports that are alike, and how many of them the step before hides, which takes
    /// `before_s` seconds.
    fn delay_s(&self, fabric: &Fabric, before_s: f64) -> (f64, f64) {
        let terms = fabric.reconfiguration.delay().terms();
        let of_ports = |ports: u64| terms.fixed_s + terms.per_port_s * ports as f64;
        if self.transmitters == 0 {
            (0.0, 0.0)
        } else if fabric.reconfiguration.overlap().background && self.fit_one_dark_port(fabric.shape.ports()) {
            (if self.up == 0 { 0.0 } else { of_ports(self.up) }, before_s)
        } else {
            (of_ports(self.transmitters), 0.0)
        }
    }
}

/// The circuits of a topology where every port is on a switch of its own, by switch and end.
#[derive(Default)]
struct Switches {
    /// Delays of the switches, s, the slowest first.
    delays_s: Vec<f64>,
    /// Per switch and source, the destination.
    destinations: BTreeMap<(usize, Rank), Rank>,
    /// Per switch and destination, the source.
    sources: BTreeMap<(usize, Rank), Rank>,
}

impl Switches {
    /// The assignment of docs/cost-model.md, circuit by circuit.
    fn of(topology: &Topology, by_port_s: &[f64]) -> Self {
        let mut delays_s = by_port_s.to_vec();
        delays_s.sort_by(|a, b| b.total_cmp(a));
        // More circuits than ports are another check's to find; as many switches of no delay keep this one going.
        delays_s.resize(delays_s.len().max(topology.degree() as usize), 0.0);
        let mut switches = Self { delays_s, ..Self::default() };
        let ranks = topology.ranks();
        let mut circuits = BTreeMap::new();
        for Link { src, dst, count } in topology.expanded() {
            let ahead = if dst > src { dst - src } else { ranks + dst - src };
            circuits.insert((ahead.min(ranks - ahead), ahead > ranks - ahead, src), (dst, count));
        }
        for ((_, _, src), (dst, count)) in circuits {
            (0..count).for_each(|_| switches.join(src, dst));
        }
        switches
    }

    /// Sets up one more circuit. A circuit that is in its way moves to the other of two switches, where it may push out
    /// another circuit in turn.
    fn join(&mut self, src: Rank, dst: Rank) {
        let is_dark = |ends: &BTreeMap<(usize, Rank), Rank>, switch, rank| !ends.contains_key(&(switch, rank));
        let slowest = |ends, rank| (0..self.delays_s.len()).find(|&switch| is_dark(ends, switch, rank)).unwrap_or(0);
        let free = (0..self.delays_s.len())
            .find(|&switch| is_dark(&self.destinations, switch, src) && is_dark(&self.sources, switch, dst));
        let (mut on, mut other) = match free {
            Some(switch) => (switch, switch),
            None => (slowest(&self.destinations, src), slowest(&self.sources, dst)),
        };
        let mut placed = Some((src, dst));
        while let Some((src, dst)) = placed {
            interruption::check();
            let further = self.destinations.insert((on, src), dst).map(|dst| (src, dst));
            let nearer = self.sources.insert((on, dst), src).map(|src| (src, dst));
            placed = further.or(nearer);
            // A circuit that is taken off the switch leaves no trace at its other end.
            if let Some((src, _)) = nearer {
                self.destinations.remove(&(on, src));
            }
            if let Some((_, dst)) = further {
                self.sources.remove(&(on, dst));
            }
            (on, other) = (other, on);
        }
    }

    /// The circuits on one switch.
    fn on(&self, switch: usize) -> BTreeMap<Rank, Rank> {
        let all = self.destinations.range((switch, 0)..(switch + 1, 0));
        all.map(|(&(_, src), &dst)| (src, dst)).collect()
    }

    /// Seconds of a change, and how many of them the step before hides, which takes `before_s` seconds.
    fn delay_s(fabric: &Fabric, [from, to]: [Self; 2], before_s: f64) -> (f64, f64) {
        let fixed_s = fabric.reconfiguration.delay().terms().fixed_s;
        let switches = from.delays_s.len().max(to.delays_s.len());
        let ways = (0..switches).map(|switch| (from.on(switch), to.on(switch)));
        let changed: Vec<(usize, bool, bool)> = ways
            .enumerate()
            .filter(|(_, (from, to))| from != to)
            .map(|(switch, (from, to))| (switch, from.is_empty(), to.is_empty()))
            .collect();
        let takes_s = |switch: Option<&usize>| {
            switch.map_or(0.0, |&switch| fixed_s + to.delays_s.get(switch).copied().unwrap_or(0.0))
        };
        let set_up: Vec<usize> =
            changed.iter().filter(|(.., ends_dark)| !ends_dark).map(|&(switch, ..)| switch).collect();
        let on_dark = changed.iter().all(|&(_, was_dark, ends_dark)| was_dark || ends_dark);
        if fabric.reconfiguration.overlap().background && on_dark && set_up.len() <= 1 {
            return (takes_s(set_up.first()), before_s);
        }
        // The slowest that changes is the first.
        (takes_s(changed.first().map(|(switch, ..)| switch)), 0.0)
    }
}
