//! Broadcast: data leave the root one after the other, and spread after they have left.
//!
//! Let L_t be what step t puts on the busiest circuit, over m, on topologies of degree d. Prices r_t for what goes out
//! of the root's d circuits and w_t for what goes over any of the n·d, with d·r_t + n·d·w_t = 1, make Σ L_t at least
//! what the cheapest byte pays. Two ways to price hold for all steps of any hops.
//!
//! - *Growth that is left.* A rank that holds a byte after step t has at most S_t descendants at the end, itself among
//!   them: the product, over the topologies from there on, of the ranks within their hops. All others descend from the
//!   root's copies, so those of steps t₁, t₂, … have Σ S_tᵢ ≥ n − 1, and with σ_t = min(1, S_t/(n−1)) and r_t = σ_t/d a
//!   byte pays 1/d at least to leave. With w_t = (1 − σ_t)/(n·d) the ranks reached in step t pay that each. σ falls, so
//!   they pay least if reached as early as can be; the g-th rank is reached no earlier than where the topologies so far
//!   have g ranks within their hops. A step of several hops pays no less than as many of one hop.
//! - *On one topology*, H hops in all, w = (a+1)/(H·n·d) for a step that begins after a hops. A rank that is y hops
//!   from the root, reached over ℓ of them in a step that begins after x hops, x ≥ a + y − ℓ where the byte leaves
//!   after a, pays ℓ·(x+1)/(H·n·d) ≥ (a+y)/(H·n·d). Leaving pays (1 − (a+1)/H)/d at least. With Y the least sum of
//!   distances and a ≤ H − D, D the hops to the farthest rank, that makes Σ L_t ≥ [1 + (Y/n − 1 − (H−D)/n)/H]/d. With
//!   several ports and few hops, [`step_loads`](crate::step_loads) says more.

use model::Collective;

use super::passes::class;
use crate::rates::Rates;
use crate::spreading::{ball, least_hops, least_usage, most_steps};
use crate::statement::{BoundSegment, Statement, largest};
use crate::step_divisions::{Division, Known, cheapest};
use crate::step_loads::StepLoads;

const WHY: &str = "the buffer of one rank leaves it through its ports, and data that leaves late has few hops left: \
     leaving and spreading use the circuits one after the other";

/// The bound; `None` where hops are not charged, since then nothing limits them.
pub(super) fn bound(collective: Collective, rates: &Rates, buffer_s: f64) -> Option<Statement> {
    if !rates.charges_hops || rates.ranks < 3 {
        return None;
    }
    let bounds = rates.mixes().iter().map(|&(hops, bytes)| {
        let (hop_s, received_s) = (rates.hop_s * hops, buffer_s * bytes / f64::from(rates.ports));
        Search { collective, rates, hop_s, received_s, best: None }.least()
    });
    largest(bounds.flatten())
}

/// Ranks within `hops` hops on `topologies` together: most where they share the hops evenly, as ln(1 + d + … + d^h) is
/// concave.
fn reach(ports: u32, hops: u32, topologies: u32) -> f64 {
    let (each, more) = (hops / topologies, hops % topologies);
    ball(ports, each).powi((topologies - more) as i32) * ball(ports, each + 1).powi(more as i32)
}

/// Hops after the first that are looked at one by one; the others in groups.
const SINGLE: u32 = 128;

/// 1, 2, …, then in groups by ratio: the first and the last of each, up to `most`.
fn groups(first: u32, most: u32) -> impl Iterator<Item = (u32, u32)> {
    let next = move |&(_, last): &(u32, u32)| {
        let start = last + 1;
        (start <= most).then(|| (start, (start + (start.saturating_sub(first) / SINGLE)).min(most)))
    };
    std::iter::successors((first <= most).then_some((first, first)), next)
}

/// Price that the ranks pay to be reached, over n times the price of a circuit: at least, with this many hops on this
/// many topologies; infinite where they do not suffice.
fn spreading(ranks: u32, ports: u32, hops: u32, topologies: u32) -> f64 {
    let all = f64::from(ranks);
    // Ranks reached by some hop on some topology, at most, and what each pays who is reached by it, at least.
    let mut reached: Vec<(f64, f64)> = Vec::new();
    for (first, last) in groups(1, hops) {
        for so_far in 1..=topologies {
            let left = reach(ports, hops - first, topologies - so_far + 1) / (all - 1.0);
            reached.push((reach(ports, last, so_far).min(all), (1.0 - left).max(0.0)));
        }
    }
    reached.sort_by(|a, b| b.0.total_cmp(&a.0));
    if reached.first().is_none_or(|(most, _)| *most < all * (1.0 - 1e-9)) {
        return f64::INFINITY;
    }
    let (mut sum, mut price, mut at) = (0.0, f64::INFINITY, all);
    for (ranks, pays) in reached {
        if ranks < at {
            sum += (at - ranks) * price;
            at = ranks;
        }
        price = price.min(pays);
    }
    // The root has it.
    (sum + (at - 1.0) * price) / all
}

/// The cheapest of all numbers of steps, hops and topologies.
struct Search<'a> {
    collective: Collective,
    rates: &'a Rates,
    hop_s: f64,
    /// Time that the buffer takes through one rank's ports.
    received_s: f64,
    best: Option<Statement>,
}

impl Search<'_> {
    fn least(mut self) -> Option<Statement> {
        let Rates { ranks, ports, .. } = *self.rates;
        // `one_each` is the least number of hops that reach all ranks with a topology for each hop. More topologies
        // than twice that lower no term of this bound.
        let one_each = (f64::from(ranks).ln() / f64::from(ports + 1).ln() - 1e-9).ceil() as u32;
        let most = 2 * one_each;
        for topologies in 2..=most {
            let enough = |hops: &u32| reach(ports, *hops, topologies) >= f64::from(ranks) * (1.0 - 1e-9);
            let least = self.least_hops(enough).max(topologies);
            for (first, last) in groups(least, 4 * least + 4) {
                interruption::check();
                if self.is_beaten(first, topologies) {
                    break;
                }
                let more = spreading(ranks, ports, last, topologies);
                self.consider(topologies, first, topologies, 1.0 + more);
                if more <= 0.0 {
                    break;
                }
            }
            self.consider(topologies, 4 * least + 5, topologies, 1.0);
        }
        self.consider(most + 1, one_each, most + 1, 1.0);
        self.on_one_topology();
        self.best
    }

    /// Least hops that are enough.
    fn least_hops(&self, enough: impl Fn(&u32) -> bool) -> u32 {
        let (mut low, mut high) = (0, self.rates.ranks);
        while low < high {
            let middle = (low + high) / 2;
            if enough(&middle) { high = middle } else { low = middle + 1 }
        }
        low
    }

    fn on_one_topology(&mut self) {
        let Rates { ranks, ports, .. } = *self.rates;
        let n = f64::from(ranks);
        let farthest = least_hops(ports, n);
        let distances = least_usage(ports, 1, &[n - 1.0])[0];
        let usages = groups(1, most_steps(ports, ranks)).map(|(first, last)| {
            let last = if last == most_steps(ports, ranks) { u32::MAX } else { last };
            (first, least_usage(ports, last.min(ranks), &[n - 1.0])[0] / n)
        });
        let usages: Vec<(u32, f64)> = usages.collect();
        let most = 16 * farthest;
        let received = |last: u32| {
            let beyond = f64::from(last - farthest) / n;
            let evenly = (distances / n - 1.0 - beyond) / f64::from(last);
            // With twice the hops all ranks can be reached before any of them pays.
            let growing = if last < 2 * farthest + 2 { spreading(ranks, ports, last, 1) } else { 0.0 };
            1.0 + evenly.max(growing).max(0.0)
        };
        if ports > 1 {
            let used =
                |steps: u32| usages.iter().rev().find(|(first, _)| *first <= steps).map_or(0.0, |(_, used)| *used);
            let circuits = f64::from(ports);
            let known = Known { by_hops: &|hops| received(hops) / circuits, by_steps: &|steps| used(steps) / circuits };
            let loads = StepLoads::new(ranks, ports);
            let seconds = |of: Division| self.latency_s(of.steps, of.hops, 1) + self.received_s * of.load * circuits;
            let limit_s = self.best.as_ref().map_or(f64::INFINITY, Statement::seconds);
            if let Some(Division { steps, hops, load }) = cheapest(&loads, &seconds, &known, limit_s) {
                self.consider(steps, hops, 1, load * circuits);
            }
            return;
        }
        for (first, last) in groups(farthest, most) {
            interruption::check();
            if self.is_beaten(first, 1) {
                break;
            }
            let received = received(last);
            for &(steps, used) in &usages {
                self.consider(steps, first.max(steps), 1, received.max(used));
            }
        }
        self.consider(1, most + 1, 1, 1.0);
    }

    /// Time of the changes between this many topologies. One of them may be that at the start, which has to be left
    /// where changes are needed in any case.
    fn changes_s(&self, topologies: u32) -> f64 {
        let changes = (topologies - 1).max(self.rates.least_changes);
        self.rates.change_s * f64::from(changes + self.rates.first_changes)
    }

    fn latency_s(&self, steps: u32, hops: u32, topologies: u32) -> f64 {
        self.rates.startup_s * f64::from(steps) + self.hop_s * f64::from(hops) + self.changes_s(topologies)
    }

    /// Whether this many hops, in a step on each topology, take as long as the best without what spreading takes.
    fn is_beaten(&self, hops: u32, topologies: u32) -> bool {
        let least_s = self.latency_s(topologies, hops, topologies) + self.received_s;
        self.best.as_ref().is_some_and(|best| best.seconds() <= least_s)
    }

    /// Notes what takes `received` times the buffer through a rank's ports, if it is the cheapest.
    fn consider(&mut self, steps: u32, hops: u32, topologies: u32, received: f64) {
        let transmission_s = self.received_s * received;
        let seconds = self.latency_s(steps, hops, topologies) + transmission_s;
        if !seconds.is_finite() || self.best.as_ref().is_some_and(|best| best.seconds() <= seconds) {
            return;
        }
        self.best = Some(Statement {
            name: "leaving",
            class: class(self.collective, self.rates.ports),
            why: WHY,
            startup_s: self.rates.startup_s * f64::from(steps),
            propagation_s: self.hop_s * f64::from(hops),
            transmission_s,
            reconfiguration_s: self.changes_s(topologies),
            topologies,
            steps,
            segments: if topologies == 1 {
                vec![BoundSegment { steps, hops, growth: f64::from(self.rates.ranks) }]
            } else {
                Vec::new()
            },
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_cover_every_number_once() {
        for (first, most) in [(1, 1), (1, 127), (1, 5000), (63, 4032)] {
            let all: Vec<u32> = groups(first, most).flat_map(|(first, last)| first..=last).collect();
            assert_eq!(all, (first..=most).collect::<Vec<_>>());
        }
    }

    #[test]
    fn spreading_on_one_port_and_one_topology_is_a_sum_by_hand() {
        // With H = n − 1 + e hops the rank at x hops pays 1 − min(1, (H−x+1)/(n−1)) = (x−e−1)/(n−1) beyond the first
        // e + 1.
        for (ranks, more) in [(4u32, 0u32), (9, 2), (64, 0), (64, 40)] {
            let left = f64::from(ranks - 2 - more);
            let by_hand = left * (left + 1.0) / 2.0 / f64::from(ranks - 1) / f64::from(ranks);
            assert!((spreading(ranks, 1, ranks - 1 + more, 1) - by_hand).abs() < 1e-12);
        }
    }

    #[test]
    fn reach_shares_hops_evenly() {
        assert_eq!((reach(1, 5, 2), reach(2, 3, 3), reach(2, 0, 2), reach(2, 4, 1)), (12.0, 27.0, 1.0, 31.0));
    }
}
