//! All circuits that are live during a step.

use std::collections::BTreeMap;

use crate::circuit_rates::CircuitRates;
use crate::{Error, Rank, Result, Traffic, Translations, counted};

/// `count` parallel circuits `src` → `dst`. They act as one link of `count` times the bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Link {
    /// Transmitting GPU.
    pub src: Rank,
    /// Receiving GPU.
    pub dst: Rank,
    /// Parallel circuits, at least 1.
    pub count: u32,
}

/// The circuits that are set up when one topology follows another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetUp {
    /// Circuits that the topology before does not have.
    pub circuits: u64,
    /// The most of these circuits that leave or enter one GPU.
    pub at_one_gpu: u32,
    /// Ports that the GPUs at their ends need in addition to the circuits before, which stay until the new ones are up.
    pub ports: u32,
}

impl SetUp {
    /// Whether each GPU sets up at most one circuit out and one in, on a port that was dark before.
    pub fn fits_one_dark_port(&self, ports: u32) -> bool {
        self.at_one_gpu <= 1 && self.ports <= ports
    }
}

/// A directed multigraph of circuits, as one representative link per orbit of its symmetry. Sorted, one
/// link per pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Topology {
    name: String,
    symmetry: Translations,
    links: Vec<Link>,
    /// Where ports differ in rate, those that the circuits are on.
    rates: Option<CircuitRates>,
}

/// The end of the name of a topology whose circuits were turned round.
const REVERSED: &str = ", reversed";

impl Topology {
    /// The topology that `symmetry` makes of `links`. Links of the same pair are added up.
    ///
    /// # Errors
    /// A rank out of range, a circuit from a GPU to itself, or a count of zero.
    pub fn new(name: impl Into<String>, symmetry: Translations, links: impl IntoIterator<Item = Link>) -> Result<Self> {
        let ranks = symmetry.ranks();
        let mut merged: BTreeMap<(Rank, Rank), u32> = BTreeMap::new();
        for Link { src, dst, count } in interruption::checked(links) {
            if src >= ranks || dst >= ranks || src == dst || count == 0 {
                return Err(Error::value(
                    "topology",
                    format!("link {src} → {dst} of {}", counted(count, "circuit")),
                    format!("links between two different GPUs below {ranks} with at least one circuit"),
                ));
            }
            let (representative, element) = symmetry.canonical(src);
            let dst = symmetry.apply(symmetry.inverse(element), dst);
            let total = merged.entry((representative, dst)).or_insert(0);
            *total = total.saturating_add(count);
        }
        let links = merged.into_iter().map(|((src, dst), count)| Link { src, dst, count }).collect();
        Ok(Self { name: name.into(), symmetry, links, rates: None })
    }

    /// A circuit for each arc of `traffic`, as many in parallel as `ports` allow evenly (PCCL §3 divides
    /// ports evenly over a round's peers; HARVEST's two-port matchings are two parallel links). `None` when
    /// some rank has more peers than ports.
    pub fn of_traffic(name: impl Into<String>, traffic: &Traffic, ports: u32) -> Option<Self> {
        let degree = traffic.degree();
        if degree == 0 || degree > ports {
            return None;
        }
        let count = ports / degree;
        let links = traffic.arcs().iter().map(|arc| Link { src: arc.src, dst: arc.dst, count }).collect();
        Some(Self { name: name.into(), symmetry: traffic.symmetry().clone(), links, rates: None })
    }

    pub(crate) fn with_circuit_rates(self, rates: Option<CircuitRates>) -> Self {
        Self { rates, ..self }
    }

    /// This topology, with one link of each orbit of a subgroup of its symmetry.
    pub(crate) fn under(self, subgroup: Translations) -> Self {
        let links = self.links_under(&subgroup);
        Self { name: self.name, symmetry: subgroup, links, rates: None }
    }

    pub(crate) fn circuit_rates(&self) -> Option<&CircuitRates> {
        self.rates.as_ref()
    }

    /// This topology with the largest symmetry that can be found for its links; as it is where it is on ports of
    /// different rates.
    #[must_use]
    pub fn with_found_symmetry(self) -> Self {
        if self.rates.is_some() {
            return self;
        }
        let links: BTreeMap<(Rank, Rank), u32> =
            self.expanded().into_iter().map(|link| ((link.src, link.dst), link.count)).collect();
        let found = Translations::detect(self.symmetry.ranks(), links.len(), |move_by| {
            links.iter().all(|(&(src, dst), count)| links.get(&(move_by(src), move_by(dst))) == Some(count))
        });
        if found.order() <= self.symmetry.order() {
            return self;
        }
        let links = self.expanded().into_iter().filter(|link| found.canonical(link.src).1 == 0).collect();
        Self { name: self.name, symmetry: found, links, rates: None }
    }

    /// The topology with every circuit the other way round. Its name ends in `, reversed`, which a second turn takes away.
    ///
    /// # Errors
    /// The errors of [`Topology::new`], none of which a topology has.
    pub fn reversed(&self) -> Result<Self> {
        let links = self.links.iter().map(|link| Link { src: link.dst, dst: link.src, count: link.count });
        let name = match self.name.strip_suffix(REVERSED) {
            Some(name) => name.to_string(),
            None => format!("{}{REVERSED}", self.name),
        };
        let turned = Self::new(name, self.symmetry.clone(), links)?;
        let rates = self.rates.as_ref().map(|rates| {
            let back = |link: &Link| self.circuits_by_rate(link.dst, link.src).unwrap_or_default().to_vec();
            rates.of_links(turned.links.iter().map(back).collect())
        });
        Ok(turned.with_circuit_rates(rates))
    }

    /// This topology under another name.
    #[must_use]
    pub fn renamed(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Name shown to people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The group under which the links are invariant.
    pub fn symmetry(&self) -> &Translations {
        &self.symmetry
    }

    /// The links, one of each orbit, by (src, dst).
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Number of GPUs.
    pub fn ranks(&self) -> u32 {
        self.symmetry.ranks()
    }

    /// The links, one of each orbit of `subgroup`, a subgroup of the topology's own symmetry, by (src, dst).
    pub fn links_under(&self, subgroup: &Translations) -> Vec<Link> {
        let mut links: Vec<Link> = Vec::new();
        for coset in self.symmetry.cosets(subgroup) {
            interruption::check();
            for link in &self.links {
                let (src, dst) = (self.symmetry.apply(coset, link.src), self.symmetry.apply(coset, link.dst));
                let (representative, element) = subgroup.canonical(src);
                let dst = subgroup.apply(subgroup.inverse(element), dst);
                links.push(Link { src: representative, dst, count: link.count });
            }
        }
        links.sort_unstable();
        links
    }

    /// Every link, by (src, dst).
    pub fn expanded(&self) -> Vec<Link> {
        self.links_under(&Translations::trivial(self.ranks()))
    }

    /// The most circuits that leave or enter one GPU.
    pub fn degree(&self) -> u32 {
        let orbits = self.symmetry.orbits() as usize;
        let (mut out, mut into) = (vec![0u32; orbits], vec![0u32; orbits]);
        for link in &self.links {
            let (src, dst) = (self.symmetry.orbit(link.src) as usize, self.symmetry.orbit(link.dst) as usize);
            out[src] = out[src].saturating_add(link.count);
            into[dst] = into[dst].saturating_add(link.count);
        }
        out.into_iter().chain(into).max().unwrap_or(0)
    }

    /// # Errors
    /// When some GPU would need more than `ports` circuits out or in.
    pub fn check_ports(&self, ports: u32) -> Result<()> {
        let degree = self.degree();
        if degree <= ports {
            return Ok(());
        }
        Err(Error::refused(
            "topology",
            &self.name,
            format!("it needs {degree} ports per GPU and the fabric has {ports}"),
        ))
    }

    /// Whether both have the same circuits; names are not compared.
    pub fn same_links(&self, other: &Self) -> bool {
        if self.symmetry == other.symmetry {
            return self.links == other.links && self.same_rates(other);
        }
        if self.ranks() != other.ranks() || self.circuits() != other.circuits() {
            return false;
        }
        let both = self.symmetry.meet(&other.symmetry);
        self.links_under(&both) == other.links_under(&both) && self.same_rates(other)
    }

    /// Number of circuits.
    pub fn circuits(&self) -> u64 {
        self.links.iter().map(|link| u64::from(link.count)).sum::<u64>() * u64::from(self.symmetry.order())
    }

    /// Transmitters whose circuit differs between the two: at each GPU the larger of circuits set up and circuits torn
    /// down. Zero exactly when the links are the same.
    pub fn changed_ports(&self, other: &Self) -> u64 {
        let both = self.symmetry.meet(&other.symmetry);
        let mut counts: BTreeMap<(Rank, Rank), [u32; 2]> = BTreeMap::new();
        for (side, topology) in [self, other].into_iter().enumerate() {
            for link in topology.links_under(&both) {
                counts.entry((link.src, link.dst)).or_default()[side] += link.count;
            }
        }
        // Torn down and set up, by orbit of transmitting GPUs.
        let mut at_gpu = vec![[0u64; 2]; both.orbits() as usize];
        for ((src, _), [ours, theirs]) in counts {
            let [down, up] = &mut at_gpu[both.orbit(src) as usize];
            *down += u64::from(ours.saturating_sub(theirs));
            *up += u64::from(theirs.saturating_sub(ours));
        }
        at_gpu.into_iter().map(|[down, up]| down.max(up)).sum::<u64>() * u64::from(both.order())
    }

    /// The circuits that are set up when this topology follows `before`.
    pub fn set_up_after(&self, before: &Self) -> SetUp {
        let both = self.symmetry.meet(&before.symmetry);
        let had: BTreeMap<(Rank, Rank), u32> =
            before.links_under(&both).into_iter().map(|link| ((link.src, link.dst), link.count)).collect();
        let orbits = both.orbits() as usize;
        // By direction, out and in, then by orbit of GPUs.
        let (mut held, mut added) =
            ([vec![0u32; orbits], vec![0u32; orbits]], [vec![0u32; orbits], vec![0u32; orbits]]);
        let place = |counts: &mut [Vec<u32>; 2], (src, dst): (Rank, Rank), count: u32| {
            for (by_orbit, rank) in counts.iter_mut().zip([src, dst]) {
                let at = &mut by_orbit[both.orbit(rank) as usize];
                *at = at.saturating_add(count);
            }
        };
        had.iter().for_each(|(&ends, &count)| place(&mut held, ends, count));
        let mut circuits = 0;
        for Link { src, dst, count } in self.links_under(&both) {
            let new = count.saturating_sub(*had.get(&(src, dst)).unwrap_or(&0));
            if new > 0 {
                place(&mut added, (src, dst), new);
                circuits += u64::from(new);
            }
        }
        let ends = held.iter().flatten().zip(added.iter().flatten()).filter(|(_, added)| **added > 0);
        let (mut at_one_gpu, mut ports) = (0, 0);
        for (held, &added) in ends {
            at_one_gpu = at_one_gpu.max(added);
            ports = ports.max(held.saturating_add(added));
        }
        SetUp { circuits: circuits * u64::from(both.order()), at_one_gpu, ports }
    }
}
