//! Entries of messages.

use model::{Link, Topology, Translations};

use super::{Circuits, Library};
use crate::entry::{Entry, TopologyId};
use crate::jobs::{Kind, Message};
use crate::messages::over_topology;
use crate::ports::{Ports, circuits, width};

impl Library<'_> {
    /// Messages of a kind over a topology of its family on some ports; `None` where it does not join them.
    pub(crate) fn message_over(&self, kind: usize, ports: Ports, topology: TopologyId) -> Option<Entry> {
        let of = &self.kinds[kind];
        let Message::Send(places) = &of.message else { return None };
        let (hops, load) = over_topology(self.group_topology(topology)?, places)?;
        let duration_s = self.group_plans.message_s(of.size_bytes, ports, hops, load);
        let through = hops > 1;
        Some(Entry { plan: None, duration_s, first: topology, last: topology, direct: false, keeps: true, through })
    }

    /// The time of messages on circuits of their own.
    pub(super) fn direct_s(&self, kind: &Kind, ports: Ports) -> f64 {
        self.group_plans.message_s(kind.size_bytes, ports, 1, 1.0 / circuits(self.group_plans.fabric, ports))
    }

    /// Entries of messages: on circuits of their own, and over each topology of the family that joins them.
    pub(super) fn add_messages(&mut self, kinds: &[usize], family: usize, ports: Ports) {
        for &index in kinds {
            let kind = self.kinds[index].clone();
            let Message::Send(places) = &kind.message else { continue };
            let size = self.families[family].size;
            let own = self.id(Circuits::Messages(places.clone()));
            let duration_s = self.direct_s(&kind, ports);
            let message =
                Entry { plan: None, duration_s, first: own, last: own, direct: true, keeps: true, through: false };
            let links = places.iter().map(|&(src, dst)| Link { src, dst, count: width(ports) });
            let topology = Topology::new("circuits of the messages", Translations::trivial(size), links);
            let has_room = topology.and_then(|topology| self.check_room(family, ports, [&topology]));
            let mut entries: Vec<Entry> = has_room.is_ok().then_some(message).into_iter().collect();
            for id in self.topologies.get(&(family, self.alike(ports))).cloned().unwrap_or_default() {
                entries.extend(self.message_over(index, ports, id));
            }
            let ports = self.alike(ports);
            self.entries.entry((index, ports)).or_default().extend(entries);
        }
    }
}
