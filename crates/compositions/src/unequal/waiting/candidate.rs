//! Topologies with the paths of all pairs, and how they get better.

use rand_chacha::ChaCha8Rng;

use super::bases;
use super::flow::{Flow, Path};
use super::layers::Layers;
use super::task::Task;
use crate::unequal::way::Estimate;
use crate::unequal::wiring::Wiring;

/// Powers of the rounds of every candidate, of those of the best ones, of the last, and of those after a limit on hops;
/// as doublings of 1.
const QUICK: [u32; 4] = [3, 4, 5, 6];
const CLOSE: [u32; 10] = [4, 4, 5, 5, 6, 6, 7, 7, 8, 8];
const LAST: [u32; 8] = [5, 5, 6, 6, 7, 7, 8, 8];
const TRIMMED: [u32; 5] = [4, 5, 6, 7, 8];
/// Where four hops cost less than this part of the time, paths need not be shorter.
const HOPS_MATTER: f64 = 0.003;

/// Topologies, one a step, with the paths of all pairs.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) wirings: Vec<Wiring>,
    pub(super) flow: Flow,
    pub(super) seconds: f64,
    pub(super) hops_more: u32,
}

impl Candidate {
    /// The flow on these topologies after its first rounds; `None` where some pair has no path.
    pub(super) fn new(task: &Task<'_>, wirings: Vec<Wiring>, hops_more: u32, random: &mut ChaCha8Rng) -> Option<Self> {
        let hops = hops_of(&wirings, task.start.is_some(), hops_more);
        let mut flow = Flow::new(task.demand, Layers::new(&wirings), hops)?;
        flow.improve(&QUICK, task.pursuit.until, random);
        let candidate = Self { wirings, seconds: seconds(&flow, task), flow, hops_more };
        task.tell(&candidate.wirings, &candidate.flow, candidate.seconds);
        Some(candidate)
    }

    /// The flow over these paths, by pair, each with the part of its pair that it has among them, and over no longer ones
    /// within a step; `None` where some pair has no path.
    pub(super) fn on_paths(
        task: &Task<'_>,
        wirings: Vec<Wiring>,
        layers: Layers,
        paths: Vec<Vec<Path>>,
        hops_more: u32,
    ) -> Option<Self> {
        let flow = Flow::on_paths(task.demand, layers, paths)?;
        let candidate = Self { wirings, seconds: seconds(&flow, task), flow, hops_more };
        task.tell(&candidate.wirings, &candidate.flow, candidate.seconds);
        Some(candidate)
    }

    /// Most of what all rounds bring, in half of their time.
    pub(super) fn improve_soon(&mut self, task: &Task<'_>) {
        self.improve(&CLOSE, task, &mut bases::seeded(0));
    }

    /// All the rounds that a candidate gets which may be the best, or those for which there is time; deterministic
    /// without an end, whatever was tried before.
    pub(super) fn finish(&mut self, task: &Task<'_>) {
        let mut random = bases::seeded(0);
        self.improve(&CLOSE, task, &mut random);
        if 4.0 * task.prices.hop_s > HOPS_MATTER * self.seconds {
            self.trim(task, &mut random);
        }
        self.improve(&LAST, task, &mut random);
    }

    /// Takes the flow that more rounds make of this one, where it is cheaper.
    fn improve(&mut self, powers: &[u32], task: &Task<'_>, random: &mut ChaCha8Rng) {
        if task.pursuit.is_over() {
            return;
        }
        let mut flow = self.flow.clone();
        flow.improve(powers, task.pursuit.until, random);
        self.take(flow, task);
    }

    fn take(&mut self, flow: Flow, task: &Task<'_>) -> bool {
        let seconds = seconds(&flow, task);
        let is_cheaper = seconds < self.seconds;
        if is_cheaper {
            (self.flow, self.seconds) = (flow, seconds);
            task.tell(&self.wirings, &self.flow, self.seconds);
        }
        is_cheaper
    }

    /// Shorter paths in one step at a time, where the hop is worth more than the load.
    fn trim(&mut self, task: &Task<'_>, random: &mut ChaCha8Rng) {
        let mut is_shorter = true;
        while std::mem::take(&mut is_shorter) {
            for step in (0..self.wirings.len()).rev() {
                let used = self.flow.extents()[step].0;
                if used < 2 || task.pursuit.is_over() {
                    continue;
                }
                let mut hops = self.flow.hops.clone();
                hops[step] = used - 1;
                if let Some(mut flow) = self.flow.moved(task.demand, hops) {
                    flow.improve(&TRIMMED, task.pursuit.until, random);
                    is_shorter |= self.take(flow, task);
                }
            }
        }
    }
}

fn seconds(flow: &Flow, task: &Task<'_>) -> f64 {
    let (hops, loads) = flow.extents().into_iter().unzip();
    task.prices.seconds(task.start.is_some(), &Estimate { hops, loads })
}

/// The most links of each step that a path may pass.
fn hops_of(wirings: &[Wiring], has_start: bool, more: u32) -> Vec<u32> {
    let steps = wirings.len();
    let first = bases::diameter(&wirings[0]);
    if steps == 1 {
        return vec![first + more];
    }
    let later = match steps {
        2 | 3 => 3,
        4..=6 => 2,
        _ => 1,
    };
    let mut hops = vec![later; steps];
    hops[0] = if has_start { first.max(1) } else { first.max(3) };
    hops
}
