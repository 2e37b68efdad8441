//! Circuits between islands on the ports of their GPUs.

use std::collections::BTreeMap;

use model::{Link, Rank, Result, RoutedPath, Topology, Translations};

use super::islands::Islands;

/// How the ports of an island's GPUs serve a plan among islands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    /// Every lane has the plan's circuits by itself: GPU i of an island is joined to GPUs i of others.
    Rails,
    /// The island has the plan's circuits once, on the ports of all its GPUs, which are reached through the switch.
    Pooled,
}

/// Circuits from an island to another: (transmitting lane, receiving lane) and how many.
type Between = BTreeMap<(u32, u32), u32>;

/// The circuits of a topology among islands, on GPUs.
pub(super) struct Wiring {
    islands: Islands,
    sharing: Sharing,
    group: Translations,
    between: BTreeMap<(Rank, Rank), Between>,
}

impl Wiring {
    /// Deals the circuits of every link out to ports, in the same way for all islands of an orbit of `group`: both ends
    /// of an orbit's circuits go round the island's GPUs, so that none has more than its ports.
    pub(super) fn new(islands: Islands, sharing: Sharing, topology: &Topology, group: &Translations) -> Self {
        let mut between: BTreeMap<(Rank, Rank), Between> = BTreeMap::new();
        let mut used = [vec![0; group.orbits() as usize], vec![0; group.orbits() as usize]];
        for link in topology.links_under(group) {
            let lanes = between.entry((link.src, link.dst)).or_default();
            if sharing == Sharing::Rails {
                lanes.extend((0..islands.gpus).map(|lane| ((lane, lane), link.count)));
                continue;
            }
            for _ in 0..link.count {
                let [out, into] = [link.src, link.dst].map(|island| group.orbit(island) as usize);
                *lanes.entry((used[0][out] % islands.gpus, used[1][into] % islands.gpus)).or_insert(0) += 1;
                used[0][out] += 1;
                used[1][into] += 1;
            }
        }
        Self { islands, sharing, group: group.clone(), between }
    }

    /// The topology of the GPUs, under `lifted`, the group of all stages.
    ///
    /// # Errors
    /// No topology among islands leads to an error.
    pub(super) fn topology(&self, name: &str, lifted: &Translations) -> Result<Topology> {
        let links = self.between.iter().flat_map(|(&(src, dst), lanes)| {
            let islands = self.islands;
            let is_first = move |lane: u32| lifted.canonical(islands.rank(src, lane)).1 == 0;
            lanes.iter().filter(move |((tx, _), _)| is_first(*tx)).map(move |(&(tx, rx), &count)| Link {
                src: self.islands.rank(src, tx),
                dst: self.islands.rank(dst, rx),
                count,
            })
        });
        let kind = match self.sharing {
            Sharing::Rails => "on rails",
            Sharing::Pooled => "on pooled ports",
        };
        Topology::new(format!("{name} {kind}"), lifted.clone(), links)
    }

    /// The paths of GPU `src` of an island over `islands` to GPU `lane` of the last, as that lane's data goes: shares of
    /// the circuits of every link so that all lanes together load them equally.
    pub(super) fn paths(&self, src: u32, lane: u32, path: &RoutedPath) -> Vec<RoutedPath> {
        let rank = |island: Rank, gpu: u32| self.islands.rank(island, gpu);
        let mut found = vec![RoutedPath { share: path.share, nodes: vec![rank(path.nodes[0], src)] }];
        for hop in path.nodes.windows(2) {
            let circuits = self.shares(lane, hop[0], hop[1]);
            let onward = |before: &RoutedPath| {
                let go = |&((tx, rx), share): &((u32, u32), f64)| {
                    let mut nodes = before.nodes.clone();
                    let transmitter = rank(hop[0], tx);
                    if nodes.last() != Some(&transmitter) {
                        nodes.push(transmitter);
                    }
                    nodes.push(rank(hop[1], rx));
                    RoutedPath { share: before.share * share, nodes }
                };
                circuits.iter().map(go).collect::<Vec<_>>()
            };
            found = found.iter().flat_map(onward).collect();
        }
        let end = rank(*path.nodes.last().unwrap_or(&0), lane);
        for path in &mut found {
            if path.nodes.last() != Some(&end) {
                path.nodes.push(end);
            }
        }
        found
    }

    /// The part of a lane's data that each circuit of a link carries: its own circuits first, and no circuit more than
    /// an equal part of all lanes.
    fn shares(&self, lane: u32, src: Rank, dst: Rank) -> Vec<((u32, u32), f64)> {
        let (start, element) = self.group.canonical(src);
        let link = (start, self.group.apply(self.group.inverse(element), dst));
        let Some(circuits) = self.between.get(&link) else { return Vec::new() };
        if self.sharing == Sharing::Rails {
            return vec![((lane, lane), 1.0)];
        }
        let all: u32 = circuits.values().sum();
        let mut room: Vec<((u32, u32), f64)> = circuits
            .iter()
            .map(|(&ends, &count)| (ends, f64::from(self.islands.gpus) * f64::from(count) / f64::from(all)))
            .collect();
        let mut own = Vec::new();
        for other in 0..self.islands.gpus {
            let mut wants = 1.0_f64;
            for ((tx, rx), free) in room.iter_mut().filter(|((tx, rx), _)| *tx == other || *rx == other) {
                let taken = wants.min(*free);
                (wants, *free) = (wants - taken, *free - taken);
                if other == lane && taken > 0.0 {
                    own.push(((*tx, *rx), taken));
                }
            }
        }
        let taken: f64 = own.iter().map(|(_, share)| share).sum();
        // Lanes without circuits of their own share the room that is left on the circuits, in equal parts.
        let free: f64 = room.iter().map(|(_, free)| free).sum();
        let rest = 1.0 - taken;
        if rest > SMALLEST && free > 0.0 {
            for (ends, room) in room.into_iter().filter(|(_, room)| *room > SMALLEST) {
                let share = rest * room / free;
                match own.iter_mut().find(|(known, _)| *known == ends) {
                    Some((_, known)) => *known += share,
                    None => own.push((ends, share)),
                }
            }
        }
        own
    }
}

/// Shares below this are rounding errors.
const SMALLEST: f64 = 1e-12;
