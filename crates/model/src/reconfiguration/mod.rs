//! The charge of a change of topology: its delay, less what overlaps with other work.
//!
//! Code that charges a change, or chooses by the charge of changes, asks the policy. Only the policy knows of what
//! kind the delay is.

mod delay;
mod overlap;
mod port_assignment;
mod technologies;

use std::collections::BTreeMap;

use crate::{Rank, Result, Topology, Translations};

pub use delay::{Compared, DelayTerms, Difference, ReconfigurationDelay};
pub use overlap::{ReconfigurationOverlap, Window};
pub use port_assignment::PortAssignment;
pub use technologies::{TECHNOLOGIES, Technology};

/// The charges of changes of topology on a fabric.
#[derive(Debug, Clone, PartialEq)]
pub struct ReconfigurationPolicy {
    delay: ReconfigurationDelay,
    overlap: ReconfigurationOverlap,
}

/// A change from one topology to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reconfiguration {
    /// Seconds until the new circuits are up; 0 if there are no new circuits.
    pub delay_s: f64,
    /// Whether the ports that change carried nothing during the step before, so that they changed then.
    pub in_background: bool,
}

/// Quantities on which the charge of a change depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray)]
pub enum ChargeKind {
    /// The charge depends on nothing: all changes are charged the same.
    Constant,
    /// The two topologies.
    ByTopologies,
    /// The step before it and the computation between the two as well, which it may overlap.
    Overlapping,
}

/// The circuits of a link after a change.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkChange {
    /// Circuits that were up before and stay.
    pub kept: u32,
    /// Seconds until each of the others is up, as the change is charged after a step of no time.
    pub set_up_s: Vec<f64>,
}

impl ChargeKind {
    /// All kinds of charges.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;
}

impl ReconfigurationPolicy {
    /// Changes of this delay and overlap.
    pub fn new(delay: ReconfigurationDelay, overlap: ReconfigurationOverlap) -> Self {
        Self { delay, overlap }
    }

    /// A charge that is equal for every change.
    pub fn constant(delay_s: f64) -> Self {
        ReconfigurationDelay::constant(delay_s).into()
    }

    /// Time of changes where nothing of them is hidden, as all papers have it.
    pub fn delay(&self) -> &ReconfigurationDelay {
        &self.delay
    }

    /// The work that they may overlap.
    pub fn overlap(&self) -> &ReconfigurationOverlap {
        &self.overlap
    }

    /// This policy with another delay.
    #[must_use]
    pub fn with_delay(&self, delay: ReconfigurationDelay) -> Self {
        Self { delay, ..self.clone() }
    }

    /// This policy with another fixed part of the delay, which every change takes.
    #[must_use]
    pub fn with_fixed_s(&self, fixed_s: f64) -> Self {
        self.with_delay(self.delay.with_fixed_s(fixed_s))
    }

    /// This policy with another overlap.
    #[must_use]
    pub fn with_overlap(&self, overlap: ReconfigurationOverlap) -> Self {
        Self { overlap, ..self.clone() }
    }

    /// # Errors
    /// A time outside the range of times, or delays of more or fewer ports than there are.
    pub(crate) fn check(&self, ports: u32) -> Result<()> {
        self.delay.check("reconfiguration_delay", ports)?;
        self.overlap.window.check()
    }

    /// The data on which the charge of a change depends.
    pub fn charge_kind(&self) -> ChargeKind {
        if self.overlap.hides() {
            ChargeKind::Overlapping
        } else if self.delay.constant_s().is_some() {
            ChargeKind::Constant
        } else {
            ChargeKind::ByTopologies
        }
    }

    /// Seconds that every change is charged, if it is the same for all.
    pub fn constant_s(&self) -> Option<f64> {
        self.delay.constant_s().filter(|_| !self.overlap.hides())
    }

    /// Whether pairs of topologies must be compared to know what changes are charged.
    pub fn compares_topologies(&self) -> bool {
        self.overlap.background || self.delay.constant_s().is_none()
    }

    /// Whether a change may be made while the step before it runs.
    pub fn runs_in_background(&self) -> bool {
        self.overlap.background
    }

    /// Seconds of computation before a step, counted from 0, that a change overlaps.
    pub fn window_s(&self, step: usize) -> f64 {
        self.overlap.window.before_s(step)
    }

    /// The least charge of any change, of any ports at any time.
    pub fn lower_bound_s(&self) -> f64 {
        if self.overlap.background {
            return 0.0;
        }
        (self.delay.lower_bound_s() - self.overlap.window.longest_s()).max(0.0)
    }

    /// The approximate charge of a change of all circuits, on this many ports of all GPUs together; exact where it is
    /// behind the longest window and not in the background.
    pub fn of_all_ports_s(&self, ports: u64) -> f64 {
        (self.delay.of_all_ports_s(ports) - self.overlap.window.longest_s()).max(0.0)
    }

    /// The change from `from` to `to` where GPUs have `ports` ports.
    ///
    /// In the background where that is set, every circuit that is set up finds a port of its transmitter and one of
    /// its receiver that carry nothing on `from`, and no GPU sets up more than one circuit out and one in. Circuits
    /// that are given up take no time: their ports go dark. Ports are alike: a circuit joins any transmitter of
    /// its source to any receiver of its destination. Where port k of every GPU is on a switch k, that is
    /// so as long as whole permutations are set up and given up, as between circulants.
    ///
    /// Elsewhere all circuits wait for those that change.
    pub fn between(&self, from: &Topology, to: &Topology, ports: u32) -> Reconfiguration {
        let (from, to) = (self.delay.compared(from), self.delay.compared(to));
        if let Some(difference) = self.in_background(&from, &to, ports) {
            return Reconfiguration { delay_s: self.delay.seconds(difference), in_background: true };
        }
        Reconfiguration { delay_s: self.delay.seconds(self.delay.difference(&from, &to)), in_background: false }
    }

    /// The amount of change where it is made in the background ([`Self::between`]).
    pub fn in_background(&self, from: &Compared, to: &Compared, ports: u32) -> Option<Difference> {
        if self.overlap.background { self.delay.on_dark_ports(from, to, ports) } else { None }
    }

    /// Seconds charged for a change before a step, counted from 0, after a step of `before_s` seconds without its own
    /// change; none before the first.
    pub fn charge_s(&self, change: Reconfiguration, step: usize, before_s: f64) -> f64 {
        let hidden_s = if change.in_background { before_s } else { 0.0 };
        (change.delay_s - self.window_s(step) - hidden_s).max(0.0)
    }

    /// The group under which all that [`Self::by_link`] says of changes to or from a topology is invariant.
    pub fn symmetry(&self, topology: &Topology) -> Translations {
        self.delay.symmetry(topology)
    }

    /// The state of every link of `to`, one per orbit of `group`, when it follows `from` before a step: by its ends.
    pub fn by_link(
        &self,
        (from, to): (&Topology, &Topology),
        step: usize,
        ports: u32,
        group: &Translations,
    ) -> BTreeMap<(Rank, Rank), LinkChange> {
        let change = self.between(from, to, ports);
        let mut links = self.delay.by_link((from, to), change.delay_s, group);
        for delay_s in links.values_mut().flat_map(|link| &mut link.set_up_s) {
            *delay_s = self.charge_s(Reconfiguration { delay_s: *delay_s, ..change }, step, 0.0);
        }
        links
    }
}

impl From<ReconfigurationDelay> for ReconfigurationPolicy {
    /// A policy of this delay, no part of which is hidden.
    fn from(delay: ReconfigurationDelay) -> Self {
        Self { delay, overlap: ReconfigurationOverlap::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Link;

    fn policy() -> ReconfigurationPolicy {
        let overlap = ReconfigurationOverlap { background: true, window: Window::default() };
        ReconfigurationPolicy::new(ReconfigurationDelay::per_port(10.0, 0.5), overlap)
    }

    fn circulant(offsets: &[u32]) -> Topology {
        let links = offsets.iter().map(|&dst| Link { src: 0, dst, count: 1 });
        Topology::new("circulant", Translations::cyclic(8), links).unwrap()
    }

    fn change(ports: u32, from: &[u32], to: &[u32]) -> (f64, bool) {
        let Reconfiguration { delay_s, in_background } = policy().between(&circulant(from), &circulant(to), ports);
        (delay_s, in_background)
    }

    #[test]
    fn one_dark_port_changes_in_the_background() {
        // A dark port takes the new circuits, 8 of them; the port of the old ones goes dark.
        assert_eq!(change(2, &[1], &[1, 3]), (14.0, true));
        assert_eq!(change(2, &[1], &[3]), (14.0, true));
        assert_eq!(change(2, &[1, 3], &[3]), (0.0, true));
        assert_eq!(change(3, &[1, 2], &[1, 5]), (14.0, true));
        assert_eq!(change(2, &[1, 1], &[1]), (0.0, true));
        assert_eq!(change(2, &[1], &[1]), (0.0, true));
        // No port is dark; two ports change at once.
        assert_eq!(change(2, &[1, 2], &[1, 3]), (14.0, false));
        assert_eq!(change(1, &[1], &[3]), (14.0, false));
        assert_eq!(change(4, &[1, 2], &[3, 4]), (18.0, false));
        assert_eq!(change(2, &[1], &[3, 4]), (18.0, false));
        assert_eq!(change(3, &[1], &[1, 3, 3]), (18.0, false));
    }

    #[test]
    fn every_gpu_counts_for_itself() {
        let one = |links: &[(u32, u32)]| {
            let links = links.iter().map(|&(src, dst)| Link { src, dst, count: 1 });
            Topology::new("by hand", Translations::trivial(8), links).unwrap()
        };
        let hidden = |from: &[(u32, u32)], to: &[(u32, u32)]| policy().between(&one(from), &one(to), 1).in_background;
        // The ports of 2 and 3 are dark; those of 0 and 1 are not: out of 0, into 1.
        assert!(hidden(&[(0, 1)], &[(0, 1), (2, 3)]));
        assert!(hidden(&[(0, 1)], &[(1, 0)]));
        assert!(!hidden(&[(0, 1)], &[(0, 2)]));
        assert!(!hidden(&[(0, 1)], &[(2, 1)]));
        // A circulant against circuits of a single GPU: no common symmetry.
        assert!(policy().between(&circulant(&[1]), &one(&[(0, 1), (1, 2), (0, 5)]), 2).in_background);
        assert!(!policy().between(&circulant(&[1]), &one(&[(0, 4), (0, 5)]), 2).in_background);
    }

    #[test]
    fn what_is_charged_is_what_step_and_window_leave() {
        let window = Window::parse("window", "1s,2=3s").unwrap();
        let hiding = policy().with_overlap(ReconfigurationOverlap { background: true, window: window.clone() });
        let background = Reconfiguration { delay_s: 14.0, in_background: true };
        let foreground = Reconfiguration { in_background: false, ..background };
        assert_eq!(hiding.charge_s(background, 0, 4.0), 9.0);
        assert_eq!(hiding.charge_s(background, 1, 4.0), 7.0);
        assert_eq!(hiding.charge_s(background, 2, 40.0), 0.0);
        assert_eq!(hiding.charge_s(foreground, 2, 40.0), 13.0);
        assert_eq!(hiding.charge_s(foreground, 1, 40.0), 11.0);
        assert_eq!(hiding.lower_bound_s(), 0.0);
        let windows = policy().with_overlap(ReconfigurationOverlap { background: false, window });
        assert_eq!(windows.lower_bound_s(), 7.5);
        assert_eq!(windows.charge_kind(), ChargeKind::Overlapping);
        let plain = policy().with_overlap(ReconfigurationOverlap::default());
        assert_eq!((plain.charge_kind(), plain.constant_s()), (ChargeKind::ByTopologies, None));
        let constant = plain.with_delay(ReconfigurationDelay::constant(3.0));
        assert_eq!((constant.charge_kind(), constant.constant_s()), (ChargeKind::Constant, Some(3.0)));
        let window = Window { every_s: f64::NAN, ..Window::default() };
        assert!(constant.with_overlap(ReconfigurationOverlap { background: false, window }).check(2).is_err());
    }

    #[test]
    fn a_charge_is_never_below_its_bound() {
        let window = Window::parse("window", "1s,2=3s").unwrap();
        for background in [false, true] {
            let policy = policy().with_overlap(ReconfigurationOverlap { background, window: window.clone() });
            for (from, to) in [(&[1][..], &[1, 3][..]), (&[1, 2], &[3]), (&[2], &[5])] {
                let change = policy.between(&circulant(from), &circulant(to), 2);
                for step in 0..4 {
                    assert!(policy.charge_s(change, step, 2.0) >= policy.lower_bound_s());
                }
            }
        }
    }

    #[test]
    fn links_keep_the_circuits_that_both_have() {
        let (from, to) = (circulant(&[1, 2]), circulant(&[2, 2, 5]));
        let links = policy().by_link((&from, &to), 0, 3, to.symmetry());
        let told: Vec<(Rank, u32, Vec<f64>)> =
            links.into_iter().map(|((_, dst), link)| (dst, link.kept, link.set_up_s)).collect();
        assert_eq!(told, [(2, 1, vec![18.0]), (5, 0, vec![18.0])]);
    }
}
