//! How long a change of topology takes where nothing of it is hidden.

use std::collections::BTreeMap;

use super::LinkChange;
use crate::{Rank, Result, TECHNOLOGIES, Topology, Translations, units, unknown_name};

/// What a change of topology takes, by the circuits before and after it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReconfigurationDelay {
    fixed_s: f64,
    per_port_s: f64,
}

/// What a delay is made of: for those who read it, write it or judge it. Whoever plans asks the delay itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DelayTerms {
    /// Seconds for any change.
    pub fixed_s: f64,
    /// Seconds for each port whose circuit changes.
    pub per_port_s: f64,
}

/// How much changes between two topologies, counted in what the delay that found it depends on. It depends on the
/// circuits and on the kind of delay, not on seconds, so that many delays of a kind share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference(u64);

impl Difference {
    /// None at all.
    pub const NONE: Self = Self(0);
}

/// A topology with what a delay needs of it to tell it from many others.
#[derive(Debug, Clone, Copy)]
pub struct Compared<'a> {
    topology: &'a Topology,
}

impl ReconfigurationDelay {
    /// The same delay for every change.
    pub fn constant(fixed_s: f64) -> Self {
        Self { fixed_s, per_port_s: 0.0 }
    }

    /// A part for any change, and one for each port whose circuit changes.
    pub fn per_port(fixed_s: f64, per_port_s: f64) -> Self {
        Self { fixed_s, per_port_s }
    }

    /// `10us`, `20ns/port`, `5us+20ns/port`, or the name of a technology.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(field: &str, text: &str) -> Result<Self> {
        let text = text.trim();
        if let Some(technology) = TECHNOLOGIES.iter().find(|technology| technology.name == text) {
            return Ok(Self::constant(technology.delay_s));
        }
        if text.chars().next().is_some_and(char::is_alphabetic) {
            return Err(unknown_name(field, text, TECHNOLOGIES.iter().map(|technology| technology.name)));
        }
        let (mut fixed_s, mut per_port_s) = (0.0, 0.0);
        // A plus inside an exponent (1e+3ns) is not a separator.
        for term in text.split('+').fold(Vec::<String>::new(), |mut terms, part| {
            match terms.last_mut() {
                Some(last) if last.ends_with(['e', 'E']) => *last = format!("{last}+{part}"),
                _ => terms.push(part.to_string()),
            }
            terms
        }) {
            match term.trim().strip_suffix("/port") {
                Some(per_port) => per_port_s += units::parse_time(field, per_port)?,
                None => fixed_s += units::parse_time(field, &term)?,
            }
        }
        let delay = Self::per_port(fixed_s, per_port_s);
        // Each term is a time; their sum must be one, too.
        delay.check(field)?;
        Ok(delay)
    }

    /// # Errors
    /// A time outside the range of times.
    pub(super) fn check(&self, field: &str) -> Result<()> {
        [self.fixed_s, self.per_port_s].into_iter().try_for_each(|time| units::time_from_f64(field, time).map(|_| ()))
    }

    /// What it is made of.
    pub fn terms(&self) -> DelayTerms {
        DelayTerms { fixed_s: self.fixed_s, per_port_s: self.per_port_s }
    }

    /// In words: `10.00 us + 20.00 ns per changed port`.
    pub fn summary(&self) -> String {
        let fixed = units::show_time(self.fixed_s);
        if self.per_port_s == 0.0 {
            return fixed;
        }
        format!("{fixed} + {} per changed port", units::show_time(self.per_port_s))
    }

    /// Seconds that every change takes, if they are the same for all.
    pub fn constant_s(&self) -> Option<f64> {
        (self.per_port_s == 0.0).then_some(self.fixed_s)
    }

    /// The number of seconds that says all of it, if one does.
    pub fn scalar_s(&self) -> Option<f64> {
        self.constant_s()
    }

    /// Seconds of it that any change takes, whatever changes.
    pub fn fixed_s(&self) -> f64 {
        self.fixed_s
    }

    /// The same with another part for any change.
    #[must_use]
    pub fn with_fixed_s(&self, fixed_s: f64) -> Self {
        Self { fixed_s, ..self.clone() }
    }

    /// Seconds that any change takes at least: it replaces one circuit.
    pub fn lower_bound_s(&self) -> f64 {
        self.fixed_s + self.per_port_s
    }

    /// Seconds that a change of all circuits takes, on so many ports of all GPUs together.
    pub fn of_all_ports_s(&self, ports: u64) -> f64 {
        self.seconds(Difference(ports))
    }

    /// Seconds from one topology to another; nothing when the links are the same.
    pub fn between_s(&self, from: &Topology, to: &Topology) -> f64 {
        self.seconds(self.difference(&self.compared(from), &self.compared(to)))
    }

    /// Seconds that a difference takes.
    pub fn seconds(&self, difference: Difference) -> f64 {
        match difference {
            Difference::NONE => 0.0,
            Difference(ports) => self.fixed_s + self.per_port_s * ports as f64,
        }
    }

    /// What differences from this topology are found by.
    pub fn compared<'a>(&self, topology: &'a Topology) -> Compared<'a> {
        Compared { topology }
    }

    /// How much changes from one topology to another, or back.
    pub fn difference(&self, from: &Compared, to: &Compared) -> Difference {
        Difference(match self.constant_s() {
            Some(_) => u64::from(!from.topology.same_links(to.topology)),
            None => from.topology.changed_ports(to.topology),
        })
    }

    /// How much changes from one topology to another on ports that carry nothing before, if one of each GPU is enough;
    /// GPUs have `ports` of them. Circuits that are given up take no time.
    pub(super) fn on_dark_ports(&self, from: &Compared, to: &Compared, ports: u32) -> Option<Difference> {
        let new = to.topology.set_up_after(from.topology);
        new.fits_one_dark_port(ports).then_some(Difference(new.circuits))
    }
    /// The group under which [`Self::by_link`] is invariant for changes to or from a topology.
    pub(super) fn symmetry(&self, topology: &Topology) -> Translations {
        topology.symmetry().clone()
    }

    /// What becomes of every link of `to`, one per orbit of `group`, in a change from `from` that takes `delay_s`: by its
    /// ends.
    pub(super) fn by_link(
        &self,
        (from, to): (&Topology, &Topology),
        delay_s: f64,
        group: &Translations,
    ) -> BTreeMap<(Rank, Rank), LinkChange> {
        let links = |of: &Topology| of.links_under(group).into_iter().map(|link| ((link.src, link.dst), link.count));
        let had: BTreeMap<(Rank, Rank), u32> = links(from).collect();
        let change = |(ends, count): ((Rank, Rank), u32)| {
            let kept = had.get(&ends).map_or(0, |had| count.min(*had));
            (ends, LinkChange { kept, set_up_s: vec![delay_s; (count - kept) as usize] })
        };
        links(to).map(change).collect()
    }
}
