//! Marks of congestion (ECN) by random early detection: Zhu et al., *Congestion control for large-scale RDMA
//! deployments*, SIGCOMM 2015, where it is the congestion point.

/// The rule by which a circuit marks packets: by the bytes that wait behind a packet when it leaves the queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Marking {
    /// The most bytes with which no packet is marked (Kmin).
    pub least_bytes: u64,
    /// The most bytes with which not every packet is marked (Kmax).
    pub most_bytes: u64,
    /// The probability with `most_bytes`; it grows from 0 in proportion to what is above `least_bytes` (Pmax).
    pub probability: f64,
    /// Seed of the draws.
    pub seed: u64,
}

impl Marking {
    /// No packet is marked.
    pub(crate) const NEVER: Self = Self { least_bytes: u64::MAX, most_bytes: u64::MAX, probability: 0.0, seed: 0 };

    /// Whether a packet is marked that leaves `queue_bytes` behind. `packet` are numbers that no other packet at the
    /// circuit has, and that are the same for the images of the packet under a translation.
    pub(crate) fn marks(&self, queue_bytes: u64, packet: [u64; 3]) -> bool {
        if queue_bytes <= self.least_bytes {
            return false;
        }
        if queue_bytes > self.most_bytes {
            return true;
        }
        let share = (queue_bytes - self.least_bytes) as f64 / (self.most_bytes - self.least_bytes) as f64;
        self.draw(packet) < self.probability * share
    }

    /// A number from 0 to 1 that follows from the seed and the packet alone.
    fn draw(&self, packet: [u64; 3]) -> f64 {
        let mixed = packet.iter().fold(scattered(self.seed), |mixed, &number| scattered(mixed ^ number));
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014.
fn scattered(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_marked_in_proportion_to_the_queue() {
        let marking = Marking { least_bytes: 100, most_bytes: 300, probability: 0.4, seed: 7 };
        for (queue_bytes, expected) in [(0, 0.0), (100, 0.0), (150, 0.1), (200, 0.2), (300, 0.4), (301, 1.0)] {
            let marked = (0..20_000).filter(|&packet| marking.marks(queue_bytes, [3, 5, packet])).count();
            // Four standard deviations of a binomial of this many draws.
            assert!((marked as f64 / 20_000.0 - expected).abs() < 0.015, "{queue_bytes}: {marked}");
        }
    }

    #[test]
    fn draws_differ_by_seed_and_repeat_with_it() {
        let draws = |seed| {
            let marking = Marking { least_bytes: 0, most_bytes: 2, probability: 1.0, seed };
            (0..64).map(|packet| marking.marks(1, [0, 0, packet])).collect::<Vec<_>>()
        };
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
    }
}
