//! What a change of topology sets up and gives up, and what of its delay a fabric that hides some of it is charged.

use model::{Fabric, Link, Topology};

/// Circuits that change between two topologies.
#[derive(Debug, Default, Clone, Copy)]
struct Changes {
    /// Circuits set up.
    up: u64,
    /// Circuits given up.
    down: u64,
    /// Most circuits that are set up out of, or into, one GPU.
    up_at_one: u32,
    /// Most circuits out of, or into, a GPU that sets one up: those it has until then and those it sets up.
    needed: u32,
}

/// What a change of circuits is charged before a step.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Charge {
    /// Transmitters whose circuit differs.
    pub(crate) ports: u64,
    pub(crate) seconds: f64,
    /// The seconds of which that is what is left.
    pub(crate) of_s: f64,
}

impl Charge {
    /// Of the change from `from` to `to` before step `index`, after a step of `before_s` seconds without its own change.
    pub(crate) fn of(fabric: &Fabric, (from, to): (&Topology, &Topology), index: usize, before_s: f64) -> Self {
        let changes = Changes::between(from, to);
        let (of_s, hidden_s) = changes.delay_s(fabric, before_s);
        let window = &fabric.reconfiguration.overlap().window;
        let hidden_s = hidden_s + window.steps.get(&index).copied().unwrap_or(window.every_s);
        let seconds = if hidden_s >= of_s { 0.0 } else { of_s - hidden_s };
        Self { ports: changes.ports(), seconds, of_s }
    }
}

impl Changes {
    /// Both lists of links are sorted, so one pass over them.
    fn between(from: &Topology, to: &Topology) -> Self {
        let both = from.symmetry().meet(to.symmetry());
        let (from, to) = (from.links_under(&both), to.links_under(&both));
        let key = |link: Option<&Link>| link.map(|link| (link.src, link.dst));
        // Per orbit of GPUs: circuits out before, out and new, in before, in and new.
        let mut counts = vec![[0u32; 4]; both.orbits() as usize];
        let mut changes = Self::default();
        let (mut from, mut to) = (from.iter().peekable(), to.iter().peekable());
        while let Some(pair) = key(from.peek().copied()).into_iter().chain(key(to.peek().copied())).min() {
            let had = from.next_if(|link| (link.src, link.dst) == pair).map_or(0, |link| link.count);
            let has = to.next_if(|link| (link.src, link.dst) == pair).map_or(0, |link| link.count);
            let (src, dst) = (both.orbit(pair.0) as usize, both.orbit(pair.1) as usize);
            let new = has.saturating_sub(had);
            for (orbit, at, count) in [(src, 0, had), (src, 1, new), (dst, 2, had), (dst, 3, new)] {
                counts[orbit][at] = counts[orbit][at].saturating_add(count);
            }
            changes.up += u64::from(new);
            changes.down += u64::from(had.saturating_sub(has));
        }
        let order = u64::from(both.order());
        (changes.up, changes.down) = (changes.up * order, changes.down * order);
        for [out, out_new, into, into_new] in counts {
            for (had, new) in [(out, out_new), (into, into_new)] {
                if new > 0 {
                    changes.up_at_one = changes.up_at_one.max(new);
                    changes.needed = changes.needed.max(had.saturating_add(new));
                }
            }
        }
        changes
    }

    /// Transmitters whose circuit differs.
    fn ports(&self) -> u64 {
        self.up.max(self.down)
    }

    /// Whether each GPU sets up what it does on one port that was dark before.
    fn fit_one_dark_port(&self, ports: u32) -> bool {
        self.up_at_one <= 1 && self.needed <= ports
    }

    /// Seconds that they take, and how many of them the step before hides, which takes `before_s` seconds.
    fn delay_s(&self, fabric: &Fabric, before_s: f64) -> (f64, f64) {
        let terms = fabric.reconfiguration.delay().terms();
        let of_ports = |ports: u64| terms.fixed_s + terms.per_port_s * ports as f64;
        if self.ports() == 0 {
            (0.0, 0.0)
        } else if fabric.reconfiguration.overlap().background && self.fit_one_dark_port(fabric.shape.ports()) {
            (if self.up == 0 { 0.0 } else { of_ports(self.up) }, before_s)
        } else {
            (of_ports(self.ports()), 0.0)
        }
    }
}
