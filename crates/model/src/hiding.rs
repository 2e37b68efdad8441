//! What of a reconfiguration is hidden: behind the step before it, on a port that carries nothing, or behind
//! computation before the step.

use std::collections::BTreeMap;

use crate::{Error, Fabric, Result, Topology, ranges::TIME, units};

/// How changes of topology are hidden. By default they are not.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hiding {
    /// Whether every port is a switch of its own that turns while the others carry traffic.
    pub background: bool,
    /// Computation before steps, in which the fabric may be reconfigured.
    pub window: Window,
}

/// Computation before steps. It is no part of the collective's time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Window {
    /// Seconds before every step that `steps` does not have.
    pub every_s: f64,
    /// Seconds by step, from 0.
    pub steps: BTreeMap<usize, f64>,
}

/// What a window is, for messages.
const WINDOW_FORM: &str = "a time for every step such as 20us, times by step such as 1=20us,5=3us, or both";

impl Window {
    /// `20us` before every step, `1=20us,5=3us` before steps counted from 1, or both: `20us,5=3us`.
    ///
    /// # Errors
    /// Anything else, and a step that is named twice.
    pub fn parse(field: &str, text: &str) -> Result<Self> {
        let shown = || format!("`{}`", text.chars().take(60).collect::<String>());
        let refuse = || Error::value(field, shown(), format!("{WINDOW_FORM}; each {}", TIME.accepts));
        let mut every_s = None;
        let mut steps = BTreeMap::new();
        for item in text.split(',') {
            let known = match item.split_once('=') {
                None => every_s.replace(units::parse_time(field, item).map_err(|_| refuse())?),
                Some((step, time)) => {
                    let step: usize = step.trim().parse().map_err(|_| refuse())?;
                    let before = step.checked_sub(1).ok_or_else(refuse)?;
                    steps.insert(before, units::parse_time(field, time).map_err(|_| refuse())?)
                }
            };
            if known.is_some() {
                return Err(refuse());
            }
        }
        Ok(Self { every_s: every_s.unwrap_or(0.0), steps })
    }

    /// Seconds before a step, counted from 0.
    pub fn before_s(&self, step: usize) -> f64 {
        *self.steps.get(&step).unwrap_or(&self.every_s)
    }

    /// The longest before any step.
    pub fn longest_s(&self) -> f64 {
        self.steps.values().copied().fold(self.every_s, f64::max)
    }

    /// # Errors
    /// A time outside the range of times.
    pub(crate) fn check(&self) -> Result<()> {
        let mut times = self.steps.values().copied().chain([self.every_s]);
        times.try_for_each(|time| units::time_from_f64("window", time).map(|_| ()))
    }
}

/// How one topology becomes another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    /// Seconds until the new circuits are up, nothing where there are none.
    pub delay_s: f64,
    /// Whether the ports that turn carried nothing during the step before, so that they turned then.
    pub in_background: bool,
}

impl Fabric {
    /// Whether anything of any reconfiguration may be hidden.
    pub fn hides(&self) -> bool {
        self.hiding.background || self.hiding.window.longest_s() > 0.0
    }

    /// How `from` becomes `to`.
    ///
    /// In the background where that is set, every circuit that is set up finds a port of its transmitter and one of
    /// its receiver that carry nothing on `from`, and no GPU sets up more than one circuit out and one in. Circuits
    /// that are given up take no time: their ports go dark. Ports are alike: a circuit joins any transmitter of
    /// its source to any receiver of its destination. Where port k of every GPU is on a switch k, that is
    /// so as long as whole permutations are set up and given up, as between circulants.
    ///
    /// Elsewhere all circuits wait for those that change.
    pub fn turn(&self, from: &Topology, to: &Topology) -> Turn {
        if self.hiding.background {
            let new = to.set_up_after(from);
            if new.fits_one_dark_port(self.shape.ports()) {
                return Turn { delay_s: self.reconfiguration.of_ports(new.circuits), in_background: true };
            }
        }
        Turn { delay_s: self.reconfiguration.between(from, to), in_background: false }
    }

    /// Seconds charged for a turn before a step, counted from 0, after a step of `before_s` seconds without its own
    /// reconfiguration; none before the first.
    pub fn charge_s(&self, turn: Turn, step: usize, before_s: f64) -> f64 {
        let hidden_s = if turn.in_background { before_s } else { 0.0 };
        (turn.delay_s - self.hiding.window.before_s(step) - hidden_s).max(0.0)
    }

    /// What every change of topology is charged at least, whatever changes and when.
    pub fn least_charge_s(&self) -> f64 {
        if self.hiding.background {
            return 0.0;
        }
        (self.reconfiguration.fixed_s - self.hiding.window.longest_s()).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Initial, Link, ReconfigurationDelay, Shape, Translations};

    #[test]
    fn windows_are_read() {
        let steps = |text: &str| {
            let window = Window::parse("window", text).unwrap();
            (window.every_s, window.steps.into_iter().collect::<Vec<_>>())
        };
        assert_eq!(steps("20us"), (20e-6, vec![]));
        assert_eq!(steps("1=20us, 5=3us"), (0.0, vec![(0, 20e-6), (4, 3e-6)]));
        assert_eq!(steps("5=0s,1us"), (1e-6, vec![(4, 0.0)]));
        for wrong in ["", "20", "1us,2us", "0=1us", "1=1us,1=2us", "1=", "=1us", "-1=1us", "1=-1us", "1us,", "a=1us"] {
            let error = Window::parse("window", wrong).unwrap_err().to_string();
            assert!(error.starts_with("window: ") && error.contains("1=20us,5=3us"), "{error}");
        }
    }

    fn fabric(ports: u32) -> Fabric {
        Fabric {
            shape: Shape::new(8, &[], ports).unwrap(),
            bandwidth_bps: 1e9,
            startup_s: 0.0,
            hop_delay_s: 0.0,
            reconfiguration: ReconfigurationDelay { fixed_s: 10.0, per_port_s: 0.5 },
            hiding: Hiding { background: true, window: Window::default() },
            initial: Initial::Free,
        }
    }

    fn circulant(offsets: &[u32]) -> Topology {
        let links = offsets.iter().map(|&dst| Link { src: 0, dst, count: 1 });
        Topology::new("circulant", Translations::cyclic(8), links).unwrap()
    }

    fn turn(ports: u32, from: &[u32], to: &[u32]) -> (f64, bool) {
        let Turn { delay_s, in_background } = fabric(ports).turn(&circulant(from), &circulant(to));
        (delay_s, in_background)
    }

    #[test]
    fn one_dark_port_turns_in_the_background() {
        // A dark port takes the new circuits, 8 of them; the port of the old ones goes dark.
        assert_eq!(turn(2, &[1], &[1, 3]), (14.0, true));
        assert_eq!(turn(2, &[1], &[3]), (14.0, true));
        assert_eq!(turn(2, &[1, 3], &[3]), (0.0, true));
        assert_eq!(turn(3, &[1, 2], &[1, 5]), (14.0, true));
        assert_eq!(turn(2, &[1, 1], &[1]), (0.0, true));
        assert_eq!(turn(2, &[1], &[1]), (0.0, true));
        // No port is dark; two ports turn at once.
        assert_eq!(turn(2, &[1, 2], &[1, 3]), (14.0, false));
        assert_eq!(turn(1, &[1], &[3]), (14.0, false));
        assert_eq!(turn(4, &[1, 2], &[3, 4]), (18.0, false));
        assert_eq!(turn(2, &[1], &[3, 4]), (18.0, false));
        assert_eq!(turn(3, &[1], &[1, 3, 3]), (18.0, false));
    }

    #[test]
    fn every_gpu_counts_for_itself() {
        let one = |links: &[(u32, u32)]| {
            let links = links.iter().map(|&(src, dst)| Link { src, dst, count: 1 });
            Topology::new("by hand", Translations::trivial(8), links).unwrap()
        };
        let turns = |from: &[(u32, u32)], to: &[(u32, u32)]| fabric(1).turn(&one(from), &one(to)).in_background;
        // The ports of 2 and 3 are dark; those of 0 and 1 are not: out of 0, into 1.
        assert!(turns(&[(0, 1)], &[(0, 1), (2, 3)]));
        assert!(turns(&[(0, 1)], &[(1, 0)]));
        assert!(!turns(&[(0, 1)], &[(0, 2)]));
        assert!(!turns(&[(0, 1)], &[(2, 1)]));
        // A circulant against circuits of a single GPU: no common symmetry.
        assert!(fabric(2).turn(&circulant(&[1]), &one(&[(0, 1), (1, 2), (0, 5)])).in_background);
        assert!(!fabric(2).turn(&circulant(&[1]), &one(&[(0, 4), (0, 5)])).in_background);
    }

    #[test]
    fn what_is_charged_is_what_step_and_window_leave() {
        let mut fabric = fabric(2);
        fabric.hiding.window = Window::parse("window", "1s,2=3s").unwrap();
        let background = Turn { delay_s: 14.0, in_background: true };
        let foreground = Turn { in_background: false, ..background };
        assert_eq!(fabric.charge_s(background, 0, 4.0), 9.0);
        assert_eq!(fabric.charge_s(background, 1, 4.0), 7.0);
        assert_eq!(fabric.charge_s(background, 2, 40.0), 0.0);
        assert_eq!(fabric.charge_s(foreground, 2, 40.0), 13.0);
        assert_eq!(fabric.charge_s(foreground, 1, 40.0), 11.0);
        assert_eq!(fabric.least_charge_s(), 0.0);
        fabric.hiding.background = false;
        assert_eq!(fabric.least_charge_s(), 7.0);
        assert!(fabric.hides());
        fabric.hiding.window = Window::default();
        assert!(!fabric.hides());
        fabric.hiding.window.every_s = f64::NAN;
        assert!(fabric.check().is_err());
    }
}
