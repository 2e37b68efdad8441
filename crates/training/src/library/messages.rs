//! Entries of messages.

use model::{Link, Topology, Translations};

use super::{Circuits, Library};
use crate::entry::{Entry, TopologyId};
use crate::jobs::{Kind, Message};
use crate::messages::over_topology;

impl Library<'_> {
    /// Messages of a kind over a topology of its family; `None` where it does not join them.
    pub(crate) fn message_over(&self, kind: usize, topology: TopologyId) -> Option<Entry> {
        let of = &self.kinds[kind];
        let Message::Send(places) = &of.message else { return None };
        let (hops, load) = over_topology(self.group_topology(topology)?, places)?;
        let duration_s = self.group_plans.message_s(of.size_bytes, hops, load);
        let through = hops > 1;
        Some(Entry { plan: None, duration_s, first: topology, last: topology, direct: false, keeps: true, through })
    }

    /// The time of messages on circuits of their own.
    pub(super) fn direct_s(&self, kind: &Kind, ports: u32) -> f64 {
        self.group_plans.message_s(kind.size_bytes, 1, 1.0 / f64::from(ports))
    }

    /// Entries of messages: on circuits of their own, and over each topology of the family that joins them.
    pub(super) fn add_messages(&mut self, kinds: &[usize], family: usize, ports: u32) {
        for &index in kinds {
            let kind = self.kinds[index].clone();
            let Message::Send(places) = &kind.message else { continue };
            let size = self.families[family].size;
            let own = self.id(Circuits::Messages(places.clone()));
            let duration_s = self.direct_s(&kind, ports);
            let message =
                Entry { plan: None, duration_s, first: own, last: own, direct: true, keeps: true, through: false };
            let links = places.iter().map(|&(src, dst)| Link { src, dst, count: ports });
            let circuits = Topology::new("circuits of the messages", Translations::trivial(size), links);
            let has_room = circuits.and_then(|circuits| self.check_room(family, ports, [&circuits]));
            let mut entries: Vec<Entry> = has_room.is_ok().then_some(message).into_iter().collect();
            for id in self.topologies.get(&(family, ports)).cloned().unwrap_or_default() {
                entries.extend(self.message_over(index, id));
            }
            self.entries.entry((index, ports)).or_default().extend(entries);
        }
    }
}
