//! Sequences of topologies for more than one port: each contracts a round of the strategy before (§4.3).
//!
//! The longest round, the fullest of these, is taken; every flow in it gets a circuit of its own in the next
//! topology, the longest first where paths of different lengths would need more ports at a receiver than there
//! are. Ports that are left go to the flows of the next rounds, so that no round that was not full makes a
//! topology that is not. Then all flows are packed again over all topologies. Where that costs more than
//! keeping the other rounds as they are, they are kept, so that a contraction never loses and saves at least the
//! hops but one of a round that it takes whole.

use std::cmp::Reverse;

use model::{Link, Rank, Result, Topology, Translations, UNREACHABLE};

use crate::network::QuotientNetwork;
use crate::packing::{Packed, pack};
use crate::{Round, Stage, Strategy};

/// Contractions are called by it and their place among the topologies.
const PREFIX: &str = "contraction-";

/// Meaning of the names of this module's topologies.
pub const NAME: (&str, &str) =
    ("contraction-K", "direct circuits for the flows with the most hops on the K preceding topologies");

/// The topology that this one contracts, where its name says that it is a contraction: the hops between the ends of its
/// circuits on the topologies `before` it, the fewest where these differ. O(ranks · links) for each of them.
pub fn contracted(topology: &Topology, before: &[Topology]) -> Option<String> {
    if !topology.name().starts_with(PREFIX) {
        return None;
    }
    let networks = before.iter().map(|earlier| {
        let common = topology.symmetry().meet(earlier.symmetry());
        QuotientNetwork::new(earlier.clone(), &common).ok()
    });
    let networks: Vec<QuotientNetwork> = networks.collect::<Option<_>>()?;
    let hops_of = |link: &Link| networks.iter().map(|network| network.distance(link.src, link.dst)).min();
    let hops: Vec<u32> = topology.expanded().iter().filter_map(hops_of).filter(|hops| *hops != UNREACHABLE).collect();
    let (least, most) = (hops.iter().min()?, hops.iter().max()?);
    let shown = if least == most { most.to_string() } else { format!("{least} to {most}") };
    Some(format!("direct circuits for flows of {shown} hops on the topologies before"))
}

/// The strategies with one topology, two, and so on until every flow has its own circuit.
#[derive(Debug, Clone)]
pub struct Contractions {
    symmetry: Translations,
    ports: u32,
    networks: Vec<QuotientNetwork>,
    rounds: Vec<Packed>,
}

impl Contractions {
    /// Starts from `base`, a topology on which every rank reaches every other, of at most `ports` circuits out
    /// of and into each GPU. Strategies are invariant under `symmetry`, which lies inside the topology's.
    ///
    /// # Errors
    /// A base with parallel circuits, or one that is not strongly connected.
    pub fn new(base: Topology, symmetry: Translations, ports: u32) -> Result<Self> {
        base.check_ports(ports)?;
        let networks = vec![QuotientNetwork::new(base, &symmetry)?];
        let rounds = pack(&networks, flows(&symmetry))?;
        Ok(Self { symmetry, ports, networks, rounds })
    }

    /// Number of topologies of the strategy in hand.
    pub fn topologies(&self) -> usize {
        self.networks.len()
    }

    /// Σ hops of the strategy in hand.
    pub fn hops(&self) -> u64 {
        total(&self.rounds)
    }

    /// The strategy in hand. Topologies that serve no flow any more are left out.
    pub fn strategy(&self) -> Strategy {
        let stage = |(index, network): (usize, &QuotientNetwork)| {
            let rounds = self.rounds.iter().filter(|packed| packed.network == index);
            Stage { topology: network.topology.clone(), rounds: rounds.map(|packed| packed.round.clone()).collect() }
        };
        let stages = self.networks.iter().enumerate().map(stage).filter(|stage| !stage.rounds.is_empty()).collect();
        Strategy { symmetry: self.symmetry.clone(), stages }
    }

    /// Adds a topology; `false` where every flow has its own circuit already.
    ///
    /// # Errors
    /// No error for rounds that were packed here; the type covers a contraction that is no topology.
    pub fn contract(&mut self) -> Result<bool> {
        if self.rounds.iter().all(|packed| packed.hops < 2) {
            return Ok(false);
        }
        let (direct, mut kept) = self.direct_circuits();
        let ends = |path: &Vec<Rank>| Link { src: path[0], dst: path[path.len() - 1], count: 1 };
        let name = format!("{PREFIX}{}", self.networks.len());
        let topology = Topology::new(name, self.symmetry.clone(), direct.iter().map(ends))?;
        self.networks.push(QuotientNetwork::new(topology, &self.symmetry)?);
        let packed_again = pack(&self.networks, flows(&self.symmetry))?;
        let direct = direct.into_iter().map(|path| vec![path[0], path[path.len() - 1]]).collect();
        kept.push(Packed::direct(self.networks.len() - 1, Round { paths: direct }));
        self.rounds = if total(&packed_again) <= total(&kept) { packed_again } else { kept };
        Ok(true)
    }

    /// The paths that get circuits of their own, and the rounds without them: the longest round first, then any pair
    /// that finds a port left at both ends.
    fn direct_circuits(&self) -> (Vec<Vec<Rank>>, Vec<Packed>) {
        let mut kept = self.rounds.clone();
        kept.sort_by_key(|packed| Reverse((packed.hops, packed.round.paths.len())));
        let mut free = vec![(self.ports, self.ports); self.symmetry.orbits() as usize];
        let mut direct = Vec::new();
        for packed in &mut kept {
            interruption::check();
            // Circuits that are there already save nothing.
            packed.round.paths.sort_by_key(|path| Reverse(path.len()));
            packed.round.paths.retain(|path| {
                let (src, dst) = (self.symmetry.orbit(path[0]), self.symmetry.orbit(path[path.len() - 1]));
                let takes = path.len() > 2 && free[src as usize].0 > 0 && free[dst as usize].1 > 0;
                if takes {
                    free[src as usize].0 -= 1;
                    free[dst as usize].1 -= 1;
                    direct.push(path.clone());
                }
                !takes
            });
            packed.hops = packed.round.hops();
        }
        kept.retain(|packed| !packed.round.paths.is_empty());
        (direct, kept)
    }
}

/// One flow per orbit: from each representative to every other rank.
fn flows(symmetry: &Translations) -> impl Iterator<Item = (Rank, Rank)> {
    let ranks = symmetry.ranks();
    let sources = symmetry.representatives().into_iter();
    sources.flat_map(move |src| (0..ranks).filter(move |&dst| dst != src).map(move |dst| (src, dst)))
}

fn total(rounds: &[Packed]) -> u64 {
    rounds.iter().map(|packed| u64::from(packed.hops)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_which_paths_were_contracted() {
        // Places ahead on a ring of 8 are as many hops; the first contraction takes the round of the longest.
        let ring = Topology::circulant(8, &[1]).unwrap();
        let mut contractions = Contractions::new(ring.clone(), Translations::cyclic(8), 1).unwrap();
        assert!(contractions.contract().unwrap());
        let first = contractions.networks[1].topology.clone();
        assert_eq!((first.name(), first.links()), ("contraction-1", &[Link { src: 0, dst: 7, count: 1 }][..]));
        let said = contracted(&first, std::slice::from_ref(&ring)).unwrap();
        assert_eq!(said, "direct circuits for flows of 7 hops on the topologies before");
        assert!(contractions.contract().unwrap());
        // 3 hops forwards or 5 backwards, 4 of each: the ring backwards leaves 4 as the most.
        let second = contractions.networks[2].topology.clone();
        let said = contracted(&second, &[ring.clone(), first]).unwrap();
        assert_eq!(said, "direct circuits for flows of 4 hops on the topologies before");
        assert_eq!(contracted(&ring, &[]), None);
    }
}
