//! The task of a search for topologies and flows: matrix, ports and prices, its limits, the listener to better ones.

use std::cell::Cell;

use rand_chacha::ChaCha8Rng;

use super::exchanges::nearer;
use super::flow::Flow;
use super::parts;
use crate::unequal::demand::Demand;
use crate::unequal::prices::Prices;
use crate::unequal::pursuit::{Better, Pursuit};
use crate::unequal::wiring::Wiring;

/// A matrix on some ports with its prices, and the limits of the search.
pub(super) struct Task<'a> {
    pub(super) demand: &'a Demand,
    pub(super) ports: usize,
    /// The topology of the first step, where it is given.
    pub(super) start: Option<&'a Wiring>,
    pub(super) prices: &'a Prices,
    pub(super) pursuit: Pursuit<'a>,
    /// Time of the best that was told, or what must be less, s.
    told_s: Cell<f64>,
}

impl<'a> Task<'a> {
    /// Nothing is told that takes `limit_s` or more.
    pub(super) fn new(
        demand: &'a Demand,
        ports: usize,
        start: Option<&'a Wiring>,
        prices: &'a Prices,
        limit_s: f64,
        pursuit: Pursuit<'a>,
    ) -> Self {
        Self { demand, ports, start, prices, pursuit, told_s: Cell::new(limit_s) }
    }

    /// The topologies after exchanges that bring bytes nearer, `of_a_circuit` tried for each circuit of a step.
    pub(super) fn nearer(&self, wirings: &[Wiring], of_a_circuit: usize, random: &mut ChaCha8Rng) -> Vec<Wiring> {
        let first = usize::from(self.start.is_some());
        nearer(self.demand, wirings, first, (of_a_circuit, self.pursuit.until), random)
    }

    /// Whoever listens is told of topologies and a flow on them where they are the best so far.
    pub(super) fn tell(&self, wirings: &[Wiring], flow: &Flow, seconds: f64) {
        let Some(told) = self.pursuit.told.filter(|_| seconds < self.told_s.get()) else { return };
        self.told_s.set(seconds);
        let (demand, wirings, flow) = (self.demand.clone(), wirings.to_vec(), flow.clone());
        let composition = Box::new(move || parts::composition(&demand, &wirings, &flow));
        told(Better { seconds, composition });
    }
}
