//! Which packets of a transfer take which path.

/// Whole bytes of a transfer of `bytes`: the next whole number, where rounding errors of the plan are not
/// counted as a byte.
pub(crate) fn whole_bytes(bytes: f64) -> u64 {
    (bytes - bytes * 4e-15 - 1e-6).ceil().max(1.0) as u64
}

/// Packets on each path, and the path of the last packet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Split {
    pub(crate) packets: Vec<u64>,
    pub(crate) last: usize,
}

/// A transfer's bytes by the exact shares of its paths, as at flow level: whole bytes that add up. Where there are too
/// few packets for every path, those that have packets have the bytes.
pub(crate) struct FluidSplit {
    /// Share of all paths before each, and of all.
    before: Vec<f64>,
    bytes: u64,
}

impl FluidSplit {
    pub(crate) fn new(shares: &[f64], dealt: &Split, bytes: u64) -> Self {
        let all_used = dealt.packets.iter().all(|&packets| packets > 0);
        let mut before = vec![0.0];
        for (share, &packets) in shares.iter().zip(&dealt.packets) {
            before.push(before[before.len() - 1] + if all_used { *share } else { packets as f64 });
        }
        Self { before, bytes }
    }

    /// Bytes of part `part` of `parts` equal ones of a path.
    pub(crate) fn bytes(&self, path: usize, part: u64, parts: u64) -> u64 {
        let (begin, end) = (self.before[path], self.before[path + 1]);
        let all = self.before[self.before.len() - 1];
        let up_to = |part: u64| {
            let share = if part == parts { end } else { begin + (end - begin) * part as f64 / parts as f64 };
            (share / all * self.bytes as f64).round() as u64
        };
        up_to(part + 1) - up_to(part)
    }
}

/// Deals out `packets` by `shares`: each goes to the path that is furthest behind its share, the first of
/// equals. O(packets · paths); O(1) for one path.
pub(crate) fn split(packets: u64, shares: &[f64]) -> Split {
    if shares.len() < 2 {
        return Split { packets: vec![packets; shares.len()], last: 0 };
    }
    let mut dealer = Dealer::new(shares.len());
    let last = (0..packets).fold(0, |_, _| dealer.deal(shares).0);
    Split { packets: dealer.sent, last }
}

/// Deals packets out one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Dealer {
    /// Packets on each path so far.
    sent: Vec<u64>,
    /// Packets so far.
    packets: u64,
}

impl Dealer {
    /// Before the first packet.
    pub(crate) fn new(paths: usize) -> Self {
        Self { sent: vec![0; paths], packets: 0 }
    }

    /// The path of the next packet, and its number on the path, by the rule of [`split`]. O(paths).
    pub(crate) fn deal(&mut self, shares: &[f64]) -> (usize, u64) {
        self.packets += 1;
        let behind = |path: usize| shares[path] * self.packets as f64 - self.sent[path] as f64;
        let path = (1..shares.len()).fold(0, |best, path| if behind(path) > behind(best) { path } else { best });
        self.sent[path] += 1;
        (path, self.sent[path] - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_follow_the_shares_from_the_first_on() {
        assert_eq!(split(7, &[1.0]), Split { packets: vec![7], last: 0 });
        assert_eq!(split(5, &[0.5, 0.5]), Split { packets: vec![3, 2], last: 0 });
        assert_eq!(split(1, &[0.25, 0.75]), Split { packets: vec![0, 1], last: 1 });
        assert_eq!(split(8, &[0.25, 0.75]).packets, [2, 6]);
        assert_eq!(split(4, &[0.0, 1.0]).packets, [0, 4]);
    }

    #[test]
    fn rounding_errors_of_the_plan_are_no_bytes() {
        assert_eq!(whole_bytes(4096.0), 4096);
        assert_eq!(whole_bytes(4_096.000_000_000_5), 4096);
        assert_eq!(whole_bytes(4096.1), 4097);
        assert_eq!(whole_bytes(1e-9), 1);
        assert_eq!(whole_bytes((1_u64 << 40) as f64 / 3.0), 366_503_875_926);
    }
}
