//! The task of a run: the program of every rank, the circuits, the times, all dilated already.

use model::{Error, Result};
use serde::{Deserialize, Serialize};

pub use crate::cutoffs::request::MOST_RANKS;
use crate::elements::{Element, Reduction};
use crate::namespaces::Namespaces;
use crate::paces::Paces;

/// Bytes of a packet, least and most.
pub const PACKET_BYTES: (u32, u32) = (64, 1 << 20);

/// The messages that every rank sends and receives, as columns; offsets and sizes in bytes.
///
/// Message i, of step `step[i]`, goes along ranks `gpus[gpu_offsets[i]..gpu_offsets[i + 1]]`, source first; its bytes
/// are the segments `segment_offsets[i]..segment_offsets[i + 1]`, one after the other. Messages are in the order of
/// steps.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Program {
    /// Number of ranks.
    pub ranks: u32,
    /// Number of steps.
    pub steps: u32,
    /// Bytes of each rank's workspace.
    pub workspace_bytes: Vec<u64>,
    /// The step of each message.
    pub step: Vec<u32>,
    /// The place where each message's ranks begin, and the end of the last one's.
    pub gpu_offsets: Vec<u64>,
    /// Ranks of all paths.
    pub gpus: Vec<u32>,
    /// The place where each message's segments begin, and the end of the last one's.
    pub segment_offsets: Vec<u64>,
    /// Offset of each segment in the workspace of its source.
    pub source_offset: Vec<u64>,
    /// Offset of each segment in the workspace of its destination.
    pub destination_offset: Vec<u64>,
    /// The size of a segment.
    pub size_bytes: Vec<u64>,
    /// Whether the destination reduces a segment with what it has.
    pub is_reduction: Vec<bool>,
}

/// One step: who takes part, what it waits for, its circuits and times. A step without messages is a computation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StepSetting {
    /// Index of the ranks that take part, in `Request::parties`.
    pub party: u32,
    /// Index of the ports that its packets leave by, in `Request::port_sets`.
    pub port_set: u32,
    /// Index of the configuration of circuits whose circuits at these ports are held in it.
    pub configuration: u32,
    /// Steps that have ended when it begins.
    pub after: Vec<u32>,
    /// Changes of circuits that are made when its startup begins.
    pub needs: Vec<u32>,
    /// Nanoseconds of computation before it, in which circuits may change.
    pub window_ns: u64,
    /// Nanoseconds before its ranks send.
    pub startup_ns: u64,
    /// Nanoseconds after the run has begun before which it does not start.
    pub earliest_ns: u64,
    /// Nanoseconds for which its ranks hand their packets over, evenly; 0: all at once.
    pub spread_ns: u64,
    /// Steps that have ended on a rank before it keeps the data of this one: they read or write the same bytes there.
    pub keeps_after: Vec<u32>,
    /// Nanoseconds that the plan predicts, the reconfiguration included, windows not.
    pub predicted_ns: u64,
}

/// A change of circuits during a run: those in which two configurations differ.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Change {
    /// Index of the configuration before it.
    pub from: u32,
    /// Index of the configuration that it makes.
    pub configuration: u32,
    /// Nanoseconds for which ports that change are dark.
    pub dark_ns: u64,
    /// Steps that must have ended before the change is asked for.
    pub after: Vec<u32>,
    /// Changes that must be made before this one is asked for.
    pub after_changes: Vec<u32>,
    /// Changes that are asked for before this one, and need not be made by then.
    pub follows: Vec<u32>,
}

/// All parameters of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The messages of all ranks.
    pub program: Program,
    /// The type of the data.
    pub element: Element,
    /// The operation on segments that are reduced.
    pub reduction: Reduction,
    /// Ports per rank; port p of rank r, both from 0, is number r·ports + p.
    pub ports: u32,
    /// By configuration and transmitter, the number of the port that its circuit leads to.
    pub configurations: Vec<Vec<Option<u32>>>,
    /// Index of the configuration that is there when a run begins.
    pub initial: u32,
    /// Ranks that take part in steps, ascending.
    pub parties: Vec<Vec<u32>>,
    /// Ports of a rank that steps use, from 0, ascending.
    pub port_sets: Vec<Vec<u32>>,
    /// The conditions of each step, its circuits and times.
    pub steps: Vec<StepSetting>,
    /// Changes of circuits.
    pub changes: Vec<Change>,
    /// The place where each rank's workspace begins in the memory that comes with the request.
    pub workspace_offset: Vec<u64>,
    /// Nanoseconds that a circuit takes for a byte.
    pub ns_per_byte: f64,
    /// Nanoseconds from one end of a circuit to the other.
    pub hop_ns: u64,
    /// How much slower some circuits are, and their own nanoseconds from one end to the other.
    pub paces: Paces,
    /// Bytes of a packet, without its header, which takes no time.
    pub packet_bytes: u32,
    /// Runs that are measured.
    pub runs: u32,
    /// Runs before them.
    pub warm_ups: u32,
    /// Whether real-time priority and locked memory are asked for.
    pub asks_priority: bool,
    /// Nanoseconds for which the machine's jitter is probed before the first run.
    pub probe_ns: u64,
    /// Whether a switch outside makes every configuration before the switch process does.
    pub has_outside_switch: bool,
    /// Where the kernel carries packets, not rings and a switch process.
    pub namespaces: Option<Namespaces>,
    /// A wait ends as a fault after this multiple of the predicted time ...
    pub deadline_factor: f64,
    /// ... and these nanoseconds more.
    pub deadline_floor_ns: u64,
}

impl Program {
    /// Number of messages.
    pub fn messages(&self) -> usize {
        self.step.len()
    }

    /// The ranks on the path of a message, source first.
    pub fn path(&self, message: usize) -> &[u32] {
        &self.gpus[self.gpu_offsets[message] as usize..self.gpu_offsets[message + 1] as usize]
    }

    /// Indices of the segments of a message.
    pub fn segments(&self, message: usize) -> std::ops::Range<usize> {
        self.segment_offsets[message] as usize..self.segment_offsets[message + 1] as usize
    }

    /// Bytes of a message.
    pub fn message_bytes(&self, message: usize) -> u64 {
        self.size_bytes[self.segments(message)].iter().sum()
    }

    /// Indices of the messages of a step.
    pub fn of_step(&self, step: usize) -> std::ops::Range<usize> {
        let begin = self.step.partition_point(|&one| (one as usize) < step);
        begin..begin + self.step[begin..].partition_point(|&one| one as usize == step)
    }

    fn check(&self, element_bytes: u64) -> Result<()> {
        let wrong = |what: &str| Err(Error::malformed("program", what));
        let (messages, segments) = (self.step.len(), self.size_bytes.len());
        if !(2..=MOST_RANKS).contains(&self.ranks) {
            return Err(Error::value(
                "gpus",
                self.ranks,
                format!("2 to {MOST_RANKS} where a plan runs on one machine"),
            ));
        }
        if self.workspace_bytes.len() != self.ranks as usize {
            return wrong("every rank must have a workspace");
        }
        if !is_partition(&self.gpu_offsets, messages, self.gpus.len())
            || !is_partition(&self.segment_offsets, messages, segments)
            || [self.source_offset.len(), self.destination_offset.len(), self.is_reduction.len()] != [segments; 3]
        {
            return wrong("its columns must have the same length");
        }
        if !self.step.is_sorted() || self.step.last().is_some_and(|&step| step >= self.steps) {
            return wrong("messages must be in the order of steps");
        }
        if messages > u32::MAX as usize {
            return wrong("it has too many messages");
        }
        for message in 0..messages {
            let path = self.path(message);
            if path.len() < 2 || path.iter().any(|&rank| rank >= self.ranks) {
                return wrong("a path must have at least two ranks, all of them ranks of the program");
            }
            let [source, destination] = [path[0], path[path.len() - 1]].map(|rank| self.workspace_bytes[rank as usize]);
            for segment in self.segments(message) {
                let size = self.size_bytes[segment];
                let fits = |offset: u64, workspace: u64| offset.checked_add(size).is_some_and(|end| end <= workspace);
                if !fits(self.source_offset[segment], source) || !fits(self.destination_offset[segment], destination) {
                    return wrong("a segment lies outside of a workspace");
                }
                if !size.is_multiple_of(element_bytes) {
                    return wrong("a segment must consist of whole elements");
                }
            }
            if self.message_bytes(message) == 0 {
                return wrong("a message has no bytes");
            }
        }
        Ok(())
    }
}

impl Request {
    /// Number of all transmitters, and of all receivers.
    pub fn all_ports(&self) -> usize {
        (self.program.ranks * self.ports) as usize
    }

    /// Ports of a rank from which a step's circuits lead to another, from 0.
    pub fn ports_to(&self, step: usize, from: u32, to: u32) -> impl Iterator<Item = u32> + '_ {
        let setting = &self.steps[step];
        let circuits = &self.configurations[setting.configuration as usize];
        let leads =
            move |&port: &u32| circuits[(from * self.ports + port) as usize].is_some_and(|end| end / self.ports == to);
        self.port_sets[setting.port_set as usize].iter().copied().filter(leads)
    }

    /// [`Self::ports_to`], each as often as its turn comes.
    pub fn turns_to(&self, step: usize, from: u32, to: u32) -> Vec<u32> {
        self.paces.turns(self.ports_to(step, from, to).collect())
    }

    /// Nanoseconds of a byte on the circuit from one port to another, and those from one end of it to the other.
    pub fn pace(&self, from: usize, to: u32) -> (f64, u64) {
        let (ranks, ports) = (self.program.ranks, self.ports);
        let (src, port, dst) = (from as u32 / ports, from as u32 % ports, to / ports);
        let slowness = self.paces.slowness((src, port), dst, ranks);
        (self.ns_per_byte * slowness, self.paces.hop_ns(src, dst, ranks, self.hop_ns))
    }

    /// The ranks that take part in a step.
    pub fn party(&self, step: usize) -> &[u32] {
        &self.parties[self.steps[step].party as usize]
    }

    /// Transmitters whose circuits change, with where they lead then: those in which a configuration differs from
    /// another, or from the circuits that there are.
    pub fn changed(&self, from: Option<u32>, configuration: u32, now: &[Option<u32>]) -> Vec<(usize, Option<u32>)> {
        let before = from.map_or(now, |from| &self.configurations[from as usize]);
        let after = &self.configurations[configuration as usize];
        (0..after.len()).filter(|&port| before[port] != after[port]).map(|port| (port, after[port])).collect()
    }

    /// Nanoseconds after which a wait for something that should take `predicted_ns` is a fault.
    pub fn deadline_ns(&self, predicted_ns: u64) -> u64 {
        ((predicted_ns as f64 * self.deadline_factor) as u64).saturating_add(self.deadline_floor_ns)
    }

    /// # Errors
    /// Parts that do not fit together, or numbers outside what a run takes.
    pub fn check(&self) -> Result<()> {
        self.program.check(self.element.bytes())?;
        let wrong = |what: &str| Err(Error::malformed("program", what));
        let times = [self.ns_per_byte, self.deadline_factor];
        if times.iter().any(|time| !time.is_finite() || *time < 0.0) || self.ports == 0 || self.runs == 0 {
            return wrong("times must be finite, and there must be ports and runs");
        }
        self.paces.check(self.program.ranks, self.ports)?;
        if !(PACKET_BYTES.0..=PACKET_BYTES.1).contains(&self.packet_bytes) {
            let (least, most) = PACKET_BYTES;
            return Err(Error::value("packet_size", self.packet_bytes, format!("{least} to {most} bytes")));
        }
        if let Some(namespaces) = &self.namespaces {
            namespaces.check(self.program.ranks, self.packet_bytes)?;
        }
        if self.program.ranks.checked_mul(self.ports).is_none_or(|ports| ports > 1 << 14) {
            return Err(Error::value("ports", self.ports, "at most 16384 for all ranks of a run together"));
        }
        let has = |configuration: u32| (configuration as usize) < self.configurations.len();
        if self.steps.len() != self.program.steps as usize
            || self.workspace_offset.len() != self.program.ranks as usize
            || self.configurations.iter().any(|one| one.len() != self.all_ports())
            || !has(self.initial)
            || !self.steps.iter().all(|step| has(step.configuration))
            || !self.changes.iter().all(|change| has(change.configuration) && has(change.from))
            || self.workspace_offset.iter().any(|offset| !offset.is_multiple_of(8))
        {
            return wrong("steps, configurations and workspaces do not fit together");
        }
        self.check_steps()?;
        for circuits in &self.configurations {
            let mut ends: Vec<u32> = circuits.iter().flatten().copied().collect();
            ends.sort_unstable();
            if ends.windows(2).any(|pair| pair[0] == pair[1])
                || ends.last().is_some_and(|&end| end as usize >= circuits.len())
            {
                return wrong("two circuits of a configuration lead to one port");
            }
        }
        Ok(())
    }

    /// Steps have ranks and ports that there are, all ranks of their paths, and wait for each other in no circle.
    fn check_steps(&self) -> Result<()> {
        let wrong = |what: &str| Err(Error::malformed("program", what));
        let (ranks, steps) = (self.program.ranks, self.steps.len());
        if !self.parties.iter().all(|party| !party.is_empty() && is_rising(party, ranks))
            || !self.port_sets.iter().all(|ports| is_rising(ports, self.ports))
            || self.steps.iter().any(|step| step.party as usize >= self.parties.len())
            || self.steps.iter().any(|step| step.port_set as usize >= self.port_sets.len())
        {
            return wrong("the ranks and ports of a step must be some of those that there are, in ascending order");
        }
        if self.steps.iter().flat_map(|step| &step.keeps_after).any(|&step| step as usize >= steps) {
            return wrong("a step waits for one that there is not");
        }
        for message in 0..self.program.messages() {
            let party = self.party(self.program.step[message] as usize);
            if self.program.path(message).iter().any(|rank| party.binary_search(rank).is_err()) {
                return wrong("all ranks on a path must take part in its step");
            }
        }
        let follows = |index: usize| self.steps[index].after.iter().any(|&one| one as usize + 1 == index);
        if self.namespaces.is_some() && !(1..steps).all(follows) {
            return wrong("steps in network namespaces must follow each other");
        }
        Ok(())
    }
}

/// Whether numbers rise, each by one at least, and stay below a limit.
fn is_rising(numbers: &[u32], limit: u32) -> bool {
    numbers.is_sorted_by(|one, other| one < other) && numbers.last().is_none_or(|&last| last < limit)
}

fn is_partition(offsets: &[u64], parts: usize, whole: usize) -> bool {
    offsets.len() == parts + 1
        && offsets[0] == 0
        && offsets[parts] == whole as u64
        && offsets.windows(2).all(|pair| pair[0] <= pair[1])
}
