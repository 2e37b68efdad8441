//! A topology for All-to-Alls of different matrices.

use std::sync::Arc;

use model::ByteMatrix;

use super::{Circuits, Library, PROHIBITIVE_S, Wish};
use crate::entry::{Entry, TopologyId};
use crate::group_plans::Manner;
use crate::jobs::Kind;
use crate::ports::Ports;

impl Library<'_> {
    /// The best plan of a kind that keeps a topology from begin to end; `None` where there is none.
    pub(crate) fn staying(&mut self, kind: usize, ports: Ports, on: TopologyId) -> Option<Entry> {
        let start = self.group_topology(on)?.clone();
        let manner = Manner { start: Some(start), delay_s: PROHIBITIVE_S, planner: None, on: None };
        let plan = self.planned(&Wish { kind, ports, manner }).ok()??;
        let entry = self.add(kind, ports, self.group_plans.charged(&plan).ok()?);
        (entry.keeps && entry.first == on).then_some(entry)
    }

    /// The topology that is best kept for the sum of different matrices, where kinds have some.
    pub(super) fn for_all_matrices(&mut self, kinds: &[usize], ports: Ports) -> Option<TopologyId> {
        let of_kinds = || kinds.iter().map(|&kind| &self.kinds[kind]).filter(|kind| kind.matrix.is_some());
        let first = of_kinds().next()?;
        let sum = ByteMatrix::sum(of_kinds().filter_map(|kind| kind.matrix.as_deref()))?;
        let size_bytes = sum.buffer_bytes();
        let asked = self.asked(&Kind { matrix: Some(Arc::new(sum)), size_bytes, ..first.clone() }, ports)?;
        let manner = Manner { start: None, delay_s: PROHIBITIVE_S, planner: None, on: None };
        let plan = self.group_plans.plan(&asked, &manner).ok()?;
        let topology = plan.topologies[plan.steps[0].topology].clone();
        Some(self.id(Circuits::Group(topology)))
    }
}
