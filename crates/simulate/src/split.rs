//! The path of each packet of a transfer.

/// Parts into which the sum of shares is cut: what rounding makes of a share is far less than one.
const UNIT: f64 = (1_u64 << 40) as f64;

/// Shares of the paths of a transfer, in whole parts, so that no order of arithmetic shows in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shares {
    parts: Vec<i64>,
    all: i64,
}

impl Shares {
    /// The shares, with any sum; `None` where one is negative or not finite, or all are zero.
    pub(crate) fn new(shares: &[f64]) -> Option<Self> {
        let sum: f64 = shares.iter().sum();
        let are_shares = shares.iter().all(|share| (0.0..).contains(share)) && sum.is_finite() && sum > 0.0;
        if !are_shares {
            return None;
        }
        let parts: Vec<i64> = shares.iter().map(|share| (share / sum * UNIT).round() as i64).collect();
        let all = parts.iter().sum();
        (all > 0).then_some(Self { parts, all })
    }

    /// Number of paths.
    pub(crate) fn paths(&self) -> usize {
        self.parts.len()
    }

    /// The part of all that a path has, as exact as shares are told apart.
    pub(crate) fn of(&self, path: usize) -> f64 {
        self.parts[path] as f64 / self.all as f64
    }

    /// Whether all paths have the same.
    pub(crate) fn are_equal(&self) -> bool {
        self.parts.windows(2).all(|pair| pair[0] == pair[1])
    }
}

/// Packets on each path, and the path of the last packet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Split {
    pub(crate) packets: Vec<u64>,
    pub(crate) last: usize,
}

/// Deals out `packets` by `shares`: each goes to the path that is furthest behind its share, the first of
/// equals; what rounding makes of shares counts for nothing. O(packets · paths); O(1) for one path.
pub(crate) fn split(packets: u64, shares: &Shares) -> Split {
    if shares.paths() < 2 {
        return Split { packets: vec![packets; shares.paths()], last: 0 };
    }
    let mut dealer = Dealer::new(shares.paths());
    let last = (0..packets).fold(0, |_, _| dealer.deal(shares).0);
    Split { packets: dealer.sent, last }
}

/// Deals packets out one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Dealer {
    /// Packets on each path so far.
    sent: Vec<u64>,
    /// The part of a packet by which each path is behind its share of the packets so far.
    behind: Vec<i64>,
    /// Rounding error of two shares, in parts of one.
    rounding: i64,
}

impl Dealer {
    /// Before the first packet.
    pub(crate) fn new(paths: usize) -> Self {
        Self { sent: vec![0; paths], behind: vec![0; paths], rounding: 0 }
    }

    /// The path of the next packet, and its number on the path, by the rule of [`split`]. O(paths).
    pub(crate) fn deal(&mut self, shares: &Shares) -> (usize, u64) {
        let mut path = 0;
        self.rounding += 2;
        for (other, part) in shares.parts.iter().enumerate() {
            self.behind[other] += part;
            if self.behind[other] > self.behind[path] + self.rounding {
                path = other;
            }
        }
        self.behind[path] -= shares.all;
        self.sent[path] += 1;
        (path, self.sent[path] - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split_by(packets: u64, shares: &[f64]) -> Split {
        split(packets, &Shares::new(shares).expect("shares"))
    }

    #[test]
    fn packets_follow_the_shares_from_the_first_on() {
        assert_eq!(split_by(7, &[1.0]), Split { packets: vec![7], last: 0 });
        assert_eq!(split_by(5, &[0.5, 0.5]), Split { packets: vec![3, 2], last: 0 });
        assert_eq!(split_by(1, &[0.25, 0.75]), Split { packets: vec![0, 1], last: 1 });
        assert_eq!(split_by(8, &[0.25, 0.75]).packets, [2, 6]);
        assert_eq!(split_by(4, &[0.0, 1.0]).packets, [0, 4]);
    }

    #[test]
    fn what_is_no_share_is_none() {
        for wrong in [&[][..], &[0.0], &[-0.5, 1.5], &[f64::NAN, 1.0], &[f64::INFINITY], &[f64::MAX, f64::MAX]] {
            assert_eq!(Shares::new(wrong), None, "{wrong:?}");
        }
    }

    proptest! {
        /// Fractions of small numbers, as routings have them, each a few units in the last place off.
        #[test]
        fn rounding_of_shares_moves_no_packet(
            counts in prop::collection::vec(1_u32..12, 1..6), noise in prop::collection::vec(-4_i32..5, 6),
            packets in 1_u64..400
        ) {
            let sum: u32 = counts.iter().sum();
            let shares: Vec<f64> = counts.iter().map(|&count| f64::from(count) / f64::from(sum)).collect();
            let off = |(share, steps): (&f64, &i32)| share * (1.0 + f64::from(*steps) * f64::EPSILON);
            let noisy: Vec<f64> = shares.iter().zip(&noise).map(off).collect();
            prop_assert_eq!(split_by(packets, &noisy), split_by(packets, &shares));
            // Whole rounds give each path its count, and no path is ever a packet behind by more than the others are
            // ahead.
            let whole = split_by(packets * u64::from(sum), &noisy).packets;
            let expected: Vec<u64> = counts.iter().map(|&count| packets * u64::from(count)).collect();
            prop_assert_eq!(whole, expected);
        }
    }
}
