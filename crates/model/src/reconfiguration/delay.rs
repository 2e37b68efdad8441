//! The time of a change of topology where nothing of it is hidden.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::LinkChange;
use super::port_assignment::PortAssignment;
use crate::{
    Error, Link, Rank, Result, TECHNOLOGIES, Technology, Topology, Translations, counted, units, unknown_name,
};

/// Time of a change of topology, by the circuits before and after it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReconfigurationDelay {
    /// Seconds for any change.
    fixed_s: f64,
    /// Seconds for each round of signals in which the GPUs agree on a change; none once the GPUs are known.
    round_s: f64,
    beside: Beside,
}

/// The part of a change's time that depends on the circuits, in addition to the fixed part.
#[derive(Debug, Clone, PartialEq)]
enum Beside {
    /// Seconds for each port whose circuit changes.
    PerPort(f64),
    /// Port k of every GPU is on switch k: seconds of the slowest switch that changes.
    OfSwitches {
        /// Seconds of the switch of each port.
        by_port_s: Arc<[f64]>,
        /// The seconds of all ports, the slowest first.
        slowest_first_s: Arc<[f64]>,
    },
}

/// The terms of a delay: for those who read it, write it or judge it. Planners ask the delay itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DelayTerms<'a> {
    /// Seconds for any change.
    pub fixed_s: f64,
    /// Seconds for each port whose circuit changes.
    pub per_port_s: f64,
    /// Seconds of the switch of each port, of which the slowest that changes counts; empty where ports are alike.
    pub by_port_s: &'a [f64],
}

/// The amount of change between two topologies, counted in what the delay that found it depends on. It depends on the
/// circuits and on the kind of delay, not on seconds, so that many delays of a kind share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference(u64);

impl Difference {
    /// No difference.
    pub const NONE: Self = Self(0);
}

/// A topology with what a delay needs of it to tell it from many others.
#[derive(Debug, Clone)]
pub struct Compared<'a> {
    topology: &'a Topology,
    /// Where ports are on switches of their own.
    ports: Option<PortAssignment>,
}

impl ReconfigurationDelay {
    /// A delay that is equal for every change.
    pub fn constant(fixed_s: f64) -> Self {
        Self::per_port(fixed_s, 0.0)
    }

    /// A part for any change, and one for each port whose circuit changes.
    pub fn per_port(fixed_s: f64, per_port_s: f64) -> Self {
        Self { fixed_s, round_s: 0.0, beside: Beside::PerPort(per_port_s) }
    }

    /// Port k of every GPU on switch k, by port. A change takes a fixed part and what the slowest of the switches that
    /// change takes.
    pub fn of_switches(fixed_s: f64, by_port_s: Vec<f64>) -> Self {
        let mut slowest_first_s = by_port_s.clone();
        slowest_first_s.sort_by(|a, b| b.total_cmp(a));
        Self {
            fixed_s,
            round_s: 0.0,
            beside: Beside::OfSwitches { by_port_s: by_port_s.into(), slowest_first_s: slowest_first_s.into() },
        }
    }

    /// This delay with a part for each round of signals: a control plane without a controller, in which GPUs tell each
    /// other that they are ready. See [`Self::on`].
    #[must_use]
    pub fn with_round_s(self, round_s: f64) -> Self {
        Self { round_s, ..self }
    }

    /// This delay on so many GPUs, whose rounds of signals are in its fixed part: ⌈log₂ n⌉ rounds, the least in which
    /// every GPU hears of all others where each signals to one at a time (dissemination).
    #[must_use]
    pub fn on(&self, gpus: u32) -> Self {
        let rounds = gpus.saturating_sub(1).checked_ilog2().map_or(0, |log| log + 1);
        Self { fixed_s: self.fixed_s + f64::from(rounds) * self.round_s, round_s: 0.0, ..self.clone() }
    }

    /// Whether it depends on the number of GPUs, which [`Self::on`] says.
    pub fn has_rounds(&self) -> bool {
        self.round_s > 0.0
    }

    /// A sum such as `10us`, `20ns/port`, `5us+20ns/port` or `tunable-laser+500ns/round` of times and names of
    /// technologies or their products; or such names and times by port: `10us,10us,3ms`.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(field: &str, text: &str) -> Result<Self> {
        let text = text.trim();
        if text.contains(',') {
            let of_port = |item: &str| {
                let accepts = "a time or a technology for each port";
                let refuse = || Error::value(field, format!("`{}`", item.trim()), accepts);
                Self::parse(field, item)?.scalar_s().ok_or_else(refuse)
            };
            return Ok(Self::of_switches(0.0, text.split(',').map(of_port).collect::<Result<_>>()?));
        }
        let (mut fixed_s, mut per_port_s, mut round_s) = (0.0, 0.0, 0.0);
        // A plus inside an exponent (1e+3ns) is not a separator.
        for term in text.split('+').fold(Vec::<String>::new(), |mut terms, part| {
            match terms.last_mut() {
                Some(last) if last.ends_with(['e', 'E']) => *last = format!("{last}+{part}"),
                _ => terms.push(part.to_string()),
            }
            terms
        }) {
            let term = term.trim();
            if term.is_empty() && text.contains('+') {
                let shown: String = text.chars().take(60).collect();
                let accepts = "times and technologies joined by +, such as 5us+20ns/port";
                return Err(Error::value(field, format!("`{shown}`"), accepts));
            } else if let Some(technology) = Technology::named(term) {
                fixed_s += technology.delay_s;
            } else if term.starts_with(char::is_alphabetic) {
                let known = TECHNOLOGIES.iter().map(|technology| technology.name);
                return Err(unknown_name(field, term, known.chain(["or a time such as 10us"])));
            } else if let Some(per_port) = term.strip_suffix("/port") {
                per_port_s += units::parse_time(field, per_port)?;
            } else if let Some(round) = term.strip_suffix("/round") {
                round_s += units::parse_time(field, round)?;
            } else {
                fixed_s += units::parse_time(field, term)?;
            }
        }
        let delay = Self::per_port(fixed_s, per_port_s).with_round_s(round_s);
        // Each term is a time; their sum must be one, too.
        delay.check_times(field)?;
        Ok(delay)
    }

    /// # Errors
    /// A time outside the range of times.
    fn check_times(&self, field: &str) -> Result<()> {
        let DelayTerms { fixed_s, per_port_s, by_port_s } = self.terms();
        let mut times = [fixed_s, self.round_s, per_port_s].into_iter().chain(by_port_s.iter().copied());
        times.try_for_each(|time| units::time_from_f64(field, time).map(|_| ()))
    }

    /// # Errors
    /// A time outside the range of times, or delays of more or fewer ports than there are.
    pub(super) fn check(&self, field: &str, ports: u32) -> Result<()> {
        self.check_times(field)?;
        let delays = self.terms().by_port_s.len();
        if ![0, ports as usize].contains(&delays) {
            let accepts =
                format!("one delay for all ports, or one for each of the {}", counted(u64::from(ports), "port"));
            return Err(Error::value(field, format!("a list of {}", counted(delays as u64, "delay")), accepts));
        }
        Ok(())
    }

    /// The terms of this delay on GPUs that are known: the fixed part, and what is added for ports.
    pub fn terms(&self) -> DelayTerms<'_> {
        let (per_port_s, by_port_s) = match &self.beside {
            Beside::PerPort(per_port_s) => (*per_port_s, &[][..]),
            Beside::OfSwitches { by_port_s, .. } => (0.0, &by_port_s[..]),
        };
        DelayTerms { fixed_s: self.fixed_s, per_port_s, by_port_s }
    }

    /// This delay in words: `10.00 µs + 20.00 ns per changed port`, `10.00 µs on ports 1–2 and 3.000 ms on port 3`.
    pub fn summary(&self) -> String {
        let mut fixed = units::show_time(self.fixed_s);
        if self.has_rounds() {
            fixed = format!("{fixed} + {} per round of signals", units::show_time(self.round_s));
        }
        match &self.beside {
            Beside::PerPort(0.0) => fixed,
            Beside::PerPort(per_port_s) => format!("{fixed} + {} per changed port", units::show_time(*per_port_s)),
            Beside::OfSwitches { by_port_s, .. } => {
                let mut first = 1;
                let shown = by_port_s.chunk_by(|one, next| one == next).map(|alike| {
                    let last = first + alike.len() - 1;
                    let ports = if first == last { format!("port {first}") } else { format!("ports {first}–{last}") };
                    first = last + 1;
                    format!("{} on {ports}", units::show_time(alike[0]))
                });
                let shown = shown.collect::<Vec<_>>().join(" and ");
                if self.fixed_s == 0.0 && !self.has_rounds() { shown } else { format!("{fixed} + {shown}") }
            }
        }
    }

    /// Seconds that every change takes, if they are the same for all.
    pub fn constant_s(&self) -> Option<f64> {
        if self.has_rounds() {
            return None;
        }
        match &self.beside {
            Beside::PerPort(per_port_s) => (*per_port_s == 0.0).then_some(self.fixed_s),
            Beside::OfSwitches { slowest_first_s, .. } => {
                let all_alike = slowest_first_s.first() == slowest_first_s.last();
                all_alike.then(|| self.fixed_s + slowest_first_s.first().copied().unwrap_or(0.0))
            }
        }
    }

    /// The number of seconds that says all of it, if one does.
    pub fn scalar_s(&self) -> Option<f64> {
        if matches!(self.beside, Beside::PerPort(0.0)) && !self.has_rounds() { Some(self.fixed_s) } else { None }
    }

    /// Seconds of the delay that every change takes, independent of the ports that change.
    pub fn fixed_s(&self) -> f64 {
        self.fixed_s
    }

    /// This delay with another fixed part, which every change takes.
    #[must_use]
    pub fn with_fixed_s(&self, fixed_s: f64) -> Self {
        Self { fixed_s, ..self.clone() }
    }

    /// Seconds that any change takes at least: it replaces one circuit, on the fastest port.
    pub fn lower_bound_s(&self) -> f64 {
        self.fixed_s
            + match &self.beside {
                Beside::PerPort(per_port_s) => *per_port_s,
                Beside::OfSwitches { slowest_first_s, .. } => slowest_first_s.last().copied().unwrap_or(0.0),
            }
    }

    /// Seconds that a change of all circuits takes, on this many ports of all GPUs together.
    pub fn of_all_ports_s(&self, ports: u64) -> f64 {
        match &self.beside {
            Beside::PerPort(_) => self.seconds(Difference(ports)),
            Beside::OfSwitches { slowest_first_s, .. } => self.seconds(Difference(slowest_first_s.len() as u64)),
        }
    }

    /// Seconds from one topology to another; 0 when the links are the same.
    pub fn between_s(&self, from: &Topology, to: &Topology) -> f64 {
        self.seconds(self.difference(&self.compared(from), &self.compared(to)))
    }

    /// Seconds that a difference takes.
    pub fn seconds(&self, difference: Difference) -> f64 {
        match (difference, &self.beside) {
            (Difference::NONE, _) => 0.0,
            (Difference(ports), Beside::PerPort(per_port_s)) => self.fixed_s + per_port_s * ports as f64,
            (Difference(ports), Beside::OfSwitches { slowest_first_s, .. }) => {
                let faster = slowest_first_s.len().saturating_sub(ports as usize);
                self.fixed_s + slowest_first_s.get(faster).copied().unwrap_or(0.0)
            }
        }
    }

    /// A topology made ready to find differences from it.
    pub fn compared<'a>(&self, topology: &'a Topology) -> Compared<'a> {
        let ports = match &self.beside {
            Beside::PerPort(_) => None,
            Beside::OfSwitches { by_port_s, .. } => Some(PortAssignment::of(topology, by_port_s.len())),
        };
        Compared { topology, ports }
    }

    /// The amount of change from one topology to another, or back.
    pub fn difference(&self, from: &Compared, to: &Compared) -> Difference {
        match (&from.ports, &to.ports) {
            (Some(before), Some(after)) => self.of_port(before.slowest_change(after)),
            _ if self.constant_s().is_some() => Difference(u64::from(!from.topology.same_links(to.topology))),
            _ => Difference(from.topology.changed_ports(to.topology)),
        }
    }

    /// The amount of change from one topology to another on ports that carry nothing before, if one of each GPU is
    /// enough; GPUs have `ports` of them. Circuits that are given up take no time.
    pub(super) fn on_dark_ports(&self, from: &Compared, to: &Compared, ports: u32) -> Option<Difference> {
        if let (Some(before), Some(after)) = (&from.ports, &to.ports) {
            let mut set_up = None;
            for (port, change) in before.changes(after).enumerate() {
                match change {
                    Some((true, true)) => return None,
                    Some((false, true)) if set_up.replace(port).is_some() => return None,
                    _ => {}
                }
            }
            return Some(self.of_port(set_up));
        }
        let new = to.topology.set_up_after(from.topology);
        new.fits_one_dark_port(ports).then_some(Difference(new.circuits))
    }

    /// The difference of which the slowest change is on this port, counted from the slowest: how many are not slower.
    fn of_port(&self, slowest: Option<usize>) -> Difference {
        let ports = self.terms().by_port_s.len();
        slowest.map_or(Difference::NONE, |port| Difference(ports.saturating_sub(port).max(1) as u64))
    }

    /// The group under which [`Self::by_link`] is invariant for changes to or from a topology.
    pub(super) fn symmetry(&self, topology: &Topology) -> Translations {
        let ports = self.compared(topology).ports;
        match ports.is_none_or(|ports| ports.is_invariant(topology.symmetry())) {
            true => topology.symmetry().clone(),
            false => Translations::trivial(topology.ranks()),
        }
    }

    /// The state of every link of `to`, one per orbit of `group`, in a change from `from` that takes `delay_s`: by its
    /// ends.
    pub(super) fn by_link(
        &self,
        (from, to): (&Topology, &Topology),
        delay_s: f64,
        group: &Translations,
    ) -> BTreeMap<(Rank, Rank), LinkChange> {
        let (from, to) = (self.compared(from), self.compared(to));
        let had: BTreeMap<(Rank, Rank), u32> =
            from.topology.links_under(group).into_iter().map(|link| ((link.src, link.dst), link.count)).collect();
        let change = |Link { src, dst, count }| {
            let set_up_s = match (&from.ports, &to.ports) {
                (Some(before), Some(after)) => {
                    let new = after.ports_of(src, dst).filter(|&port| !before.has(port, src, dst));
                    new.map(|port| self.seconds(self.of_port(Some(port)))).collect()
                }
                _ => vec![delay_s; count.saturating_sub(*had.get(&(src, dst)).unwrap_or(&0)) as usize],
            };
            ((src, dst), LinkChange { kept: count - set_up_s.len() as u32, set_up_s })
        };
        to.topology.links_under(group).into_iter().map(change).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> ReconfigurationDelay {
        ReconfigurationDelay::parse("delay", text).unwrap()
    }

    /// 10 ns of tuning and a signal of 500 ns in each of ⌈log₂ n⌉ rounds.
    #[test]
    fn rounds_of_signals_count_by_gpus() {
        let delay = parse("tunable-laser+500ns/round");
        assert_eq!(delay.summary(), "10.00 ns + 500.0 ns per round of signals");
        assert!(delay.has_rounds() && delay.scalar_s().is_none() && delay.constant_s().is_none());
        for (gpus, rounds) in [(1, 0.0), (2, 1.0), (3, 2.0), (4, 2.0), (5, 3.0), (32, 5.0), (33, 6.0), (64, 6.0)] {
            let on = delay.on(gpus);
            let expected_s = 10e-9 + rounds * 500e-9;
            assert!((on.scalar_s().unwrap() - expected_s).abs() < 1e-18, "{gpus}");
            assert_eq!(on.on(7), on);
        }
        let both = parse("5us+20ns/port+1us/round").on(4);
        assert!((both.fixed_s() - 7e-6).abs() < 1e-18 && both.terms().per_port_s == 20e-9);
        assert_eq!(parse("5us").on(4), parse("5us"));
    }

    #[test]
    fn rounds_are_of_the_whole_fabric_and_terms_are_known() {
        for wrong in
            ["1us,2us/round", "1us+fast", "fast+1us", "1us/rounds", "-1us/round", "passage/round", "passage+", "+1us"]
        {
            let error = ReconfigurationDelay::parse("delay", wrong).unwrap_err().to_string();
            assert!(error.starts_with("delay: "), "{error}");
        }
    }
}
