//! The phases of every span that divides the number of ranks. They depend on no rate, delay or size, so one
//! library serves all points of a sweep.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use interruption::Interruptible;
use model::{Chunks, Collective, Latest, Routing};
use rayon::prelude::*;
use search::GeneratorSet;
use topologies::metacyclic::{self, Metacyclic};

use crate::broadcast::Broadcasts;
use crate::composition::MOST_EXECUTED;
use crate::cutoffs::library::{MOST_FOR_EVERY_SET, MOST_KEPT, MOST_RINGS};
use crate::doubling::Doubling;
use crate::one_pass::{self, Walks};
use crate::phase::{Phase, undominated};
use crate::unequal::library as unequal;
use crate::{chunk_rounds, circulants, digit_phases, doubling};

/// Phases by span, none of them better than another for every fabric.
#[derive(Debug)]
pub(crate) struct Library {
    phases: BTreeMap<u32, Vec<Phase>>,
    /// Phases that also run on a ring of all ranks.
    on_rings: BTreeMap<u32, Vec<Phase>>,
    /// The Cayley digraph of all ranks.
    cayley: Option<Metacyclic>,
    /// A Cayley digraph on which sums can be followed, for where `cayley` does not allow it; made when first asked for.
    cayley_of_sums: OnceLock<Option<Metacyclic>>,
    /// Ranks and ports.
    shape: (u32, u32),
    /// Graphs of walks for AllReduce in one pass, made when they are first asked for.
    walks: OnceLock<Vec<Walks>>,
    /// Generator sets of one-port All-to-Alls by span, made when they are first asked for.
    generator_sets: BTreeMap<u32, OnceLock<Vec<GeneratorSet>>>,
    /// Phases by span in which all add up what they have, made when they are first asked for.
    doublings: BTreeMap<u32, OnceLock<Vec<Doubling>>>,
}

/// Libraries that were made, kept for callers that ask for compositions again: the points of a sweep have few pairs of
/// ranks and ports. Passed on by its owner; nothing else keeps libraries.
#[derive(Debug, Default)]
pub struct Libraries {
    /// The libraries of matrices.
    pub(crate) unequal: unequal::Libraries,
    made: Latest<(Key, Arc<Library>), MOST_KEPT>,
    /// Spreads of chunks over topologies that stay.
    pub(crate) spreads: chunk_rounds::Kept,
    /// The ingredients of Broadcasts.
    pub(crate) broadcasts: Broadcasts,
}

/// Ranks, ports, and the routing by whose loads phases are told apart.
type Key = (u32, u32, Routing);

impl Libraries {
    /// The library for `ranks` with `ports` ports each.
    pub(crate) fn of(&self, ranks: u32, ports: u32, routing: Routing) -> Arc<Library> {
        let key = (ranks, ports, routing);
        if let Some((_, library)) = self.made.find(|(made_for, _)| *made_for == key) {
            return library;
        }
        let library = Arc::new(Library::new(ranks, ports, routing));
        self.made.keep((key, library.clone()));
        library
    }
}

impl Library {
    pub(crate) fn new(ranks: u32, ports: u32, routing: Routing) -> Self {
        let spans: Vec<u32> = (2..=ranks).filter(|span| ranks.is_multiple_of(*span)).collect();
        let on_rings = digit_phases::phases(&spans, ports);
        let made = on_rings.into_par_iter().interruptible().map(|(span, on_rings)| {
            let others = circulants::phases(span, ports, routing);
            (span, undominated(on_rings.iter().cloned().chain(others).collect()), on_rings)
        });
        let made: Vec<(u32, Vec<Phase>, Vec<Phase>)> = made.collect();
        let phases = made.iter().map(|(span, phases, _)| (*span, phases.clone())).collect();
        // `None` where it cannot be built.
        let cayley = metacyclic::best(ranks, ports).ok().flatten();
        let generator_sets = made.iter().map(|(span, _, _)| (*span, OnceLock::new())).collect();
        let doublings = made.iter().map(|(span, _, _)| (*span, OnceLock::new())).collect();
        Self {
            phases,
            cayley,
            cayley_of_sums: OnceLock::new(),
            shape: (ranks, ports),
            walks: OnceLock::new(),
            generator_sets,
            doublings,
            on_rings: made.into_iter().map(|(span, _, on_rings)| (span, on_rings)).collect(),
        }
    }

    /// Phases of that span.
    pub(crate) fn phases(&self, span: u32) -> &[Phase] {
        self.phases.get(&span).map_or(&[], Vec::as_slice)
    }

    /// Phases of that span on rings.
    pub(crate) fn on_rings(&self, span: u32) -> &[Phase] {
        self.on_rings.get(&span).map_or(&[], Vec::as_slice)
    }

    /// Phases of that span in which all ranks add up what they have.
    pub(crate) fn doublings(&self, span: u32) -> &[Doubling] {
        let Some(kept) = self.doublings.get(&span) else { return &[] };
        kept.get_or_init(|| doubling::phases(self.phases(span), &self.on_rings, span, self.shape.1))
    }

    /// The Cayley digraph of all ranks, where ports and ranks allow one: one of few orbits where a collective of blocks
    /// could not be executed on the narrowest in the memory there is.
    pub(crate) fn cayley(&self, collective: Collective) -> Option<&Metacyclic> {
        let narrowest = self.cayley.as_ref()?;
        let (ranks, ports) = self.shape;
        let one = Chunks::even(collective, ranks, 1).ok()?.executed_bytes(1).max(1);
        let most = (MOST_EXECUTED / one).min(u64::from(metacyclic::MOST_WHEELS)) as u32;
        if narrowest.topology.symmetry().orbits() <= most || ranks <= metacyclic::MOST_SEARCHED {
            return Some(narrowest);
        }
        let of_sums = || metacyclic::best_of_wheels(ranks, ports, most).ok().flatten();
        self.cayley_of_sums.get_or_init(of_sums).as_ref()
    }

    /// The graphs of walks of all ranks.
    pub(crate) fn walks(&self) -> &[Walks] {
        self.walks.get_or_init(|| one_pass::graphs(self.shape.0, self.shape.1))
    }

    /// Sets of shifted rings for an All-to-All of that span over one port, for every number of rings worth a try.
    pub(crate) fn generator_sets(&self, span: u32) -> &[GeneratorSet] {
        let Some(kept) = self.generator_sets.get(&span) else { return &[] };
        kept.get_or_init(|| {
            if span <= MOST_FOR_EVERY_SET {
                return search::generator_sets(span).unwrap_or_default();
            }
            let next = |number: &u32| Some(number + number.div_ceil(2));
            let numbers = std::iter::successors(Some(2), next).take_while(|number| *number < span.min(MOST_RINGS));
            let numbers: Vec<u32> = numbers.collect();
            numbers
                .into_par_iter()
                .interruptible()
                .filter_map(|number| search::generator_set(span, number).ok())
                .collect()
        })
    }

    /// The spans above 1, ascending.
    pub(crate) fn spans(&self) -> impl Iterator<Item = u32> {
        self.phases.keys().copied()
    }
}
