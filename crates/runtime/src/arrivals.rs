//! The packets that came to a port in a step, by their numbers, and those that did not.
//!
//! Processors that take turns at a queue overtake each other, so that packets come out of order. A packet that is
//! overtaken waits nowhere for long: one that did not come within a second of a later one is lost.

use std::collections::BTreeMap;

/// Longest time by which a packet that others have overtaken comes later.
const OVERTAKEN_NS: u64 = 1_000_000_000;

/// The packets of a step at one port, all from one transmitter.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// Rank and port that sent them.
    from: Option<(u32, u32)>,
    /// The number after the largest that came.
    next: u64,
    /// Smaller numbers that did not come, with the moment at which that was seen.
    missing: BTreeMap<u64, u64>,
}

impl Arrivals {
    /// A packet came, of that number from 0, from a rank's port.
    ///
    /// # Errors
    /// It came before, or from elsewhere than others; the text ends where the port's number is to follow.
    pub fn note(&mut self, number: u64, from: (u32, u32), at_ns: u64) -> Result<(), String> {
        let (rank, port) = from;
        if *self.from.get_or_insert(from) != from {
            return Err(format!(
                "packets of port {port} of rank {rank}, and of another in the same step, came to port"
            ));
        }
        if number >= self.next {
            self.missing.extend((self.next..number).map(|missing| (missing, at_ns)));
            self.next = number + 1;
        } else if self.missing.remove(&number).is_none() {
            return Err(format!("packet {} of port {port} of rank {rank} came twice to port", number + 1));
        }
        Ok(())
    }

    /// The time from which on the packet that is missing for longest counts as lost.
    pub fn lost_ns(&self) -> Option<u64> {
        self.missing.values().min().map(|seen_ns| seen_ns + OVERTAKEN_NS)
    }

    /// A packet that is lost at a moment, in words that end where the port's number is to follow.
    pub fn lost(&self, at_ns: u64) -> Option<String> {
        let is_lost = |seen_ns: u64| seen_ns + OVERTAKEN_NS <= at_ns;
        let mut lost = self.missing.iter().filter(|(_, seen_ns)| is_lost(**seen_ns)).map(|(number, _)| number + 1);
        let ((rank, port), first, more) = (self.from?, lost.next()?, lost.count());
        let from = format!("of port {port} of rank {rank}");
        Some(if more == 0 {
            format!("packet {first} {from} was lost on its way to port")
        } else {
            format!("{} packets {from}, the first of them number {first}, were lost on their way to port", more + 1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_may_overtake_each_other() {
        let mut arrivals = Arrivals::default();
        for number in [2, 0, 1, 3, 5, 4] {
            assert_eq!(arrivals.note(number, (5, 1), 7), Ok(()));
        }
        assert_eq!((arrivals.lost_ns(), arrivals.lost(u64::MAX)), (None, None));
    }

    #[test]
    fn what_does_not_come_is_lost_after_a_second() {
        let mut arrivals = Arrivals::default();
        assert_eq!(arrivals.note(1, (5, 1), 7), Ok(()));
        assert_eq!(arrivals.lost_ns(), Some(1_000_000_007));
        assert_eq!(arrivals.lost(1_000_000_006), None);
        let lost = "packet 1 of port 1 of rank 5 was lost on its way to port";
        assert_eq!(arrivals.lost(1_000_000_007).as_deref(), Some(lost));
        assert_eq!(arrivals.note(4, (5, 1), 9), Ok(()));
        let lost = "3 packets of port 1 of rank 5, the first of them number 1, were lost on their way to port";
        assert_eq!(arrivals.lost(1_000_000_009).as_deref(), Some(lost));
    }

    #[test]
    fn what_comes_twice_or_from_elsewhere_is_refused() {
        let mut arrivals = Arrivals::default();
        assert_eq!(arrivals.note(0, (5, 1), 7), Ok(()));
        let twice = arrivals.note(0, (5, 1), 8);
        assert_eq!(twice, Err("packet 1 of port 1 of rank 5 came twice to port".into()));
        let other = arrivals.note(1, (4, 0), 8);
        assert_eq!(other, Err("packets of port 0 of rank 4, and of another in the same step, came to port".into()));
    }
}
