//! The optical layer under a fabric, as far as it limits topologies beyond the ports of each GPU.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Error, Link, Rank, Result, Shape, Topology, Translations, counted};

/// Characters of a spelling, at most.
const MAX_SPELLING: usize = 1000;

/// A kind of optical layer with its parameters, as `--optics` spells it. Which topologies it can hold is for the crate
/// `optics` to say; islands are read here, since bounds know them too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpticalLayer {
    spelling: String,
    islands: Option<Islands>,
    shared: Option<Arc<Shared>>,
}

/// Groups of a larger fabric that all have the topology of one of them at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    /// The GPUs of the larger fabric, on which the layer is.
    pub shape: Shape,
    /// The GPUs of each group in their order, for each set of groups that communicate together.
    pub groupings: Vec<Vec<Vec<Rank>>>,
}

impl Shared {
    /// The circuits of a group's topology at all groups, for each set of groups.
    ///
    /// # Errors
    /// A topology of another number of GPUs than a group has.
    pub fn joint(&self, topology: &Topology) -> Result<Vec<Topology>> {
        let of_groups = |groups: &Vec<Vec<Rank>>| {
            let links = groups.iter().flat_map(|group| {
                let rank = |place: Rank| group.get(place as usize).copied().unwrap_or(Rank::MAX);
                let links = topology.expanded().into_iter();
                links.map(move |link| Link { src: rank(link.src), dst: rank(link.dst), count: link.count })
            });
            Topology::new(topology.name(), Translations::trivial(self.shape.gpus()), links)
        };
        self.groupings.iter().map(of_groups).collect()
    }
}

impl OpticalLayer {
    /// `crossbar`, or a kind with its parameters after a colon, such as `islands:4x2`.
    ///
    /// # Errors
    /// Islands that cannot be, or a spelling beyond all bounds. Names of kinds are not checked.
    pub fn new(spelling: &str) -> Result<Self> {
        if spelling.is_empty() || spelling.chars().count() > MAX_SPELLING {
            let given: String = spelling.chars().take(40).collect();
            let accepts = format!("a kind with its parameters in 1 to {MAX_SPELLING} characters");
            return Err(Error::value("optics", format!("`{given}`"), accepts));
        }
        let islands = match spelling.split_once(':').unwrap_or((spelling, "")) {
            (Islands::NAME, parameters) => Some(Islands::parse(parameters)?),
            _ => None,
        };
        Ok(Self { spelling: spelling.to_string(), islands, shared: None })
    }

    /// This layer of a larger fabric, as one group finds it whose topology others have at once.
    #[must_use]
    pub fn shared_by(&self, shared: Shared) -> Self {
        Self { islands: None, shared: Some(Arc::new(shared)), ..self.clone() }
    }

    /// The groups that have a topology at once, where the layer is of a larger fabric.
    pub fn shared(&self) -> Option<&Shared> {
        self.shared.as_deref()
    }

    /// The text that [`Self::new`] takes.
    pub fn spelling(&self) -> &str {
        &self.spelling
    }

    /// The islands, where GPUs share ports and have the layer for themselves.
    pub fn islands(&self) -> Option<Islands> {
        self.islands
    }
}

/// GPUs behind shared ports: GPUs i·A to i·A + A − 1 are island i, the last may be smaller. Circuits inside an island
/// are electrical; those to other islands need a port each way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Islands {
    /// GPUs of an island, A.
    pub gpus: u32,
    /// Transmitters of an island, and as many receivers.
    pub ports: u32,
}

/// Circuits between islands, by the island that they leave and the one that they enter.
pub type IslandCircuits = BTreeMap<(u32, u32), u32>;

impl Islands {
    /// The kind's name.
    pub const NAME: &'static str = "islands";

    /// # Errors
    /// Anything but two whole numbers from 1 to 65536 with an `x` between them.
    pub fn parse(parameters: &str) -> Result<Self> {
        let whole = |text: &str| text.parse::<u32>().ok().filter(|number| (1..=65_536).contains(number));
        let numbers = parameters.split_once('x').map(|(gpus, ports)| (whole(gpus), whole(ports)));
        match numbers {
            Some((Some(gpus), Some(ports))) => Ok(Self { gpus, ports }),
            _ => {
                let given: String = parameters.chars().take(60).collect();
                let accepts = "`islands:AxB`: A GPUs behind B ports, each from 1 to 65536, such as islands:4x2";
                Err(Error::value("optics", format!("`islands:{given}`"), accepts))
            }
        }
    }

    /// The circuits of a topology between islands. O(circuits · log).
    ///
    /// # Errors
    /// More of them leave or enter an island than it has ports.
    pub fn circuits(self, topology: &Topology) -> Result<IslandCircuits> {
        let mut between = IslandCircuits::new();
        let mut leaving: BTreeMap<u32, u32> = BTreeMap::new();
        let mut entering: BTreeMap<u32, u32> = BTreeMap::new();
        for link in topology.expanded() {
            let (from, to) = (link.src / self.gpus, link.dst / self.gpus);
            if from != to {
                *between.entry((from, to)).or_insert(0) += link.count;
                *leaving.entry(from).or_insert(0) += link.count;
                *entering.entry(to).or_insert(0) += link.count;
            }
        }
        for (verb, at) in [("leave", leaving), ("enter", entering)] {
            if let Some((&island, &count)) = at.iter().find(|(_, count)| **count > self.ports) {
                let first: Rank = island * self.gpus;
                let last = first.saturating_add(self.gpus - 1).min(topology.ranks() - 1);
                let ports = counted(u64::from(self.ports), "port");
                let reason = format!(
                    "island {island} (GPUs {first} to {last}) has {ports}; {count} circuits of {} {verb} it",
                    topology.name()
                );
                return Err(Error::infeasible("optics", reason));
            }
        }
        Ok(between)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Link, Translations};

    fn shifted(by: u32) -> Topology {
        let link = Link { src: 0, dst: by, count: 1 };
        Topology::new(format!("shifted-ring:{by}"), Translations::periodic(8, 1), [link]).unwrap()
    }

    #[test]
    fn circuits_inside_islands_need_no_port() {
        let islands = OpticalLayer::new("islands:4x1").unwrap().islands().unwrap();
        assert_eq!(islands.circuits(&shifted(1)).unwrap(), IslandCircuits::from([((0, 1), 1), ((1, 0), 1)]));
        let error = islands.circuits(&shifted(2)).unwrap_err().to_string();
        assert_eq!(error, "optics: island 0 (GPUs 0 to 3) has 1 port; 2 circuits of shifted-ring:2 leave it");
    }

    #[test]
    fn spellings_have_bounds() {
        assert_eq!(OpticalLayer::new("mesh:4x4").unwrap().islands(), None);
        for wrong in ["", "islands:", "islands:4", "islands:0x2", "islands:4x-1", &"m".repeat(1001)] {
            assert!(OpticalLayer::new(wrong).is_err(), "{wrong}");
        }
    }
}
