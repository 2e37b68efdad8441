//! Sequences of topologies for more than one port: each contracts a round of the strategy before (§4.3).
//!
//! The longest round, the fullest of these, is taken; every flow in it gets a circuit of its own in the next
//! topology, the longest first where paths of different lengths would need more ports at a receiver than there
//! are. Ports that are left go to the flows of the next rounds, so that no round that was not full makes a
//! topology that is not. Then all flows are packed again over all topologies. Where that costs more than
//! keeping the other rounds as they are, they are kept, so that a contraction never loses and saves at least the
//! hops but one of a round that it takes whole.

use std::cmp::Reverse;

use model::{Link, Rank, Result, Topology, Translations};

use crate::network::QuotientNetwork;
use crate::packing::{Packed, pack};
use crate::{Round, Stage, Strategy};

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
    /// None for rounds that were packed here; the type covers a contraction that is no topology.
    pub fn contract(&mut self) -> Result<bool> {
        if self.rounds.iter().all(|packed| packed.hops < 2) {
            return Ok(false);
        }
        let (direct, mut kept) = self.direct_circuits();
        let ends = |path: &Vec<Rank>| Link { src: path[0], dst: path[path.len() - 1], count: 1 };
        let name = format!("contraction-{}", self.networks.len());
        let topology = Topology::new(name, self.symmetry.clone(), direct.iter().map(ends))?;
        self.networks.push(QuotientNetwork::new(topology, &self.symmetry)?);
        let packed_again = pack(&self.networks, flows(&self.symmetry))?;
        let direct = direct.into_iter().map(|path| vec![path[0], path[path.len() - 1]]).collect();
        kept.push(Packed::direct(self.networks.len() - 1, Round { paths: direct }));
        self.rounds = if total(&packed_again) <= total(&kept) { packed_again } else { kept };
        Ok(true)
    }

    /// The paths that get circuits of their own, and the rounds without them: the longest round first, then
    /// whatever finds a port left at both ends.
    fn direct_circuits(&self) -> (Vec<Vec<Rank>>, Vec<Packed>) {
        let mut kept = self.rounds.clone();
        kept.sort_by_key(|packed| Reverse((packed.hops, packed.round.paths.len())));
        let mut free = vec![(self.ports, self.ports); self.symmetry.orbits() as usize];
        let mut direct = Vec::new();
        for packed in &mut kept {
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
