//! A time below which no plan of an iteration can go.

use model::{Bound, Collective, Result, Work, Workload};

use crate::jobs::{Jobs, Task};
use crate::library::Library;
use crate::ports::circuits;

/// The largest of: the longest path through the graph with every communication at the bound for any algorithm of its
/// collective on all ports; the most that the ports of a rank must carry, over their rate; the most that a rank
/// computes.
///
/// # Errors
/// A group that no fabric can have.
pub(crate) fn bound(workload: &Workload, made: &Jobs, library: &Library<'_>) -> Result<Bound> {
    let of_kind: Vec<f64> = made.kinds.iter().map(|kind| library.bound_s(kind)).collect::<Result<_>>()?;
    let jobs = &made.jobs;
    let mut ends_s = vec![0.0f64; jobs.len()];
    for &node in &made.order {
        let start_s = jobs[node].before.iter().map(|&before| ends_s[before]).fold(0.0, f64::max);
        ends_s[node] = start_s
            + match &jobs[node].task {
                Task::Compute { duration_s } => *duration_s,
                Task::Communicate { kind, .. } => of_kind[*kind],
            };
    }
    let path_s = ends_s.iter().copied().fold(0.0, f64::max);
    let fabric = library.group_plans.fabric;
    let rate_s = fabric.byte_s() / circuits(fabric, (0, fabric.shape.ports()));
    let mut computed_s = vec![0.0f64; made.classes];
    for job in jobs {
        if let Task::Compute { duration_s } = job.task {
            job.classes.iter().for_each(|&class| computed_s[class] += duration_s);
        }
    }
    let most = |numbers: Vec<f64>| numbers.into_iter().fold(0.0, f64::max);
    let terms = [
        (path_s, "longest path, each communication at the bound for any algorithm"),
        (rate_s * carried(workload), "bytes that ports must carry"),
        (most(computed_s), "computation of a rank"),
    ];
    let (seconds, name) = terms.into_iter().fold((0.0, ""), |best, term| if term.0 > best.0 { term } else { best });
    Ok(Bound { seconds, class: format!("any plan of this iteration: {name}") })
}

/// Bytes that the ports of some rank must send or receive at least: the most of any rank, where only what it cannot
/// leave to others counts, or the mean of all.
fn carried(workload: &Workload) -> f64 {
    let mut of_rank = vec![[0.0f64; 2]; workload.ranks as usize];
    let mut of_all = 0.0;
    for (node, stated) in workload.nodes.iter().enumerate() {
        interruption::check();
        match &stated.work {
            Work::Compute { .. } => {}
            Work::Send { pairs, size_bytes } => {
                for &(source, destination) in pairs {
                    of_rank[source as usize][0] += *size_bytes as f64;
                    of_rank[destination as usize][1] += *size_bytes as f64;
                    of_all += *size_bytes as f64;
                }
            }
            Work::Collective { collective, size_bytes, .. } => {
                let matrix = workload.matrix_of(node);
                for group in workload.groups_of(node) {
                    let (m, size) = (*size_bytes as f64, group.len() as f64);
                    for (place, rank) in group.iter().enumerate() {
                        let (sent, received) = match &matrix {
                            Some(matrix) => matrix.exchanged_bytes(place),
                            None => least_bytes(*collective, m, size),
                        };
                        of_rank[*rank as usize][0] += sent;
                        of_rank[*rank as usize][1] += received;
                        of_all += if matrix.is_some() { sent } else { 0.0 };
                    }
                    if matrix.is_some() {
                        continue;
                    }
                    of_all += (size - 1.0)
                        * match collective {
                            Collective::AllReduce => 2.0 * m,
                            Collective::Gather | Collective::Scatter => m / size,
                            _ => m,
                        };
                }
            }
        }
    }
    let mean = of_all / f64::from(workload.ranks);
    of_rank.into_iter().flatten().fold(mean, f64::max)
}

/// The bytes that every rank of a group must send, and receive, in any algorithm.
fn least_bytes(collective: Collective, m: f64, size: f64) -> (f64, f64) {
    let others = m * (1.0 - 1.0 / size);
    match collective {
        Collective::AllReduce => (m, m),
        Collective::ReduceScatter => (others, m / size),
        Collective::AllGather => (m / size, others),
        Collective::AllToAll => (others, others),
        // The root of a broadcast receives nothing, and another rank need not send; so it is with the others.
        Collective::Broadcast | Collective::Reduce | Collective::Gather | Collective::Scatter => (0.0, 0.0),
    }
}
