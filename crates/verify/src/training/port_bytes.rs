//! Bytes that must pass the ports of ranks in any algorithms.
//!
//! The bytes that a rank must send or receive of a collective by itself may be less than its part of the bytes that all
//! ranks of the group must: of an AllReduce any rank may leave the work to others, but all together send 2(n−1)
//! buffers. So ports are bounded twice: by what single ranks must, and in each direction by the mean over ranks that
//! are joined by groups that may share work. The larger direction of every communication counts for the bytes of a
//! single rank: ports are held from its beginning to its end, so that no other communication fills the other direction.

use std::collections::BTreeSet;

use model::{ByteMatrix, Collective, Rank, TrainingPlan, Work};

use super::held_ports::all_ports_bps;

/// Bytes out of and into a rank.
type Bytes = [f64; 2];

/// Seconds that the ports of some rank are busy at least, all of them at the full rate.
pub(super) fn busiest_s(training: &TrainingPlan) -> f64 {
    let workload = &training.workload;
    let ranks = workload.ranks as usize;
    let mut must = vec![0.0; ranks];
    let mut part: Vec<Bytes> = vec![[0.0; 2]; ranks];
    let mut joined = [Joined::new(ranks), Joined::new(ranks)];
    for (node, found) in workload.nodes.iter().enumerate() {
        match &found.work {
            Work::Compute { .. } => {}
            Work::Send { pairs, size_bytes } => {
                let mut ends = BTreeSet::new();
                for (way, rank) in pairs.iter().flat_map(|&(source, destination)| [(0, source), (1, destination)]) {
                    ends.insert(rank);
                    part[rank as usize][way] += *size_bytes as f64;
                }
                ends.into_iter().for_each(|rank| must[rank as usize] += *size_bytes as f64);
            }
            Work::Collective { collective, size_bytes, .. } => {
                if let Some(matrix) = workload.matrix_of(node) {
                    for group in workload.groups_of(node) {
                        add_matrix(&matrix, &group, &mut must, &mut part);
                    }
                    continue;
                }
                for group in workload.groups_of(node) {
                    add_group(*collective, *size_bytes as f64, &group, &mut must, &mut part, &mut joined);
                }
            }
        }
    }
    let mut bytes = must.into_iter().fold(0.0, f64::max);
    for (way, joined) in joined.iter_mut().enumerate() {
        let mut sums = vec![(0.0, 0u32); ranks];
        for (rank, part) in part.iter().enumerate() {
            let (sum, count) = &mut sums[joined.root(rank)];
            (*sum, *count) = (*sum + part[way], *count + 1);
        }
        let means = sums.into_iter().filter(|(_, count)| *count > 0).map(|(sum, count)| sum / f64::from(count));
        bytes = means.fold(bytes, f64::max);
    }
    bytes * 8.0 / all_ports_bps(&training.fabric)
}

/// Adds what the ranks of a group must send and receive in an All-to-All of a matrix.
fn add_matrix(matrix: &ByteMatrix, group: &[Rank], must: &mut [f64], part: &mut [Bytes]) {
    let rows = matrix.rows();
    for (place, &rank) in group.iter().enumerate() {
        let mut bytes: Bytes = [0.0; 2];
        for other in (0..group.len()).filter(|&other| other != place) {
            bytes[0] += rows[place][other] as f64;
            bytes[1] += rows[other][place] as f64;
        }
        let rank = rank as usize;
        must[rank] += bytes[0].max(bytes[1]);
        part[rank] = [part[rank][0] + bytes[0], part[rank][1] + bytes[1]];
    }
}

/// Adds what a group must send and receive in a collective on buffers of `bytes`.
fn add_group(
    collective: Collective,
    bytes: f64,
    group: &[Rank],
    must: &mut [f64],
    part: &mut [Bytes],
    joined: &mut [Joined; 2],
) {
    let others = (group.len() - 1) as f64;
    let block = bytes / group.len() as f64;
    let all = others
        * match collective {
            Collective::AllReduce => 2.0 * bytes,
            Collective::Gather | Collective::Scatter => block,
            _ => bytes,
        };
    let of = |place: usize| -> Bytes {
        let is_root = place == 0;
        match collective {
            Collective::AllReduce => [bytes, bytes],
            Collective::ReduceScatter => [others * block, block],
            Collective::AllGather => [block, others * block],
            Collective::AllToAll => [others * block; 2],
            Collective::Broadcast if is_root => [bytes, 0.0],
            Collective::Broadcast => [0.0, bytes],
            Collective::Reduce if is_root => [0.0, bytes],
            Collective::Reduce => [bytes, 0.0],
            Collective::Gather if is_root => [0.0, others * block],
            Collective::Gather => [block, 0.0],
            Collective::Scatter if is_root => [others * block, 0.0],
            Collective::Scatter => [0.0, block],
        }
    };
    for (place, &rank) in group.iter().enumerate() {
        let [out, into] = of(place);
        must[rank as usize] += out.max(into);
    }
    for (way, joined) in joined.iter_mut().enumerate() {
        // Where blocks go from each to each, and with two ranks, nothing can be left to others.
        let is_each_own = group.len() == 2
            || match collective {
                Collective::AllToAll => true,
                Collective::ReduceScatter | Collective::Reduce | Collective::Gather => way == 0,
                Collective::AllGather | Collective::Broadcast | Collective::Scatter => way == 1,
                Collective::AllReduce => false,
            };
        for (place, &rank) in group.iter().enumerate() {
            let own = of(place)[way];
            part[rank as usize][way] += if is_each_own { own } else { all / group.len() as f64 };
            if !is_each_own {
                joined.join(group[0], rank);
            }
        }
    }
}

/// Sets of ranks, joined one pair at a time.
struct Joined(Vec<usize>);

impl Joined {
    fn new(ranks: usize) -> Self {
        Self((0..ranks).collect())
    }

    fn root(&mut self, mut rank: usize) -> usize {
        while self.0[rank] != rank {
            self.0[rank] = self.0[self.0[rank]];
            rank = self.0[rank];
        }
        rank
    }

    fn join(&mut self, a: Rank, b: Rank) {
        let (a, b) = (self.root(a as usize), self.root(b as usize));
        self.0[a.max(b)] = a.min(b);
    }
}
