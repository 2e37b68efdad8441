//! GPUs that change roles, so that a plan uses nothing that is broken.
//!
//! Which GPU does what in a plan is open: where few circuits cannot be made, the plan's topologies mostly leave some
//! pair unused (the GPUs of the dead link take the roles of such a pair), and a Broadcast has GPUs that pass nothing on.

use std::collections::BTreeMap;

use model::{
    Chunks, Collective, Link, Op, Rank, Result, Schedule, Shape, Step, Topology, Transfer, Translations, WorkingPorts,
};

use crate::cutoffs::around_faults::MOST_TRIED;

/// The rank that has each role: the rank that does what rank r does in the plan is `by_role[r]`.
pub(super) struct Roles {
    by_role: Vec<Rank>,
}

/// Roles with which the topologies fit what works; where none are found, those with which the fewest circuits do not.
/// `None` where all keep their own, or data are tied to ranks of their own.
pub(super) fn find(topologies: &[Topology], shape: &Shape, chunks: &Chunks) -> Option<Roles> {
    if chunks.as_pieces().is_some() {
        return None;
    }
    let search = Search::new(topologies, shape, chunks.root());
    let mut taken: Vec<Option<Rank>> = vec![None; search.weak.len()];
    let mut tried = 0;
    if !search.extend(&mut taken, 0, &mut tried) {
        taken = search.least_harm();
    }
    let ranks = shape.gpus() as usize;
    let mut by_role: Vec<Option<Rank>> = vec![None; ranks];
    for (&rank, role) in search.weak.iter().zip(&taken) {
        by_role[role.unwrap_or(rank) as usize] = Some(rank);
    }
    // All other ranks keep their own roles where these are still free.
    let mut placed = vec![false; ranks];
    by_role.iter().flatten().for_each(|&rank| placed[rank as usize] = true);
    for rank in 0..ranks {
        if !placed[rank] && by_role[rank].is_none() {
            by_role[rank] = Some(rank as Rank);
            placed[rank] = true;
        }
    }
    let mut others = (0..ranks as Rank).filter(|&rank| !placed[rank as usize]);
    let by_role: Vec<Rank> = by_role.into_iter().filter_map(|rank| rank.or_else(|| others.next())).collect();
    let is_changed = by_role.iter().zip(0..).any(|(&rank, role)| rank != role);
    is_changed.then_some(Roles { by_role })
}

/// The search for roles of ranks at which something is broken.
struct Search<'a> {
    shape: &'a Shape,
    working: WorkingPorts,
    weak: Vec<Rank>,
    root: Option<Rank>,
    /// The most circuits out of and into each role.
    out: Vec<u32>,
    into: Vec<u32>,
    /// Pairs of roles with a circuit, by source.
    joined: Vec<Vec<bool>>,
}

impl<'a> Search<'a> {
    fn new(topologies: &[Topology], shape: &'a Shape, root: Option<Rank>) -> Self {
        let ranks = shape.gpus() as usize;
        let (mut out, mut into) = (vec![0; ranks], vec![0; ranks]);
        let mut joined = vec![vec![false; ranks]; ranks];
        for topology in topologies {
            let (mut own_out, mut own_into) = (vec![0; ranks], vec![0; ranks]);
            for Link { src, dst, count } in topology.expanded() {
                own_out[src as usize] += count;
                own_into[dst as usize] += count;
                joined[src as usize][dst as usize] = true;
            }
            for rank in 0..ranks {
                out[rank] = out[rank].max(own_out[rank]);
                into[rank] = into[rank].max(own_into[rank]);
            }
        }
        let working = WorkingPorts::of(shape);
        let is_whole = |rank: usize| working.out[rank].min(working.into[rank]) == shape.ports();
        let is_cut = |rank: Rank| (0..shape.gpus()).any(|other| !shape.joins(rank, other) || !shape.joins(other, rank));
        let weak = (0..shape.gpus()).filter(|&rank| !is_whole(rank as usize) || is_cut(rank)).collect();
        Self { shape, working, weak, root, out, into, joined }
    }

    /// Whether a rank may have a role at all.
    fn is_open(&self, rank: Rank, role: Rank) -> bool {
        match self.root {
            Some(root) => (rank == root) == (role == root),
            None => true,
        }
    }

    /// Circuits of a role for which a rank lacks ports.
    fn lacking(&self, rank: Rank, role: Rank) -> u32 {
        self.out[role as usize].saturating_sub(self.working.out[rank as usize])
            + self.into[role as usize].saturating_sub(self.working.into[rank as usize])
    }

    /// Whether the role of a rank uses a circuit to or from one that has its role already, where that is broken.
    fn is_cut(&self, (rank, role): (Rank, Rank), taken: &[Option<Rank>]) -> bool {
        self.weak.iter().zip(taken).filter_map(|(&other, &its)| Some((other, its?))).any(|(other, its)| {
            (self.joined[role as usize][its as usize] && !self.shape.joins(rank, other))
                || (self.joined[its as usize][role as usize] && !self.shape.joins(other, rank))
        })
    }

    /// Gives the weak ranks from the `next` on roles that use nothing broken; the own role first.
    fn extend(&self, taken: &mut [Option<Rank>], next: usize, tried: &mut u32) -> bool {
        let Some(&rank) = self.weak.get(next) else { return true };
        for role in std::iter::once(rank).chain((0..self.shape.gpus()).filter(|&role| role != rank)) {
            *tried += 1;
            if *tried > MOST_TRIED {
                return false;
            }
            let is_free = !taken[..next].contains(&Some(role)) && self.is_open(rank, role);
            if !is_free || self.lacking(rank, role) > 0 || self.is_cut((rank, role), &taken[..next]) {
                continue;
            }
            taken[next] = Some(role);
            if self.extend(taken, next + 1, tried) {
                return true;
            }
        }
        false
    }

    /// For each weak rank in turn the role that is left for which it lacks the fewest ports.
    fn least_harm(&self) -> Vec<Option<Rank>> {
        let mut taken: Vec<Option<Rank>> = Vec::new();
        for &rank in &self.weak {
            let roles = (0..self.shape.gpus()).filter(|&role| {
                let kept = self.weak.contains(&role) && role != rank;
                !kept && !taken.contains(&Some(role)) && self.is_open(rank, role)
            });
            let harm = |role: Rank| (self.lacking(rank, role), self.is_cut((rank, role), &taken), role != rank, role);
            let least = roles.min_by_key(|&role| harm(role));
            taken.push(least);
        }
        taken
    }
}

impl Roles {
    fn of(&self, role: Rank) -> Rank {
        self.by_role[role as usize]
    }

    /// The topology with every circuit between the ranks that have its roles.
    ///
    /// # Errors
    /// The errors of [`Topology::new`], none of which a topology has.
    pub(super) fn of_topology(&self, topology: &Topology) -> Result<Topology> {
        let links = topology.expanded().into_iter().map(|link| Link {
            src: self.of(link.src),
            dst: self.of(link.dst),
            count: link.count,
        });
        let moved = Topology::new(topology.name(), Translations::trivial(topology.ranks()), links)?;
        Ok(if moved.same_links(topology) {
            topology.clone()
        } else {
            moved.renamed(format!("{}, roles changed", topology.name()))
        })
    }

    /// The schedule carried out by the ranks that have its roles: data go with them.
    ///
    /// # Errors
    /// The errors of [`Step::new`].
    pub(super) fn of_schedule(&self, schedule: &Schedule) -> Result<Schedule> {
        let chunks = schedule.chunks();
        let steps = schedule.steps().iter().map(|step| {
            interruption::check();
            // The transfers of a chunk that arrive at a rank, by sender; of copies and reductions, copies come first.
            let mut arriving: BTreeMap<(Rank, u32), Vec<(Rank, Op)>> = BTreeMap::new();
            for transfer in step.expanded(chunks) {
                for &chunk in &transfer.chunks {
                    let place = (self.of(transfer.dst), self.of_chunk(chunks, chunk));
                    arriving.entry(place).or_default().push((self.of(transfer.src), transfer.op));
                }
            }
            let mut by_link: BTreeMap<(Rank, Rank, Op), Vec<u32>> = BTreeMap::new();
            for ((dst, chunk), mut senders) in arriving {
                let mut ops: Vec<Op> = senders.iter().map(|(_, op)| *op).collect();
                ops.sort_unstable();
                senders.sort_unstable();
                for ((src, _), op) in senders.into_iter().zip(ops) {
                    by_link.entry((src, dst, op)).or_default().push(chunk);
                }
            }
            let transfers = by_link.into_iter().map(|((src, dst, op), chunks)| Transfer { src, dst, op, chunks });
            Step::new(Translations::trivial(schedule.ranks()), transfers, chunks)
        });
        Schedule::new(schedule.algorithm(), chunks.clone(), steps.collect::<Result<Vec<_>>>()?)
    }

    fn of_chunk(&self, chunks: &Chunks, chunk: u32) -> u32 {
        let parts = chunks.parts().unwrap_or(1);
        let (block, part) = (chunk / parts, chunk % parts);
        if chunks.as_buffer().is_some() {
            return chunk;
        }
        if chunks.collective() == Collective::AllToAll {
            let members = chunks.members();
            return chunks.pair(self.of(block / members), self.of(block % members), part);
        }
        chunks.owned(self.of(block), part)
    }
}
