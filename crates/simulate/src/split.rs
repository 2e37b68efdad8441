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

/// Deals out `packets` by `shares`: each goes to the path that is furthest behind its share, the first of
/// equals. O(packets · paths); O(1) for one path.
pub(crate) fn split(packets: u64, shares: &[f64]) -> Split {
    let mut sent = vec![0; shares.len()];
    let mut last = 0;
    if shares.len() < 2 {
        sent.fill(packets);
        return Split { packets: sent, last };
    }
    for packet in 1..=packets {
        let behind = |path: usize| shares[path] * packet as f64 - sent[path] as f64;
        last = (1..shares.len()).fold(0, |best, path| if behind(path) > behind(best) { path } else { best });
        sent[last] += 1;
    }
    Split { packets: sent, last }
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
