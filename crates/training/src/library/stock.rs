//! Plans for all kinds of a family on some ports, from and on the topologies that they share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use interruption::Interruptible;
use model::{Plan, Result, Topology};
use rayon::prelude::*;

use super::{Circuits, Library, PROHIBITIVE_S, Wish};
use crate::cutoffs::library_stock::{MOST_OF_LARGE, MOST_RANKS_OF_MATRIX};
use crate::entry::{Entry, TopologyId};
use crate::group_plans::{Manner, is_large};
use crate::known_plans::VariantKind;
use crate::ports::{Ports, width};
use crate::variants::{renumbered, reversed};

/// Delays, as multiples of the fabric's own, at which plans are looked for: others than its own find plans that change
/// more or less often, which suit other neighbours.
const DELAYS: [f64; 5] = [0.25, 0.5, TIES, 2.0, 4.0];

/// The fabric's own delay but for the last bit: of plans that take as long, rounding chooses another one. Where blocks
/// differ, no two plans take as long.
const TIES: f64 = 1.0 - f64::EPSILON / 2.0;

/// Largest factor over the best time of a plan that counts as nearly the best.
const NEARLY: f64 = 1.02;

impl Library<'_> {
    /// Finds plans for all kinds of a family on some ports: from a free start, and from and on each topology that a
    /// plan of theirs begins or ends with, until there is nothing new. `progress` is told how many of them are found.
    ///
    /// # Errors
    /// A collective that no planner serves.
    pub(crate) fn stock(
        &mut self,
        family: usize,
        ports: Ports,
        given: &[TopologyId],
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<()> {
        let ports = self.alike(ports);
        let kinds: Vec<usize> = (0..self.kinds.len()).filter(|&kind| self.kinds[kind].family == family).collect();
        let size = self.families[family].size;
        let is_unequal = kinds.iter().any(|&kind| self.kinds[kind].matrix.is_some());
        let large = is_large(size, width(ports)) || (is_unequal && size > MOST_RANKS_OF_MATRIX);
        let most = if large { self.most_topologies.min(MOST_OF_LARGE) } else { self.most_topologies };
        let delays = if large || self.group_plans.delay_s == 0.0 { &[][..] } else { &DELAYS };
        let manner = |delay_s: f64| Manner { start: None, delay_s, planner: None, on: None };
        self.fulfil(kinds.iter().map(|&kind| Wish { kind, ports, manner: manner(0.0) }).collect(), progress)?;
        let own_s = self.group_plans.delay_s;
        self.fulfil(kinds.iter().map(|&kind| Wish { kind, ports, manner: manner(own_s) }).collect(), progress)?;
        // Where a plan that keeps its topology is nearly the best of all, those that change are of next to no use.
        let changing: Vec<usize> = kinds.iter().copied().filter(|&kind| !self.is_best_kept(kind, ports)).collect();
        let has_ties: Vec<bool> = self.kinds.iter().map(|kind| kind.matrix.is_none()).collect();
        let others = changing.iter().flat_map(|&kind| delays.iter().map(move |&factor| (kind, factor)));
        let others = others.filter(|&(kind, factor)| factor != TIES || has_ties[kind]);
        let others = others.map(|(kind, factor)| (kind, factor * own_s));
        self.fulfil(others.map(|(kind, delay_s)| Wish { kind, ports, manner: manner(delay_s) }).collect(), progress)?;
        let mut done = 0;
        let of_all = self.for_all_matrices(&kinds, ports);
        let kept: Vec<TopologyId> = kinds
            .iter()
            .flat_map(|&kind| self.entries(kind, ports))
            .filter(|entry| entry.keeps)
            .map(|entry| entry.first)
            .collect();
        let known = self.topologies.entry((family, ports)).or_default();
        // Where few are tried, those that some plan keeps come first: others join nobody for long.
        if self.families.len() > 1 {
            known.sort_by_key(|id| !kept.contains(id));
        }
        for &id in of_all.iter().chain(given).rev() {
            known.retain(|known| *known != id);
            known.insert(0, id);
        }
        loop {
            let known = self.topologies.get(&(family, ports)).cloned().unwrap_or_default();
            let new: Vec<TopologyId> = known.iter().copied().take(most).skip(done).collect();
            if new.is_empty() {
                break;
            }
            done += new.len();
            let mut wishes = Vec::new();
            for id in new {
                let Circuits::Group(topology) = &self.circuits[id.0 as usize] else { continue };
                for &kind in &kinds {
                    let delays_s = [PROHIBITIVE_S, own_s, TIES * own_s];
                    let count = match (changing.contains(&kind), &self.kinds[kind].matrix) {
                        (false, _) => 1,
                        (true, Some(_)) => 2,
                        (true, None) => 3,
                    };
                    for &delay_s in &delays_s[..count] {
                        let manner = Manner { start: Some(topology.clone()), delay_s, planner: None, on: None };
                        wishes.push(Wish { kind, ports, manner });
                    }
                }
            }
            self.fulfil(wishes, progress)?;
        }
        self.add_messages(&kinds, family, ports);
        for kind in kinds {
            self.prune(kind, ports);
        }
        Ok(())
    }

    /// Whether some plan of a kind keeps its topology and takes next to no longer than the fastest would if changes
    /// took no time.
    fn is_best_kept(&self, kind: usize, ports: Ports) -> bool {
        let without_changes_s = |entry: &Entry| {
            let steps = &self.plans[entry.plan?].steps;
            Some(steps.iter().map(|step| step.cost.total_s() - step.cost.reconfiguration_s).sum::<f64>())
        };
        let entries = self.entries(kind, ports);
        let least_s = entries.iter().filter_map(without_changes_s).fold(f64::INFINITY, f64::min);
        entries.iter().any(|entry| entry.keeps && entry.duration_s <= NEARLY * least_s)
    }

    fn fulfil(&mut self, wishes: Vec<Wish>, progress: &(dyn Fn(&str) + Sync)) -> Result<()> {
        let done = AtomicUsize::new(0);
        let plan = |wish: &Wish| {
            let plan = self.planned(wish);
            progress(&format!("{} of {}", done.fetch_add(1, Ordering::Relaxed) + 1, wishes.len()));
            plan
        };
        // Wishes for a kind from one start have much in common: one after the other, each finds it.
        let is_like = |a: &Wish, b: &Wish| a.kind == b.kind && a.manner.start == b.manner.start;
        let alike: Vec<&[Wish]> = wishes.chunk_by(is_like).collect();
        let all = |alike: &&[Wish]| alike.iter().map(plan).collect();
        let found: Vec<Vec<Result<Option<Arc<Plan>>>>> = alike.par_iter().interruptible().map(all).collect();
        for (wish, plan) in wishes.iter().zip(found.into_iter().flatten()) {
            // From a given topology, or at another delay, a refusal is no news.
            let own = wish.manner.start.is_none() && wish.manner.delay_s == self.group_plans.delay_s;
            let plan = if own { plan? } else { plan.ok().flatten() };
            let Some(plan) = plan else { continue };
            let mut found = vec![(wish.kind, plan)];
            if let Some(kind) = self.mirror_of(wish.kind) {
                found.extend(
                    reversed(&found[0].1)
                        .and_then(|variant| {
                            self.group_plans.of_variant(&found[0].1, wish.ports, VariantKind::Reversed, variant)
                        })
                        .map(|plan| (kind, plan)),
                );
            }
            for (kind, plan) in found {
                let variant = renumbered(&plan).filter(|(_, topologies)| {
                    let ends = [topologies.first(), topologies.last()];
                    ends.into_iter().flatten().all(|end| self.is_known(wish, end))
                });
                let family = self.kinds[kind].family;
                let has_room = |plan: &Arc<Plan>| self.check_room(family, wish.ports, &plan.topologies).is_ok();
                let made =
                    |variant| self.group_plans.of_variant(&plan, wish.ports, VariantKind::Renumbered, variant).ok();
                let variant = variant.and_then(made);
                let variant = variant.filter(has_room);
                if !has_room(&plan) {
                    continue;
                }
                self.enter(kind, wish.ports, self.group_plans.charged(&plan)?);
                if let Some(plan) = variant {
                    self.enter(kind, wish.ports, self.group_plans.charged(&plan)?);
                }
            }
        }
        Ok(())
    }

    /// Whether plans for a wish begin or end with a topology already.
    fn is_known(&self, wish: &Wish, topology: &Topology) -> bool {
        let known = self.topologies.get(&(self.kinds[wish.kind].family, wish.ports));
        let same = |id: &TopologyId| self.group_topology(*id).is_some_and(|known| known.same_links(topology));
        known.is_some_and(|known| known.iter().any(same))
    }

    /// The kind whose plans are those of a kind backwards, if it is there.
    fn mirror_of(&self, kind: usize) -> Option<usize> {
        let mirror = self.kinds[kind].mirrored()?;
        self.kinds.iter().position(|known| *known == mirror)
    }

    /// Keeps the fastest entries of each first and last topology, and drops those that a change before and after
    /// another one undercut.
    fn prune(&mut self, kind: usize, ports: Ports) {
        let Some(entries) = self.entries.get_mut(&(kind, ports)) else { return };
        entries.sort_by(|a, b| {
            a.duration_s.total_cmp(&b.duration_s).then(a.first.cmp(&b.first)).then(a.last.cmp(&b.last))
        });
        let most_s = entries.first().map_or(0.0, |best| best.duration_s + 2.0 * self.group_plans.delay_s);
        let mut kept: Vec<Entry> = Vec::new();
        for entry in entries.iter() {
            let like =
                |known: &Entry| (known.first, known.last) == (entry.first, entry.last) && (known.keeps || !entry.keeps);
            if !kept.iter().any(like) && (entry.keeps || entry.duration_s <= most_s) {
                kept.push(*entry);
            }
        }
        *entries = kept;
    }
}
