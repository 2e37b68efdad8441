//! FAST in the network that it is made for: servers of m GPUs with an electrical network inside, circuits between GPUs
//! of different servers (Lei et al., FAST: An Efficient Scheduler for All-to-All GPU Communication, arXiv 2505.09764).
//!
//! ```text
//! matrix ─▶ balancing ─────────▶ every GPU of a server has 1/m of what the server sends to each other server
//!        ─▶ matchings of servers ─▶ stages: GPU i of a server sends to GPU i of the one server that it is matched to
//!        ─▶ redistribution ────▶ what arrived for another GPU of the server is handed on
//! ```
//!
//! The matchings are those of the Birkhoff–von Neumann decomposition of the servers' matrix, so that all stages
//! together last as long as the busiest server's circuits must. Stages are a pipeline: while one is under way over circuits, the
//! electrical network balances the next and redistributes the one before, and sends what stays within servers.

mod balancing;
mod pipeline;
mod servers;

use collectives::direct_from_matrix;
use model::{Error, Result};

use balancing::Balanced;
pub use servers::{FastOnServers, Parcel, ServerNetwork, Stage};

/// FAST's All-to-All of `matrix[src][dst]` bytes on servers; the diagonal stays where it is.
///
/// O(GPUs² · stages of a pair of servers), and the decomposition of the servers' matrix.
///
/// # Errors
/// `matrix`: one that is not square, with rows that are no whole number of servers of two GPUs or more, with an entry
/// that is negative or not finite, or with nothing to send. `electrical`, `bandwidth`: a rate that is not positive.
pub fn fast_on_servers(matrix: &[Vec<f64>], network: &ServerNetwork) -> Result<FastOnServers> {
    check(matrix, network)?;
    let m = network.server_gpus as usize;
    let servers = matrix.len() / m;
    let between = |from: usize, to: usize| -> f64 {
        (from * m..from * m + m).map(|src| matrix[src][to * m..to * m + m].iter().sum::<f64>()).sum()
    };
    let totals: Vec<Vec<f64>> = (0..servers)
        .map(|from| (0..servers).map(|to| if from == to { 0.0 } else { between(from, to) }).collect())
        .collect();
    let mut stages = Vec::new();
    if totals.iter().flatten().any(|&bytes| bytes > 0.0) {
        let mut balanced: Vec<Vec<Option<Balanced>>> =
            (0..servers).map(|_| (0..servers).map(|_| None).collect()).collect();
        let matchings = matchings_of(&totals)?;
        let mut uses = vec![vec![0; servers]; servers];
        matchings.iter().flatten().for_each(|&(from, to, _)| uses[from][to] += 1);
        for matching in matchings {
            interruption::check();
            let mut parcels = Vec::new();
            for &(from, to, bytes) in &matching {
                let queues = balanced[from][to].get_or_insert_with(|| Balanced::new(matrix, m, from, to));
                uses[from][to] -= 1;
                // The last takes what rounding has left.
                let share = if uses[from][to] == 0 { f64::INFINITY } else { bytes / m as f64 };
                queues.take(share, &mut parcels);
            }
            let pairs = matching.iter().map(|&(from, to, _)| (from as u32, to as u32)).collect();
            stages.push(Stage { pairs, parcels, optical_s: 0.0, electrical_s: 0.0 });
        }
    }
    Ok(pipeline::timed(stages, matrix, &totals, network))
}

/// (server, server that it sends to, bytes) of every matching, the longest first.
fn matchings_of(totals: &[Vec<f64>]) -> Result<Vec<Vec<(usize, usize, f64)>>> {
    // The decomposition counts whole bytes of a buffer; small matrices are scaled up.
    let largest = totals.iter().flatten().copied().fold(0.0, f64::max);
    let scale = 2f64.powi((30 - largest.log2().ceil() as i32).min(900));
    let scaled: Vec<Vec<f64>> = totals.iter().map(|row| row.iter().map(|bytes| bytes * scale).collect()).collect();
    let (schedule, buffer) = direct_from_matrix(&scaled)?;
    let chunks = schedule.chunks();
    let bytes_of = |src: usize, dst: usize, transfer_chunks: &[u32]| match chunks.as_pieces() {
        Some(pieces) => transfer_chunks.iter().map(|&chunk| pieces[chunk as usize].share * buffer / scale).sum(),
        None => totals[src][dst],
    };
    let matching = |step: &model::Step| {
        let ends = step.expanded(chunks).into_iter();
        ends.map(|transfer| {
            let (src, dst) = (transfer.src as usize, transfer.dst as usize);
            (src, dst, bytes_of(src, dst, &transfer.chunks))
        })
        .collect()
    };
    Ok(schedule.steps().iter().map(matching).collect())
}

fn check(matrix: &[Vec<f64>], network: &ServerNetwork) -> Result<()> {
    let (n, m) = (matrix.len(), network.server_gpus as usize);
    if m < 2 || n < m || !n.is_multiple_of(m) {
        let accepts = "2 or more GPUs of a server, a divisor of the matrix's rows";
        return Err(Error::value("electrical", format!("servers of {m} GPUs for a matrix of {n} rows"), accepts));
    }
    if matrix.iter().any(|row| row.len() != n) {
        return Err(Error::value("matrix", "rows of different lengths", "as many columns as rows"));
    }
    if matrix.iter().flatten().any(|bytes| !(0.0..1e300).contains(bytes)) {
        return Err(Error::value("matrix", "an entry that is negative or not finite", "numbers of bytes from 0"));
    }
    let sent = (0..n).any(|src| (0..n).any(|dst| src != dst && matrix[src][dst] > 0.0));
    if !sent {
        return Err(Error::value("matrix", "a matrix that sends nothing", "some bytes off the diagonal"));
    }
    for (field, rate) in [("electrical", network.electrical_bytes_per_s), ("bandwidth", network.optical_bytes_per_s)] {
        if !(rate > 0.0 && rate.is_finite()) {
            return Err(Error::value(field, format!("{rate} B/s"), "a positive rate"));
        }
    }
    Ok(())
}
