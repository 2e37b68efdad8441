//! The input of a planner.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use fronts::{Front, Point};
use model::{
    Bound, CostSettings, Error, Fabric, HopDelays, Initial, Overlap, Result, Routes, Schedule, StepCost, Topology,
    sum_seconds,
};

use crate::many_gpus;
use crate::packet_times::StepInPackets;
use crate::shortest_path::Before;
use crate::{Cache, Change, Charges, PlannerOptions, ProfileTable, Rates, Shared};

/// A schedule on a fabric, with candidate topologies, a size and the cost settings.
#[derive(Clone)]
pub struct Problem {
    /// Profiles of the schedule's patterns on the candidates.
    pub table: Arc<ProfileTable>,
    /// The fabric.
    pub fabric: Fabric,
    /// How costs are counted.
    pub settings: CostSettings,
    /// Bytes m of one rank's whole buffer.
    pub size_bytes: u64,
    /// Candidates that the static baseline may use; all where this is empty.
    pub static_candidates: Vec<usize>,
    /// Index of the initial topology among the candidates, where one is given.
    pub start: Option<usize>,
    /// Settings of some planners.
    pub options: PlannerOptions,
    /// Whether concurrent flow is near the optimum only
    /// ([`RoutingNetwork::quick_front`](fronts::RoutingNetwork::quick_front)).
    pub quick_flows: bool,
    /// Results that are found once for all operating points.
    pub shared: Arc<Shared>,
    /// Results that other problems share too.
    pub cache: Arc<Cache>,
}

impl Problem {
    /// Joins schedule, fabric and candidates, each at the rates of its pairs where these differ. The initial topology
    /// becomes a candidate if it is not one; if so many GPUs look different on it that its flows would take minutes,
    /// and there are other candidates, no step is served on it.
    ///
    /// # Errors
    /// Sizes that differ, a candidate with more circuits than ports, or no candidates; an optical layer that does not
    /// go with the GPUs, or cannot hold the initial topology.
    pub fn new(
        schedule: Schedule,
        fabric: Fabric,
        settings: CostSettings,
        size_bytes: u64,
        candidates: Vec<Topology>,
    ) -> Result<Self> {
        Self::sharing(Arc::default(), schedule, fabric, settings, size_bytes, candidates)
    }

    /// [`Problem::new`] for a problem that shares the cache of others.
    ///
    /// # Errors
    /// The errors of [`Problem::new`].
    pub fn sharing(
        cache: Arc<Cache>,
        schedule: Schedule,
        fabric: Fabric,
        settings: CostSettings,
        size_bytes: u64,
        mut candidates: Vec<Topology>,
    ) -> Result<Self> {
        fabric.check()?;
        let rated = |topology: Topology| fabric.shape.rated(topology);
        let initial = match &fabric.initial {
            Initial::Topology(initial) if fabric.shape.pairs().is_some() => Initial::Topology(rated(initial.clone())),
            other => other.clone(),
        };
        candidates = candidates.into_iter().map(rated).collect();
        let fabric = Fabric { initial, ..fabric };
        let settings = settings.of_packets();
        if schedule.ranks() != fabric.shape.gpus() {
            return Err(Error::value(
                "gpus",
                fabric.shape.gpus(),
                format!("{}, as the schedule has", schedule.ranks()),
            ));
        }
        for topology in &candidates {
            topology.check_ports(fabric.shape.ports())?;
        }
        let mut is_left_out = false;
        if let Initial::Topology(initial) = &fabric.initial
            && !candidates.iter().any(|topology| topology.same_links(initial))
        {
            is_left_out = !candidates.is_empty() && many_gpus::is_left_out(initial);
            candidates.push(initial.clone());
        }
        let limits = cache.limits(&fabric)?;
        if let (Initial::Topology(initial), Some(limits)) = (&fabric.initial, &limits)
            && let Some(refusal) = limits.refusal(initial)
        {
            return Err(refusal.in_field("initial"));
        }
        let mut table = ProfileTable::sharing(&cache.networks, schedule, &candidates, settings.routing, limits)?;
        table.known_fronts = Some(cache.fronts.clone());
        let start = fabric.initial.given().and_then(|initial| table.position(initial));
        if let Some(start) = start.filter(|_| is_left_out) {
            let reason =
                "with this many GPUs no step is planned on an initial topology on which most GPUs look different";
            let refusal = Error::refused("initial", table.candidate(start).name(), reason);
            table.refusals[start] = OnceLock::from(Some(refusal));
        }
        Ok(Self {
            table: Arc::new(table),
            fabric,
            settings,
            size_bytes,
            static_candidates: Vec::new(),
            start,
            options: PlannerOptions::default(),
            quick_flows: false,
            shared: Arc::default(),
            cache,
        })
    }

    /// The problem of another schedule on other candidates, on this fabric, for this size.
    ///
    /// # Errors
    /// The errors of [`Problem::new`].
    pub fn with(&self, schedule: Schedule, settings: CostSettings, candidates: Vec<Topology>) -> Result<Self> {
        let cache = self.cache.clone();
        let mut own = Self::sharing(cache, schedule, self.fabric.clone(), settings, self.size_bytes, candidates)?;
        if self.quick_flows
            && let Some(table) = Arc::get_mut(&mut own.table)
        {
            table.has_quick_flows = true;
        }
        Ok(Self { options: self.options.clone(), quick_flows: self.quick_flows, ..own })
    }

    /// The schedule.
    pub fn schedule(&self) -> &Schedule {
        self.table.schedule()
    }

    /// The bound for every algorithm of the collective: the class of a planner that chooses the algorithm itself.
    pub fn any_algorithm_bound(&self) -> Bound {
        let chunks = self.schedule().chunks();
        if chunks.forwarding() > 0 {
            return bounds::forwarded(chunks, &self.fabric, self.settings, self.size_bytes);
        }
        let (collective, pieces) = (chunks.collective(), chunks.as_pieces());
        self.cache.bounds.any_algorithm(collective, pieces, &self.fabric, self.settings, self.size_bytes).bound()
    }

    /// The candidates that a planner of one topology may use.
    pub fn allowed(&self) -> Cow<'_, [usize]> {
        match &self.static_candidates[..] {
            [] => (0..self.table.candidates()).collect(),
            some => some.into(),
        }
    }

    /// m_i: bytes of the largest transfer of a step.
    pub fn transfer_bytes(&self, step: usize) -> f64 {
        self.size_bytes as f64 * self.schedule().steps()[step].share()
    }

    /// The number of hop delays that a step is charged.
    pub(crate) fn hop_delays(&self, step: usize) -> HopDelays {
        let node_load = || self.schedule().steps()[step].traffic().node_load();
        self.settings.propagation.of_step(self.fabric.shape.ports(), node_load)
    }

    /// The cost of hops and load in each step.
    pub fn rates(&self) -> Rates {
        let steps = 0..self.schedule().steps().len();
        let rates = Rates::new(&self.fabric, steps.map(|step| (self.hop_delays(step), self.transfer_bytes(step))));
        if self.fabric.shape.positions().is_none() && self.fabric.shape.pairs().is_none() {
            return rates;
        }
        let candidates = (0..self.table.candidates()).map(|candidate| self.table.candidate(candidate));
        Rates { added_hops_s: candidates.map(|topology| self.fabric.added_hop_s(topology)).collect(), ..rates }
    }

    /// The cost of a change of topology where nothing of it is hidden, as all papers have it.
    pub fn change(&self) -> Change {
        let delay = self.fabric.reconfiguration.delay();
        if let Some(delay_s) = delay.constant_s() {
            return Change::Constant(delay_s);
        }
        Change::Matrix(self.table.differences(delay).iter().map(|&difference| delay.seconds(difference)).collect())
    }

    /// The charges of changes of topology.
    pub fn charges(&self) -> Charges {
        Charges::of(self.change(), &self.fabric, &self.table)
    }

    /// Completion time of a sequence of candidates, s: the terms of all steps, added up as a plan adds them.
    ///
    /// # Errors
    /// When some transfer of a step has no path on its candidate.
    pub fn total_s(&self, sequence: &[usize]) -> Result<f64> {
        Ok(sum_seconds(self.costs(sequence)?.iter().flat_map(StepCost::terms)))
    }

    /// The terms of every step of a sequence of candidates.
    ///
    /// # Errors
    /// When some transfer of a step has no path on its candidate.
    pub fn costs(&self, sequence: &[usize]) -> Result<Vec<StepCost>> {
        let steps = sequence.iter().enumerate();
        let costs = steps.map(|(step, &candidate)| Ok(self.step_cost(step, candidate)?.0));
        let mut costs: Vec<StepCost> = costs.collect::<Result<_>>()?;
        let steps_s: Vec<f64> = costs.iter().map(StepCost::total_s).collect();
        for (cost, charge_s) in costs.iter_mut().zip(self.charges_of(sequence, &steps_s)) {
            cost.reconfiguration_s = charge_s;
        }
        Ok(costs)
    }

    /// The candidate in force before the first step of a sequence: the start, or the sequence's last where it is
    /// repeated.
    pub(crate) fn before_first(&self, sequence: &[usize]) -> Option<usize> {
        if self.is_repeated() { sequence.last().copied() } else { self.start }
    }

    /// The changes of a sequence, the one before its first step included: the candidates before and after each.
    pub(crate) fn changes_of<'a>(&self, sequence: &'a [usize]) -> impl Iterator<Item = (usize, usize)> + 'a {
        let before = self.before_first(sequence).into_iter().chain(sequence.iter().copied());
        before.clone().zip(before.skip(1)).filter(|(from, to)| from != to)
    }

    /// Whether the topologies form a cycle.
    pub(crate) fn is_repeated(&self) -> bool {
        self.fabric.initial == Initial::Repeated
    }

    /// The topology in force before the first step, for a search.
    pub(crate) fn before(&self) -> Before {
        match self.start {
            _ if self.is_repeated() => Before::Last,
            Some(start) => Before::Candidate(start),
            None => Before::Nothing,
        }
    }

    /// Seconds charged for each step's change of topology in a sequence of candidates, whose steps take `steps_s`
    /// without; the first one from the problem's start.
    pub(crate) fn charges_of(&self, sequence: &[usize], steps_s: &[f64]) -> Vec<f64> {
        let charged = sequence.iter().enumerate().map(|(step, &to)| {
            let before = match step.checked_sub(1) {
                None => self.before_first(sequence).map(|start| (start, 0.0)),
                Some(before) => Some((sequence[before], steps_s[before])),
            };
            let Some((from, before_s)) = before.filter(|(from, _)| *from != to) else { return 0.0 };
            let (policy, ports) = (&self.fabric.reconfiguration, self.fabric.shape.ports());
            let change = policy.between(self.table.candidate(from), self.table.candidate(to), ports);
            policy.charge_s(change, step, before_s)
        });
        charged.collect()
    }

    /// Cost of a step on a candidate without reconfiguration, with the hop limit and load that it is for.
    ///
    /// # Errors
    /// When some transfer of the step has no path.
    pub fn step_cost(&self, step: usize, candidate: usize) -> Result<(StepCost, u32, f64)> {
        let (additive, hop_limit, load) = self.step_point(step, candidate)?;
        let cost = match self.settings.overlap {
            Overlap::Additive => additive,
            Overlap::Pipelined => {
                let routes = || self.routes(step, candidate, hop_limit);
                let step = StepInPackets {
                    table: &self.table,
                    fabric: &self.fabric,
                    settings: self.settings,
                    size_bytes: self.size_bytes,
                    step,
                    candidate,
                };
                self.shared.packet_times.cost(&step, hop_limit, routes)?
            }
        };
        Ok((cost, hop_limit, load))
    }

    /// Paths of a step on a candidate, and what they attain.
    ///
    /// # Errors
    /// When some transfer of the step has no path of at most `hop_limit` hops.
    pub(crate) fn routes(&self, step: usize, candidate: usize, hop_limit: u32) -> Result<(Routes, Point)> {
        let routes = self.table.routes(self.table.pattern_of_step(step), candidate, hop_limit);
        routes.ok_or_else(|| Error::infeasible("topology", format!("step {} has no route", step + 1)))
    }

    /// The additive cost of a step on a candidate, with the hop limit and load that it is for.
    ///
    /// # Errors
    /// When some transfer of the step has no path.
    pub(crate) fn step_point(&self, step: usize, candidate: usize) -> Result<(StepCost, u32, f64)> {
        let bytes = self.transfer_bytes(step);
        let delays = self.hop_delays(step);
        let topology = self.table.candidate(candidate);
        let hop_s = self.fabric.hop_delay_on_s(topology);
        let (hop_s, load_s) = delays.hop_and_load_s(hop_s, self.fabric.byte_s() * bytes);
        let point = self.table.cheapest(self.table.pattern_of_step(step), candidate, hop_s, load_s);
        let point = point.ok_or_else(|| self.no_path(step, candidate))?;
        let cost = StepCost::on_point(&self.fabric, topology, delays, bytes, point.hops, point.load);
        Ok((cost, point.hops, point.load))
    }

    /// The front of a step on a candidate.
    ///
    /// # Errors
    /// When some transfer of the step has no path.
    pub(crate) fn front(&self, step: usize, candidate: usize) -> Result<&Front> {
        self.table.front(self.table.pattern_of_step(step), candidate).ok_or_else(|| self.no_path(step, candidate))
    }

    /// Why a step cannot run on a candidate.
    fn no_path(&self, step: usize, candidate: usize) -> Error {
        let without_path = || {
            let reason = format!("some transfer of step {} has no path on it", step + 1);
            Error::refused("topology", self.table.candidate(candidate).name(), reason)
        };
        self.table.refusal(candidate).cloned().unwrap_or_else(without_path)
    }
}
