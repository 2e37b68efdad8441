//! Plans of one group, from whichever planner; all on the fabric's delay, without the change to their first topology.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use collectives::UnequalBlocks;
use lightloom::{Request, Size, TopologyRef};
use model::{
    ByteMatrix, Collective, CostSettings, Fabric, Initial, OpticalLayer, Plan, PlanParts, ReconfigurationPolicy,
    Result, Routing, Shape, Topology,
};
use planners::{Convention, PlannerOptions};

use crate::known_plans::{KnownPlans, VariantKind};
use crate::ports::{self, Ports, width};
use crate::variants::Variant;

/// The task: a collective of a group.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) collective: Collective,
    pub(crate) size_bytes: u64,
    /// Bytes between its places, of an All-to-All whose blocks differ.
    pub(crate) matrix: Option<Arc<ByteMatrix>>,
    /// Ranks of the group.
    pub(crate) ranks: u32,
    pub(crate) ports: Ports,
    /// The optical layer as the group finds it, where that limits its topologies.
    pub(crate) layer: Option<OpticalLayer>,
}

/// The way in which it is planned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Manner {
    /// The start; `None` for a free start.
    pub(crate) start: Option<Topology>,
    /// The reconfiguration delay that is passed to the planner, s.
    pub(crate) delay_s: f64,
    /// The planner; `None` for all planners.
    pub(crate) planner: Option<&'static str>,
    /// The one topology that a static planner may use.
    pub(crate) on: Option<Topology>,
}

/// Whether a group's plans are looked for with less effort: shortest paths in place of flows, from fewer topologies.
pub(crate) fn is_large(ranks: u32, ports: u32) -> bool {
    ranks * ports > 200
}

/// Plans for groups of a fabric.
pub(crate) struct GroupPlans<'a> {
    pub(crate) fabric: &'a Fabric,
    /// The charge of every change, s.
    pub(crate) delay_s: f64,
    /// Whether AllReduces end with the same bits at every rank.
    same_bits: bool,
    known: Arc<KnownPlans>,
    /// By matrix: its blocks.
    blocks: Mutex<BTreeMap<Arc<ByteMatrix>, UnequalBlocks>>,
}

impl<'a> GroupPlans<'a> {
    pub(crate) fn new(fabric: &'a Fabric, delay_s: f64, same_bits: bool, known: Arc<KnownPlans>) -> Self {
        Self { fabric, delay_s, same_bits, known, blocks: Mutex::default() }
    }

    /// The steps of a plan, charged for changes as at some delay.
    ///
    /// # Errors
    /// The errors of the planner.
    pub(crate) fn plan(&self, asked: &Asked, manner: &Manner) -> Result<Arc<Plan>> {
        let initial = manner.start.clone().map_or(Initial::Free, Initial::Topology);
        let mut settings = Convention::select(None, manner.planner)?.settings;
        let seeks_flows = asked.matrix.is_some() || !is_large(asked.ranks, width(asked.ports));
        if !seeks_flows && settings == CostSettings::default() {
            settings.routing = Routing::EqualSplit;
        }
        let request = Request {
            settings,
            planner: manner.planner.map(str::to_string),
            static_topologies: manner.on.clone().map(|on| vec![TopologyRef::Given(on)]),
            ..self.request(asked, self.layered(asked, self.fabric_of(asked, initial, manner.delay_s)?))?
        };
        let planned = |request: &Request| self.known.requests.plan(request).map(|known| (known.total_s, known.plan));
        Ok(if self.same_bits { lightloom::with_same_bits(&request, planned)? } else { planned(&request)? }.1)
    }

    /// The plan of another plan's variant on the same ports, of a collective that may be another one; charged as at
    /// some delay.
    ///
    /// # Errors
    /// A topology that does not serve its step.
    pub(crate) fn of_variant(
        &self,
        plan: &Arc<Plan>,
        ports: Ports,
        kind: VariantKind,
        variant: Variant,
    ) -> Result<Arc<Plan>> {
        self.known.variant(plan, kind, || self.on_topologies(plan, ports, variant))
    }

    fn on_topologies(&self, plan: &Plan, ports: Ports, (schedule, topologies): Variant) -> Result<Plan> {
        let (collective, size_bytes) = (schedule.collective(), plan.size_bytes);
        let ranks = plan.fabric.shape.gpus();
        let asked = Asked { collective, size_bytes, matrix: None, ranks, ports, layer: None };
        let request = Request {
            workload: lightloom::Workload::Schedule(schedule),
            settings: plan.settings,
            ..self.request(&asked, self.free(&plan.fabric))?
        };
        lightloom::plan_on(&request, &topologies)
    }

    /// The bound for any algorithm, from a free start, s.
    ///
    /// # Errors
    /// A group that no fabric can have.
    pub(crate) fn bound_s(&self, asked: &Asked) -> Result<f64> {
        let fabric = self.fabric_of(asked, Initial::Free, self.delay_s)?;
        let blocks = asked.matrix.as_ref().map(|matrix| self.blocks_of(matrix)).transpose()?;
        let pieces = blocks.as_ref().and_then(|blocks| blocks.whole().chunks().as_pieces());
        let (bounds, settings) = (&self.known.requests.cache.bounds, CostSettings::default());
        Ok(bounds.any_algorithm(asked.collective, pieces, &fabric, settings, asked.size_bytes).seconds())
    }

    /// Messages of this many bytes over ports: α + δ·hops + β·m·load, in circuits of the fastest of them.
    pub(crate) fn message_s(&self, size_bytes: u64, ports: Ports, hops: u32, load: f64) -> f64 {
        let Fabric { startup_s, hop_delay_s, .. } = self.fabric;
        let byte_s = 8.0 / ports::fastest_bps(self.fabric, ports);
        startup_s + hop_delay_s * f64::from(hops) + byte_s * size_bytes as f64 * load
    }

    fn layered(&self, asked: &Asked, fabric: Fabric) -> Fabric {
        Fabric { optics: asked.layer.clone(), ..fabric }
    }

    fn fabric_of(&self, asked: &Asked, initial: Initial, delay_s: f64) -> Result<Fabric> {
        let rates = ports::rates(self.fabric, asked.ports);
        Ok(Fabric {
            shape: Shape::new(asked.ranks, &[asked.ranks], width(asked.ports))?.with_rates(rates),
            bandwidth_bps: ports::fastest_bps(self.fabric, asked.ports),
            startup_s: self.fabric.startup_s,
            barrier_s: 0.0,
            hop_delay_s: self.fabric.hop_delay_s,
            reconfiguration: ReconfigurationPolicy::constant(delay_s),
            initial,
            optics: None,
            electrical: None,
        })
    }

    /// The blocks of a matrix.
    fn blocks_of(&self, matrix: &Arc<ByteMatrix>) -> Result<UnequalBlocks> {
        let known = || self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(blocks) = known().get(matrix) {
            return Ok(blocks.clone());
        }
        let in_floats = |row: &Vec<u64>| row.iter().map(|&bytes| bytes as f64).collect();
        let (blocks, _) = UnequalBlocks::of_matrix(matrix.rows().iter().map(in_floats).collect())?;
        known().insert(matrix.clone(), blocks.clone());
        Ok(blocks)
    }

    /// A request for any algorithm by any planner.
    ///
    /// # Errors
    /// As [`UnequalBlocks::of_matrix`].
    fn request(&self, asked: &Asked, fabric: Fabric) -> Result<Request> {
        let workload = match &asked.matrix {
            Some(matrix) => lightloom::Workload::Matrix(self.blocks_of(matrix)?),
            None => lightloom::Workload::Collective {
                collective: asked.collective,
                algorithm: None,
                options: collectives::Options::default(),
            },
        };
        Ok(Request {
            fabric,
            workload,
            size: Size::Buffer(asked.size_bytes),
            settings: CostSettings::default(),
            routing_is_given: false,
            planner: None,
            candidates: None,
            static_topologies: None,
            options: PlannerOptions::default(),
            seed: 0,
            cache: self.known.requests.cache.clone(),
        })
    }

    /// A fabric of groups that starts free, at the fabric's own delay.
    fn free(&self, fabric: &Fabric) -> Fabric {
        let reconfiguration = ReconfigurationPolicy::constant(self.delay_s);
        Fabric { reconfiguration, initial: Initial::Free, optics: None, ..fabric.clone() }
    }

    /// This plan with the fabric's own delay and without the change to its first topology.
    ///
    /// # Errors
    /// A plan whose parts do not fit, which is a mistake of the planner.
    pub(crate) fn charged(&self, plan: &Plan) -> Result<Plan> {
        let fabric = self.free(&plan.fabric);
        let mut steps = plan.steps.clone();
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let mut topologies = Vec::new();
        for (index, step) in steps.iter_mut().enumerate() {
            step.reconfigured &= index > 0;
            step.cost.reconfiguration_s = if step.reconfigured { self.delay_s } else { 0.0 };
            step.topology = *places.entry(step.topology).or_insert_with(|| {
                topologies.push(plan.topologies[step.topology].clone());
                topologies.len() - 1
            });
        }
        let bounds = &self.known.requests.cache.bounds;
        let pieces = plan.chunks.as_pieces();
        let bound = bounds.any_algorithm(plan.collective(), pieces, &fabric, plan.settings, plan.size_bytes);
        Plan::new(PlanParts {
            algorithm: plan.algorithm.clone(),
            planner: plan.planner.clone(),
            size_bytes: plan.size_bytes,
            fabric,
            settings: plan.settings,
            chunks: plan.chunks.clone(),
            topologies,
            steps,
            bound: bound.bound(),
            narrow_bound: None,
        })
    }
}
