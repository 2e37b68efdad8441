//! The work of one rank in each step, worked out before it starts.

use crate::request::Request;

/// A message that a rank sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Index of the message.
    pub message: usize,
    /// Bytes.
    pub bytes: u64,
    /// Ports that its packets take in turn.
    pub ports: Vec<u32>,
}

/// A message that a rank receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// Index of the message.
    pub message: usize,
    /// Offset at which the bytes of the message are put until all have come.
    pub staged_at: u64,
}

/// A step of one rank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepShare {
    /// Messages that it sends, by index.
    pub sent: Vec<Sent>,
    /// Messages that it receives, by index.
    pub received: Vec<Received>,
    /// Bytes that come to it, also for others.
    pub incoming_bytes: u64,
    /// Packets that come to it, also for others.
    pub incoming_packets: u64,
    /// Bytes that it receives, all messages one after the other.
    pub staged_bytes: u64,
}

/// The shares of all ranks: by rank, then by step.
///
/// # Errors
/// The step, rank and next rank of a path that no circuit of the step's configuration joins.
pub fn shares(request: &Request) -> Result<Vec<Vec<StepShare>>, (usize, u32, u32)> {
    let program = &request.program;
    let mut shares = vec![vec![StepShare::default(); request.steps.len()]; program.ranks as usize];
    for message in 0..program.messages() {
        let (step, path, bytes) =
            (program.step[message] as usize, program.path(message), program.message_bytes(message));
        for pair in path.windows(2) {
            if request.ports_to(step, pair[0], pair[1]).next().is_none() {
                return Err((step, pair[0], pair[1]));
            }
            let next = &mut shares[pair[1] as usize][step];
            next.incoming_bytes += bytes;
            next.incoming_packets += bytes.div_ceil(u64::from(request.packet_bytes));
        }
        let ports = request.turns_to(step, path[0], path[1]);
        shares[path[0] as usize][step].sent.push(Sent { message, bytes, ports });
        let last = &mut shares[path[path.len() - 1] as usize][step];
        last.received.push(Received { message, staged_at: last.staged_bytes });
        last.staged_bytes += bytes;
    }
    Ok(shares)
}
