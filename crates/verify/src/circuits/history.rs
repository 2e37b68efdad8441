//! The circuits that switches join over two iterations of a training job.

use std::collections::{BTreeMap, BTreeSet};

use model::Rank;

/// A circuit from a port of a rank, or of an island, while it is lit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lit {
    pub(super) from_s: f64,
    pub(super) until_s: f64,
    pub(super) rank: Rank,
    pub(super) port: u32,
}

/// Circuits that switches join over two iterations, by rank or island and port of the transmitter, in the order of
/// time.
pub(super) struct History {
    pub(super) by_port: BTreeMap<(Rank, u32), Vec<Lit>>,
    pub(super) rounding_s: f64,
}

impl History {
    /// The receiver that hears a transmitter all the time between two.
    pub(super) fn heard(&self, rank: Rank, port: u32, from_s: f64, until_s: f64) -> Option<(Rank, u32)> {
        let lit = self.by_port.get(&(rank, port))?;
        let next = lit.partition_point(|lit| lit.from_s <= from_s + self.rounding_s);
        let last = lit.get(next.checked_sub(1)?)?;
        (last.until_s + self.rounding_s >= until_s).then_some((last.rank, last.port))
    }

    /// Circuits between ranks that are lit all the time between two, among some ports.
    pub(super) fn circuits(
        &self,
        ranks: &[Rank],
        ports: &[u32],
        from_s: f64,
        until_s: f64,
    ) -> BTreeMap<(Rank, Rank), u32> {
        let members: BTreeSet<Rank> = ranks.iter().copied().collect();
        let mut found = BTreeMap::new();
        for (&rank, &port) in ranks.iter().flat_map(|rank| ports.iter().map(move |port| (rank, port))) {
            let heard = self.heard(rank, port, from_s, until_s);
            if let Some((other, _)) = heard.filter(|(other, port)| members.contains(other) && ports.contains(port)) {
                *found.entry((rank, other)).or_insert(0) += 1;
            }
        }
        found
    }
}
