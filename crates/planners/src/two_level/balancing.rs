//! Balancing: the bytes of one server for another, in equal parts on the GPUs of the sending server.

use std::collections::VecDeque;

use super::servers::Parcel;

/// Parts of a share below which bytes are rounding.
const ROUNDING: f64 = 1e-12;

/// For each GPU of a server, the parcels that it sends to its peer in another server, those first that need no
/// balancing. Every GPU has as many bytes.
pub(super) struct Balanced {
    queues: Vec<VecDeque<Parcel>>,
    share: f64,
}

impl Balanced {
    /// The balanced bytes of server `from` for server `to`, of `m` GPUs each. A GPU keeps bytes up to its share, first
    /// those for its own peer; the rest goes to GPUs that have room, first to the peer of the GPU that it is for. So no
    /// more bytes are moved than equal shares need. O(m²) parcels and some more.
    pub(super) fn new(matrix: &[Vec<f64>], m: usize, from: usize, to: usize) -> Self {
        let total: f64 = (0..m).map(|i| matrix[from * m + i][to * m..to * m + m].iter().sum::<f64>()).sum();
        let share = total / m as f64;
        let mut room = vec![share; m];
        let mut queues = vec![VecDeque::new(); m];
        let mut left: Vec<Vec<f64>> = (0..m).map(|i| matrix[from * m + i][to * m..to * m + m].to_vec()).collect();
        let small = ROUNDING * share;
        let mut give = |room: &mut [f64], src: usize, sender: usize, dst: usize, left: &mut f64| {
            let fits = *left - room[sender] <= small;
            let bytes = if fits { *left } else { room[sender] };
            if bytes > if fits { 0.0 } else { small } {
                let gpu = |server: usize, i: usize| (server * m + i) as u32;
                queues[sender].push_back(Parcel {
                    src: gpu(from, src),
                    sender: gpu(from, sender),
                    receiver: gpu(to, sender),
                    dst: gpu(to, dst),
                    bytes,
                });
                room[sender] -= bytes;
                *left -= bytes;
            }
        };
        for (src, left) in left.iter_mut().enumerate() {
            for dst in (src..m).chain(0..src) {
                give(&mut room, src, src, dst, &mut left[dst]);
            }
        }
        for (src, left) in left.iter_mut().enumerate() {
            for (dst, left) in left.iter_mut().enumerate() {
                give(&mut room, src, dst, dst, left);
            }
        }
        for (src, left) in left.iter_mut().enumerate() {
            for (dst, left) in left.iter_mut().enumerate() {
                for sender in 0..m {
                    give(&mut room, src, sender, dst, left);
                }
            }
        }
        // The first GPU takes the bytes that rounding has left over.
        room[0] = f64::INFINITY;
        for (src, left) in left.iter_mut().enumerate() {
            for (dst, left) in left.iter_mut().enumerate() {
                give(&mut room, src, 0, dst, left);
            }
        }
        Self { queues, share }
    }

    /// Takes the next `bytes` of every GPU, or all that is left.
    pub(super) fn take(&mut self, bytes: f64, into: &mut Vec<Parcel>) {
        for queue in &mut self.queues {
            let mut wanted = bytes;
            while wanted > ROUNDING * self.share
                && let Some(first) = queue.front_mut()
            {
                let mut taken = first.bytes.min(wanted);
                if first.bytes - taken <= ROUNDING * self.share {
                    taken = first.bytes;
                }
                wanted -= taken;
                into.push(Parcel { bytes: taken, ..*first });
                first.bytes -= taken;
                if first.bytes <= 0.0 {
                    queue.pop_front();
                }
            }
        }
    }
}
