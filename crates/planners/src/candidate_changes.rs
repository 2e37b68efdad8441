//! Amounts of change between candidates, compared once for all operating points.

use interruption::Interruptible;
use model::{Compared, Difference, ReconfigurationDelay, ReconfigurationPolicy, Topology};
use rayon::prelude::*;

use crate::ProfileTable;

impl ProfileTable {
    /// Amounts of change between every two candidates, row-major `[from][to]`. A table serves delays of one kind: those
    /// of the one fabric that its candidates are for, with any part of them that every change takes.
    pub(crate) fn differences(&self, delay: &ReconfigurationDelay) -> &[Difference] {
        self.differences.get_or_init(|| {
            let compared = self.compared(delay);
            let mut differences = vec![Difference::NONE; compared.len() * compared.len()];
            for (i, from) in compared.iter().enumerate() {
                interruption::check();
                for (j, to) in compared.iter().enumerate().skip(i + 1) {
                    let difference = delay.difference(from, to);
                    differences[i * compared.len() + j] = difference;
                    differences[j * compared.len() + i] = difference;
                }
            }
            differences
        })
    }

    fn compared(&self, delay: &ReconfigurationDelay) -> Vec<Compared<'_>> {
        (0..self.candidates()).map(|candidate| delay.compared(self.candidate(candidate))).collect()
    }

    /// The changes from one candidate to another that GPUs of this many ports make in the background
    /// ([`ReconfigurationPolicy::between`]), by the first, then the second, each with how much changes. `policy` and
    /// `ports` are those of the one fabric that the candidates are for. O(candidates²) comparisons of circuits.
    pub(crate) fn background_changes(
        &self,
        policy: &ReconfigurationPolicy,
        ports: u32,
    ) -> &[(usize, usize, Difference)] {
        self.background_changes.get_or_init(|| {
            let topologies: Vec<&Topology> =
                (0..self.candidates()).map(|candidate| self.candidate(candidate)).collect();
            let compared = self.compared(policy.delay());
            let ranks = u64::from(self.schedule().ranks());
            let circuits: Vec<u64> = topologies.iter().map(|topology| topology.circuits()).collect();
            let from_one = |from: usize| {
                let is_full = circuits[from] == ranks * u64::from(ports);
                // Each GPU sets up one circuit at most, and where no port is dark none does.
                let most = if is_full { circuits[from] - 1 } else { circuits[from] + ranks };
                let others = (0..topologies.len()).filter(|&to| to != from && circuits[to] <= most);
                let changes = others.filter_map(|to| {
                    let difference = policy.in_background(&compared[from], &compared[to], ports)?;
                    Some((from, to, difference))
                });
                changes.collect::<Vec<_>>()
            };
            let by_first: Vec<Vec<_>> = (0..topologies.len()).into_par_iter().interruptible().map(from_one).collect();
            by_first.concat()
        })
    }
}
