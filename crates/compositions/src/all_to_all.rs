//! All-to-All composed of phases: along each coordinate in turn, every block goes to its destination's place.
//!
//! A phase of span r moves (r − 1)/r of the buffer, m/r to each place, over one topology with every place at once or
//! over several that serve some places each. One phase of span n is the direct All-to-All; phases of span 2 are
//! Bruck's.

use std::collections::BTreeMap;

use model::{Chunks, Collective, Op, Rank, Result, Step, Transfer, Translations};

use search::GeneratorSet;

use crate::composition::Composition;
use crate::coordinates::Coordinates;
use crate::library::Library;
use crate::phase::{Kind, Phase};
use crate::prices::Prices;
use crate::relative::{Circuits, Sums};

/// A topology of a phase and the places that it serves in one step.
#[derive(Debug, Clone, PartialEq)]
struct PhaseStep {
    circuits: Circuits,
    places: Vec<i64>,
}

/// An All-to-All along one coordinate: every block goes to its destination's place.
#[derive(Debug, Clone, PartialEq)]
struct Exchange {
    span: u32,
    steps: Vec<PhaseStep>,
    sums: Sums,
    on_ring: bool,
}

impl Exchange {
    /// Every place at once, as `phase` does it in its one step.
    fn at_once(phase: &Phase, on_ring: bool) -> Option<Self> {
        if phase.sums.steps != 1 || matches!(phase.kind, Kind::Levels) {
            return None;
        }
        let places = phase.sends().concat().iter().map(|send| send.ahead).collect();
        let steps = vec![PhaseStep { circuits: phase.circuits.clone(), places }];
        Some(Self { span: phase.span, steps, sums: phase.sums, on_ring })
    }

    /// Ranks send to as many places ahead at a time as there are ports, to each over circuits of its own.
    fn direct(span: u32, ports: u32) -> Self {
        let places: Vec<u32> = (1..span).collect();
        let mut sums = Sums::default();
        let mut steps = Vec::new();
        for together in places.chunks(ports as usize) {
            let peers = together.len() as u32;
            let count = |at: u32| ports / peers + u32::from(at < ports % peers);
            let load = 1.0 / f64::from(ports / peers);
            sums = Sums {
                steps: sums.steps + 1,
                hops: sums.hops + 1.0,
                load: sums.load + load,
                amount: sums.amount + load,
            };
            steps.push(PhaseStep {
                circuits: together.iter().zip(0..).map(|(&place, at)| (i64::from(place), count(at))).collect(),
                places: together.iter().map(|&place| i64::from(place)).collect(),
            });
        }
        Self { span, steps, sums, on_ring: false }
    }

    /// The exchange on the shifted rings of a generator set, each of which serves the places that are near on it.
    fn on_shifted_rings(set: &GeneratorSet, span: u32) -> Self {
        let mut steps: Vec<PhaseStep> = set
            .generators()
            .iter()
            .map(|&generator| PhaseStep { circuits: vec![(i64::from(generator), 1)], places: Vec::new() })
            .collect();
        let mut hops = vec![(0, 0); steps.len()];
        for (place, (index, distance)) in (1..).zip(set.assignment()) {
            steps[index].places.push(place);
            let (sum, most) = &mut hops[index];
            *sum += distance;
            *most = distance.max(*most);
        }
        // A ring that serves no place need not be set up.
        steps.retain(|step| !step.places.is_empty());
        let mut sums = Sums { steps: steps.len() as u32, ..Sums::default() };
        for (sum, most) in hops {
            sums.hops += f64::from(most);
            sums.load += f64::from(sum);
            sums.amount += f64::from(sum);
        }
        Self { span, steps, sums, on_ring: false }
    }

    fn seconds(&self, prices: &Prices, ranks: u32) -> f64 {
        // m/r to each place is n/r blocks.
        let changes = (self.steps.len() - 1) as f64;
        prices.sums_s(&self.sums, f64::from(ranks / self.span)) + changes * prices.change_s
    }
}

fn exchanges(library: &Library, span: u32, ports: u32) -> Vec<Exchange> {
    let at_once = library.phases(span).iter().chain(library.on_rings(span));
    let mut exchanges: Vec<Exchange> = at_once.filter_map(|phase| Exchange::at_once(phase, false)).collect();
    exchanges.push(Exchange::direct(span, ports));
    if ports == 1 {
        exchanges.extend(library.generator_sets(span).iter().map(|set| Exchange::on_shifted_rings(set, span)));
    }
    exchanges
}

/// The best phases, in the order in which they run. O(divisors² · phases).
fn best(library: &Library, prices: &Prices, ranks: u32, ports: u32) -> Vec<Exchange> {
    let by_span: BTreeMap<u32, Vec<Exchange>> =
        library.spans().map(|span| (span, exchanges(library, span, ports))).collect();
    let mut best: BTreeMap<u32, (f64, Vec<Exchange>)> = BTreeMap::from([(1, (0.0, Vec::new()))]);
    for product in library.spans() {
        let mut least = (f64::INFINITY, Vec::new());
        for (span, exchanges) in by_span.iter().filter(|(span, _)| product.is_multiple_of(**span)) {
            interruption::check();
            let Some((rest_s, rest)) = best.get(&(product / span)) else { continue };
            let change_s = if rest.is_empty() { 0.0 } else { prices.change_s };
            for exchange in exchanges {
                let total_s = rest_s + change_s + exchange.seconds(prices, ranks);
                if total_s < least.0 {
                    least = (total_s, rest.iter().chain([exchange]).cloned().collect());
                }
            }
        }
        best.insert(product, least);
    }
    let (free_s, mut chosen) = best.get(&ranks).cloned().unwrap_or((f64::INFINITY, Vec::new()));
    let mut least_s = free_s + prices.first_change_s();
    // The alternative: the first phase on the ring in force, without a first change.
    for span in library.spans() {
        let Some((rest_s, rest)) = best.get(&(ranks / span)) else { continue };
        let change_s = if rest.is_empty() { 0.0 } else { prices.change_s };
        let on_ring = library.on_rings(span).iter().filter(|phase| prices.starts_on(phase));
        for exchange in on_ring.filter_map(|phase| Exchange::at_once(phase, true)) {
            let total_s = exchange.seconds(prices, ranks) + change_s + rest_s;
            if total_s < least_s {
                least_s = total_s;
                chosen = std::iter::once(exchange).chain(rest.iter().cloned()).collect();
            }
        }
    }
    chosen
}

/// The best composition.
pub(crate) fn compose(library: &Library, prices: &Prices, ranks: u32, ports: u32) -> Result<Composition> {
    let exchanges = best(library, prices, ranks, ports);
    // The first phase along the last coordinate.
    let coordinates = Coordinates::new(exchanges.iter().rev().map(|exchange| exchange.span).collect());
    let chunks = Chunks::even(Collective::AllToAll, ranks, 1)?;
    let (mut steps, mut topologies) = (Vec::new(), Vec::new());
    for (order, exchange) in exchanges.iter().enumerate() {
        let index = exchanges.len() - 1 - order;
        for step in &exchange.steps {
            interruption::check();
            topologies.push(coordinates.topology(index, exchange.on_ring, &step.circuits)?);
            steps.push(
                PhaseStepBuilder { coordinates: &coordinates, exchanges: &exchanges, index, step }.step(&chunks)?,
            );
        }
    }
    Composition::new(chunks, steps, topologies)
}

/// One step of an All-to-All: the phases behind the coordinate have run.
struct PhaseStepBuilder<'a> {
    coordinates: &'a Coordinates,
    exchanges: &'a [Exchange],
    index: usize,
    step: &'a PhaseStep,
}

impl PhaseStepBuilder<'_> {
    fn step(&self, chunks: &Chunks) -> Result<Step> {
        let on_ring = self.index + 1 == self.coordinates.dims().len() && self.exchanges[0].on_ring;
        let symmetry = if self.exchanges[0].on_ring && !on_ring {
            // Where blocks came along a ring of all ranks, their sources follow translations of the first coordinate
            // only.
            Translations::periodic(self.coordinates.ranks(), self.coordinates.ranks() / self.coordinates.dims()[0])
        } else {
            self.coordinates.symmetry(on_ring)
        };
        let mut transfers = Vec::new();
        for src in symmetry.representatives() {
            interruption::check();
            for &place in &self.step.places {
                let dst = self.coordinates.ahead(src, self.index, on_ring, place);
                let sent = self.blocks(src, place, on_ring, chunks);
                transfers.push(Transfer { src, dst, op: Op::Copy, chunks: sent });
            }
        }
        Step::new(symmetry, transfers, chunks)
    }

    /// The blocks at `rank` that go `place` places ahead: their sources may differ from it in the coordinates that are
    /// done, their destinations in those to come.
    fn blocks(&self, rank: Rank, place: i64, on_ring: bool, chunks: &Chunks) -> Vec<u32> {
        let coordinates = self.coordinates;
        let last = coordinates.dims().len() - 1;
        let came_by_ring = self.exchanges[0].on_ring && !on_ring;
        let done = coordinates.fellows(rank, |other| other > self.index && !(came_by_ring && other == last));
        let sources: Vec<Rank> = if came_by_ring {
            let places = std::iter::once(0).chain(self.exchanges[0].steps[0].places.iter().copied());
            places.flat_map(|moved| done.iter().map(move |&at| coordinates.ahead(at, last, true, -moved))).collect()
        } else {
            done
        };
        let next = coordinates.ahead(rank, self.index, on_ring, place);
        let targets = coordinates.fellows(next, |other| other < self.index);
        sources.iter().flat_map(|&src| targets.iter().map(move |&dst| chunks.pair(src, dst, 0))).collect()
    }
}
