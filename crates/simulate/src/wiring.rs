//! From the steps of a plan to servers and flows, on orbits of a group.

use std::collections::BTreeMap;

use model::{Error, Plan, Rank, Result, RoutedEntry, Topology, Translations};

use crate::clock::{LIMIT_FS, LONGEST_FS, femtoseconds, too_long, wire_fs};
use crate::cutoffs::wiring::MOST_PARALLEL;
use crate::message::{Message, full_packet, packet};
use crate::network::{Flow, Hop, QueueingNetwork, SENDER, Stream};
use crate::packet::Packet;
use crate::settings::{Forwarding, Injection, Level, Settings};
use crate::split::{Shares, Split, split};

/// Packets of a transfer over several paths are dealt out one by one: no more than this.
const MAX_SPLIT_PACKETS: u64 = 1 << 30;

/// The circuits of a link, in the order of their numbers: server and slot of each.
pub(crate) type Circuits = Vec<(u32, u32)>;

/// A network under construction, on the orbits of a group: that of the identity where every GPU is simulated.
pub(crate) struct Wiring<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) settings: &'a Settings,
    /// The group of which one representative is simulated.
    pub(crate) group: Translations,
    pub(crate) network: QueueingNetwork,
    /// Per server, the GPUs that its circuit joins.
    pub(crate) ends: Vec<(Rank, Rank)>,
    /// Flows of the steps so far, as numbered for ties.
    numbered: u64,
    /// Bytes of payload of the steps so far, all GPUs together.
    pub(crate) payload_bytes: f64,
    last_split: Option<(u64, Shares, Split)>,
}

/// The links of a step by their ends, one per orbit.
pub(crate) type Links = BTreeMap<(Rank, Rank), Circuits>;

impl<'a> Wiring<'a> {
    /// A network whose hops take `hop_delay_s`.
    ///
    /// # Errors
    /// Times that femtoseconds cannot count.
    pub(crate) fn new(plan: &'a Plan, settings: &'a Settings, group: Translations, hop_delay_s: f64) -> Result<Self> {
        let rate = plan.fabric.bandwidth_bps;
        let full = match settings.level {
            Level::Packet => full_packet(settings, rate),
            // The times of flows are reckoned by it.
            Level::Flow => packet(f64::from(settings.payload_bytes), settings, rate)?,
        };
        let delay_fs = femtoseconds("hop_delay", hop_delay_s)?;
        let cut_through_fs = match settings.forwarding {
            Forwarding::StoreAndForward => None,
            Forwarding::CutThrough => Some(delay_fs + wire_fs(u64::from(settings.header_bytes), rate)?),
        };
        let network = QueueingNetwork::new(full, Hop { delay_fs, cut_through_fs });
        Ok(Self { plan, settings, group, network, ends: Vec::new(), numbered: 0, payload_bytes: 0.0, last_split: None })
    }

    /// A server and a slot for every circuit of `topology`.
    pub(crate) fn add_links(&mut self, topology: &Topology) -> Links {
        let mut links = Links::new();
        for link in topology.links_under(&self.group) {
            let ends = (link.src, link.dst);
            let circuits = (0..link.count).map(|_| (self.add_circuit(ends), self.add_slot())).collect();
            links.insert(ends, circuits);
        }
        links
    }

    /// A server for a circuit between `ends`.
    pub(crate) fn add_circuit(&mut self, ends: (Rank, Rank)) -> u32 {
        self.ends.push(ends);
        self.network.add_server()
    }

    /// A place to count one more use of a server.
    pub(crate) fn add_slot(&mut self) -> u32 {
        self.network.slots += 1;
        self.network.slots as u32 - 1
    }

    /// Adds the flows of step `index` over `links`.
    ///
    /// # Errors
    /// Routes that do not belong to the step's traffic and topology, or times that femtoseconds cannot count.
    pub(crate) fn add_step(&mut self, index: usize, links: &Links) -> Result<()> {
        let step = &self.plan.steps[index];
        let symmetry = &step.routes.symmetry;
        let malformed = |reason: String| Error::malformed(format!("plan.steps[{index}].routes"), reason);
        for outer in [step.step.traffic().symmetry(), self.plan.topologies[step.topology].symmetry()] {
            if symmetry.ranks() != outer.ranks() || symmetry.meet(outer) != *symmetry {
                return Err(malformed(
                    "the symmetry of the routes is not one of the step's traffic and topology".into(),
                ));
            }
        }
        let weights: BTreeMap<(Rank, Rank), f64> =
            step.step.traffic().arcs_under(symmetry).iter().map(|arc| ((arc.src, arc.dst), arc.weight)).collect();
        let mut routed: BTreeMap<(Rank, Rank), Routed> = BTreeMap::new();
        for arc in &step.routes.arcs {
            interruption::check();
            let pair = (arc.src, arc.dst);
            let Some(&weight) = weights.get(&pair) else {
                return Err(malformed(format!(
                    "there are routes {} → {}, and the step sends nothing there",
                    arc.src, arc.dst
                )));
            };
            let ends = |path: &[Rank]| (path.first().copied(), path.last().copied());
            let wrong = arc.paths.iter().find(|path| ends(&path.nodes) != (Some(arc.src), Some(arc.dst)));
            if arc.paths.is_empty() || wrong.is_some() {
                return Err(malformed(format!("{} → {} has no path, or a path between other GPUs", arc.src, arc.dst)));
            }
            let shares: Vec<f64> = arc.paths.iter().map(|path| path.share).collect();
            let shares = Shares::new(&shares).filter(|_| !routed.contains_key(&pair)).ok_or_else(|| {
                let wants = "must be listed once, with shares of at least 0, one of them above 0";
                malformed(format!("{} → {} {wants}", arc.src, arc.dst))
            })?;
            routed.insert(pair, Routed { arc, weight, shares });
        }
        if let Some((src, dst)) = weights.keys().find(|pair| !routed.contains_key(pair)) {
            return Err(malformed(format!("{src} → {dst} has no path")));
        }
        // In the order in which they are listed, which numbers flows.
        let listed: Vec<&Routed> = step.routes.arcs.iter().map(|arc| &routed[&(arc.src, arc.dst)]).collect();
        let busiest_fs = match self.settings.injection {
            Injection::Burst => 0.0,
            Injection::Paced => self.busiest_fs(index, &listed, links)?,
        };
        listed.into_iter().try_for_each(|of| self.add_arc(index, of, busiest_fs, links))
    }

    /// The flows of one orbit of arcs: of each coset, each path, each circuit in parallel.
    fn add_arc(&mut self, index: usize, routed: &Routed, busiest_fs: f64, links: &Links) -> Result<()> {
        let (plan, settings, Routed { arc, shares, .. }) = (self.plan, self.settings, routed);
        let step = &plan.steps[index];
        let message = self.message(index, routed.weight)?;
        if arc.paths.len() > 1 && message.packets > MAX_SPLIT_PACKETS {
            let accepts =
                format!("packets so large that a transfer over several paths has at most {MAX_SPLIT_PACKETS} of them");
            return Err(Error::value("packet_size", settings.payload_bytes, accepts));
        }
        let dealt = self.split(message.packets, shares);
        self.payload_bytes += message.payload_bytes * f64::from(step.routes.symmetry.order());
        let is_burst = settings.injection == Injection::Burst;
        // Packets take whole circuits; what flows is split by the shares, however few its packets.
        let is_used = |position: &usize| match settings.level {
            Level::Packet => dealt.packets[*position] > 0,
            Level::Flow => shares.of(*position) > 0.0,
        };
        let (lead, cosets) = (self.numbered, step.routes.symmetry.cosets(&self.group));
        let mut flows = vec![vec![0..0; arc.paths.len()]; cosets.len()];
        for (position, path) in arc.paths.iter().enumerate().filter(|(position, _)| is_used(position)) {
            interruption::check();
            let packets = dealt.packets[position];
            let tail = message.tail.filter(|_| position == dealt.last);
            let interval_fs = interval_fs(busiest_fs, packets.max(1))?;
            let mut parallel = 0;
            for (&coset, flows) in cosets.iter().zip(&mut flows) {
                let begin = self.network.flows.len() as u32;
                let nodes: Vec<Rank> = path.nodes.iter().map(|&node| step.routes.symmetry.apply(coset, node)).collect();
                let hops = self.hops(index, &nodes, links)?;
                parallel = parallel_flows(&hops, if settings.level == Level::Flow { MOST_PARALLEL } else { packets });
                for first in 0..parallel {
                    let key = self.numbered + first;
                    let lead = if is_burst { lead } else { key };
                    let part = shares.of(position) / parallel as f64;
                    let fluid_bytes = message.wire_bytes * part;
                    let flow = Dealt { first, parallel, packets, tail, part, fluid_bytes, interval_fs, lead };
                    self.add_flow((nodes[0], nodes[nodes.len() - 1]), &hops, &flow, key)?;
                }
                flows[position] = begin..self.network.flows.len() as u32;
            }
            self.numbered += parallel;
        }
        if is_burst {
            flows.into_iter().for_each(|paths| self.network.add_transfer(shares, paths));
        }
        Ok(())
    }

    /// The packets of a transfer of `weight` times the step's largest.
    fn message(&self, index: usize, weight: f64) -> Result<Message> {
        let bytes = self.plan.size_bytes as f64 * self.plan.steps[index].step.share();
        Message::new(bytes * weight, self.network.packet, self.settings, self.plan.fabric.bandwidth_bps)
    }

    /// The time that the step's busiest link sends in all, fs on one circuit: the largest transfer times the load.
    fn busiest_fs(&self, index: usize, routed: &[&Routed], links: &Links) -> Result<f64> {
        let symmetry = &self.plan.steps[index].routes.symmetry;
        let mut carried: BTreeMap<(Rank, Rank), f64> = BTreeMap::new();
        for Routed { arc, weight, .. } in routed {
            interruption::check();
            for path in &arc.paths {
                for hop in path.nodes.windows(2) {
                    let (src, element) = symmetry.canonical(hop[0]);
                    let dst = symmetry.apply(symmetry.inverse(element), hop[1]);
                    *carried.entry((src, dst)).or_insert(0.0) += weight * path.share;
                }
            }
        }
        let mut load = 0.0_f64;
        for ((src, dst), amount) in carried {
            let circuits = self.hops(index, &[src, dst], links)?;
            load = load.max(amount / circuits[0].len() as f64);
        }
        let largest = self.message(index, 1.0)?;
        Ok(largest.wire_bytes * 8e15 / self.plan.fabric.bandwidth_bps * load)
    }

    /// [`split`] for these packets and shares, found once for all arcs of the same form.
    fn split(&mut self, packets: u64, shares: &Shares) -> Split {
        match &self.last_split {
            Some((same, of, split)) if *same == packets && of == shares => split.clone(),
            _ => {
                let fresh = split(packets, shares);
                self.last_split = Some((packets, shares.clone(), fresh.clone()));
                fresh
            }
        }
    }

    /// The circuits of each hop of the path over `nodes`.
    fn hops<'l>(&self, index: usize, nodes: &[Rank], links: &'l Links) -> Result<Vec<&'l Circuits>> {
        let mut hops = Vec::with_capacity(nodes.len());
        for pair in nodes.windows(2) {
            let (src, element) = self.group.canonical(pair[0]);
            let dst = self.group.apply(self.group.inverse(element), pair[1]);
            hops.push(links.get(&(src, dst)).ok_or_else(|| {
                let reason = format!("there is no circuit {} → {} in the step's topology", pair[0], pair[1]);
                Error::malformed(format!("plan.steps[{index}].routes"), reason)
            })?);
        }
        Ok(hops)
    }

    /// Packets `first`, `first + parallel`, … of a path. Packet k takes circuit k mod c of each link.
    fn add_flow(&mut self, ends: (Rank, Rank), hops: &[&Circuits], of: &Dealt, key: u64) -> Result<()> {
        let number = u32::try_from(self.network.flows.len()).map_err(|_| too_many())?;
        if hops.len() as u128 * u128::from(self.network.hop.delay_fs) >= u128::from(LIMIT_FS) {
            return Err(too_long());
        }
        // Streams and trunks are numbered together, and there are no more trunks than streams.
        let is_numbered = self.network.streams.len() + hops.len() < u32::MAX as usize / 2;
        if key >= 1 << 40 || hops.len() >= 1 << 24 || !is_numbered {
            return Err(too_many());
        }
        let begin = self.network.streams.len();
        let mut before = None;
        for circuits in hops {
            let (server, slot) = circuits[(of.first % circuits.len() as u64) as usize];
            let lane = before.map_or(SENDER, |from| self.network.lane(from, server));
            self.network.streams.push(Stream { flow: number, server, slot, lane });
            before = Some(server);
        }
        let packets = of.packets.saturating_sub(of.first).div_ceil(of.parallel);
        let has_last = packets > 0 && (of.packets - 1) % of.parallel == of.first;
        self.network.flows.push(Flow {
            ends: (self.group.orbit(ends.0), self.group.orbit(ends.1)),
            packets,
            tail: of.tail.filter(|_| has_last),
            part: of.part,
            fluid_bytes: of.fluid_bytes,
            phase_fs: of.first * of.interval_fs,
            interval_fs: of.parallel * of.interval_fs,
            streams: begin..begin + hops.len(),
            number: key,
            lead: of.lead,
            transfer: None,
        });
        Ok(())
    }
}

/// An arc of a step's routes.
struct Routed<'a> {
    arc: &'a RoutedEntry,
    weight: f64,
    shares: Shares,
}

/// Time from packet to packet of a path of `packets`, fs, so that they are spread over `busiest_fs`.
///
/// # Errors
/// Times that femtoseconds cannot count.
fn interval_fs(busiest_fs: f64, packets: u64) -> Result<u64> {
    if busiest_fs >= LONGEST_FS as f64 {
        return Err(too_long());
    }
    // A rounding error of shares is no femtosecond.
    Ok((busiest_fs / packets as f64 * (1.0 - 1e-12)).ceil() as u64)
}

/// The packets of a path, and which of them a flow has.
struct Dealt {
    first: u64,
    parallel: u64,
    packets: u64,
    tail: Option<Packet>,
    /// [`Flow::part`] of the flow; the next field is its [`Flow::fluid_bytes`].
    part: f64,
    fluid_bytes: f64,
    interval_fs: u64,
    /// Number that counts at the first hop: in a burst, that of the transfer's first flow.
    lead: u64,
}

/// After how many packets a path takes the same circuits again; no more than it has packets.
fn parallel_flows(hops: &[&Circuits], packets: u64) -> u64 {
    let mut multiple = 1_u64;
    for circuits in hops {
        let count = circuits.len() as u64;
        multiple = multiple / gcd(multiple, count) * count;
        if multiple >= packets {
            return packets;
        }
    }
    multiple
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn too_many() -> Error {
    Error::infeasible(
        "simulate",
        "the plan has too many flows to number; simulate it with symmetry `quotient` or level `flow`",
    )
}
