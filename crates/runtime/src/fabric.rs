//! The switch's handling of packets: where a circuit leads, and until when it holds them back. It has no clock of its
//! own.

/// Why a packet is not led anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The port has no circuit.
    Missing,
    /// The port's circuit is being set up.
    Dark,
}

impl Refusal {
    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Missing => "the port has no circuit; the switch refused the packet",
            Self::Dark => "the port's circuit is dark while it is being set up; the switch refused the packet",
        }
    }
}

/// The way of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// Number of the port that it leaves by.
    pub to: u32,
    /// Moment at which the first bit of the packet enters the circuit.
    pub first_ns: u64,
    /// Moment at which the last bit of the packet has left the circuit.
    pub due_ns: u64,
}

/// The circuits of the moment, and when each is free again. `pace` has the nanoseconds of a byte on the circuit from
/// one port to another, and those from one end of it to the other.
#[derive(Debug)]
pub struct Fabric<P> {
    pace: P,
    to: Vec<Option<u32>>,
    free_ns: Vec<f64>,
    dark_until_ns: Vec<u64>,
}

impl<P: Fn(usize, u32) -> (f64, u64)> Fabric<P> {
    /// A fabric without circuits.
    pub fn new(ports: usize, pace: P) -> Self {
        Self { pace, to: vec![None; ports], free_ns: vec![0.0; ports], dark_until_ns: vec![0; ports] }
    }

    /// The port to which the circuit of each port leads.
    pub fn circuits(&self) -> &[Option<u32>] {
        &self.to
    }

    /// Changes where circuits of ports lead; they are dark for `dark_ns` from when it was asked for. Returns when all are
    /// there.
    pub fn change(&mut self, changed: &[(usize, Option<u32>)], asked_ns: u64, dark_ns: u64) -> u64 {
        for &(port, end) in changed {
            self.to[port] = end;
            self.dark_until_ns[port] = asked_ns + dark_ns;
        }
        asked_ns + dark_ns
    }

    /// Takes a packet that was sent at a moment; packets of one port are taken in the order in which they were sent.
    pub fn take(&mut self, port: usize, sent_ns: u64, bytes: u32) -> Result<Passage, Refusal> {
        let to = self.to[port].ok_or(Refusal::Missing)?;
        if sent_ns < self.dark_until_ns[port] {
            return Err(Refusal::Dark);
        }
        let (ns_per_byte, hop_ns) = (self.pace)(port, to);
        let first_ns = self.free_ns[port].max(sent_ns as f64);
        let free_ns = first_ns + f64::from(bytes) * ns_per_byte;
        self.free_ns[port] = free_ns;
        Ok(Passage { to, first_ns: first_ns as u64, due_ns: free_ns as u64 + hop_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_held_back_by_rate_and_hop() {
        let mut fabric = Fabric::new(2, |_, _| (2.0, 100));
        fabric.change(&[(0, Some(1)), (1, Some(0))], 0, 0);
        // 2 ns a byte: one that was sent while another is under way waits for it.
        assert_eq!(fabric.take(0, 1000, 50), Ok(Passage { to: 1, first_ns: 1000, due_ns: 1200 }));
        assert_eq!(fabric.take(0, 1010, 50), Ok(Passage { to: 1, first_ns: 1100, due_ns: 1300 }));
        assert_eq!(fabric.take(1, 1010, 50), Ok(Passage { to: 0, first_ns: 1010, due_ns: 1210 }));
        assert_eq!(fabric.take(0, 5000, 10), Ok(Passage { to: 1, first_ns: 5000, due_ns: 5120 }));
    }

    #[test]
    fn a_circuit_has_the_pace_of_its_ends() {
        let mut fabric = Fabric::new(2, |from, to| (f64::from(to) + 1.0, 10 * from as u64));
        fabric.change(&[(0, Some(1)), (1, Some(0))], 0, 0);
        assert_eq!(fabric.take(0, 1000, 50).map(|passage| passage.due_ns), Ok(1100));
        assert_eq!(fabric.take(1, 1000, 50).map(|passage| passage.due_ns), Ok(1060));
    }

    #[test]
    fn what_changes_is_dark_and_what_stays_carries() {
        let mut fabric = Fabric::new(3, |_, _| (1.0, 0));
        fabric.change(&[(0, Some(1)), (2, Some(0))], 0, 0);
        assert_eq!(fabric.change(&[(0, Some(2))], 1000, 500), 1500);
        assert_eq!(fabric.circuits(), [Some(2), None, Some(0)]);
        assert_eq!(fabric.take(0, 1499, 1), Err(Refusal::Dark));
        assert_eq!(fabric.take(0, 1500, 1).map(|passage| passage.to), Ok(2));
        assert_eq!(fabric.take(1, 2000, 1), Err(Refusal::Missing));
        assert_eq!(fabric.take(2, 1200, 1).map(|passage| passage.to), Ok(0));
    }
}
