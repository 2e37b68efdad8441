//! A fabric and a request as bindings pass them: names as text, options that were not given left out.

use std::sync::Arc;
use std::time::Duration;

use collectives::Options;
use model::{
    Barrier, Collective, Electrical, Error, Fabric, Fault, Faults, Initial, OpticalLayer, Overlap, PairClasses,
    PairRates, PortRates, Positions, Propagation, ReconfigurationDelay, ReconfigurationOverlap, ReconfigurationPolicy,
    Result, Routing, Schedule, Shape,
};
use optics::Optics;
use planners::{Cache, Convention, PlannerOptions};

use crate::matrix::MatrixRef;
use crate::request::{Request, Size, TopologyRef, Workload};
use crate::subset;

/// The overlap of timelines, which are made from plans, and what takes it.
const TIMELINE: &str = "asynchronous";
const TIMELINE_MAKERS: &str =
    "one of additive, pipelined; timelines are made by the verb plan and by lightloom.timeline";

/// A fabric as it is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct TextFabric {
    /// Number of GPUs; by default the number of places of the grid.
    pub gpus: Option<u32>,
    /// Sizes of their grid, whose last dimension is the fastest; empty if there is no grid.
    pub dims: Vec<u32>,
    /// Circuits out of and into one GPU.
    pub ports: u32,
    /// Rate of one circuit, bit/s; that of each port where there are several.
    pub bandwidth_bps: Vec<f64>,
    /// Startup latency α of a step, s.
    pub startup_s: f64,
    /// Barrier of all GPUs before a step.
    pub barrier: Barrier,
    /// Delay δ of one hop, s.
    pub hop_delay_s: f64,
    /// Time of a change of topology.
    pub reconfiguration_delay: ReconfigurationDelay,
    /// Overlap that hides it.
    pub overlap: ReconfigurationOverlap,
    /// The topology before the first step; `None` for `free`.
    pub initial: Option<TopologyRef>,
    /// Kind of optical layer with its parameters, such as `islands:4x2`.
    pub optics: Option<String>,
    /// Parts that do not work.
    pub failed: Faults,
    /// Electrical switches inside islands of GPUs.
    pub electrical: Option<Electrical>,
    /// Where the GPUs are.
    pub positions: Option<Positions>,
    /// Rates and hop delays by pair of GPUs; other circuits have the rate and the hop delay of the fabric.
    pub pair_rates: Option<PairClasses>,
}

/// A fabric, and whether nothing was said about its initial topology, which a convention then says.
#[derive(Debug, Clone, PartialEq)]
pub struct StatedFabric {
    /// The fabric, with a free start if its initial topology is open.
    pub fabric: Fabric,
    /// Whether nothing was said about the initial topology.
    pub initial_is_open: bool,
    /// The barrier by number of GPUs, of which the fabric has its own.
    pub barrier: Barrier,
}

impl TextFabric {
    /// The fabric, checked.
    ///
    /// # Errors
    /// The errors of [`Shape::new`], [`Fabric::check`] or a registry of names.
    pub fn stated(self) -> Result<StatedFabric> {
        let places = self.dims.iter().try_fold(1u32, |product, size| product.checked_mul(*size));
        let gpus = self.gpus.or(places.filter(|_| !self.dims.is_empty()));
        let gpus = gpus.ok_or_else(|| Error::value("gpus", "nothing", "a number of GPUs such as 64"))?;
        let shape = Shape::new(gpus, &self.dims, self.ports)?.with_faults(self.failed)?;
        let shape = shape.at_positions(self.positions.map(Arc::new))?;
        let rates = match self.bandwidth_bps[..] {
            [_] => None,
            ref by_port => PortRates::new("bandwidth", by_port, self.ports)?,
        };
        if rates.is_some() && self.pair_rates.is_some() {
            let accepts = "one rate where pairs have different rates (`pair_rates`)";
            return Err(Error::value("bandwidth", "a rate for each port", accepts));
        }
        let of_all = (self.bandwidth_bps.iter().copied().fold(0.0, f64::max), self.hop_delay_s);
        let pairs = self.pair_rates.map(|classes| classes.on("pair_rates", gpus, of_all)).transpose()?;
        let best_of = |pairs: &PairRates| (pairs.fastest_bps(), pairs.least_hop_delay_s());
        let (bandwidth_bps, hop_delay_s) = pairs.as_ref().map_or(of_all, best_of);
        let shape = shape.with_rates(rates).with_pairs(pairs)?;
        let initial_is_open = self.initial.is_none();
        let initial = match self.initial {
            None => Initial::Free,
            Some(TopologyRef::Named(name)) if name == "free" => Initial::Free,
            Some(TopologyRef::Named(name)) if name == "repeated" => Initial::Repeated,
            Some(TopologyRef::Named(name)) => {
                Initial::Topology(topologies::build(&name, &shape).map_err(|error| error.in_field("initial"))?)
            }
            Some(TopologyRef::Given(topology)) => Initial::Topology(topology),
        };
        let initial = match initial {
            Initial::Topology(topology) => {
                let starts = planners::as_it_starts(topology, &shape).map_err(|error| error.in_field("initial"))?;
                Initial::Topology(if starts.ranks() == gpus { shape.working_part(starts)? } else { starts })
            }
            other => other,
        };
        let optics = self.optics.map(|spelling| optical_layer(&spelling, &shape)).transpose()?;
        let fabric = Fabric {
            shape,
            bandwidth_bps,
            startup_s: self.startup_s,
            barrier_s: self.barrier.seconds("barrier", gpus)?,
            hop_delay_s,
            reconfiguration: ReconfigurationPolicy::new(self.reconfiguration_delay.on(gpus), self.overlap),
            initial,
            optics,
            electrical: self.electrical,
        };
        fabric.check()?;
        Ok(StatedFabric { fabric, initial_is_open, barrier: self.barrier })
    }
}

/// The GPUs that take part: those that are asked for, all where none are, without those that failed. `None` where that
/// is all GPUs of the fabric.
///
/// # Errors
/// Fewer than two GPUs that work.
fn survivors(shape: &Shape, ranks: Option<Vec<u32>>) -> Result<Option<Vec<u32>>> {
    let faults = shape.faults();
    if !faults.all().iter().any(|fault| matches!(fault, Fault::Gpu(_))) {
        return Ok(ranks);
    }
    let asked = ranks.unwrap_or_else(|| (0..shape.gpus()).collect());
    let left: Vec<u32> = asked.into_iter().filter(|&gpu| !faults.has_gpu(gpu)).collect();
    match left.len() {
        0 | 1 => Err(Error::value("failed", format!("`{faults}`"), "faults that leave at least two GPUs")),
        _ => Ok(Some(left)),
    }
}

/// # Errors
/// A kind that there is not, or one that does not go with the GPUs.
fn optical_layer(spelling: &str, shape: &Shape) -> Result<OpticalLayer> {
    Optics::parse(spelling)?.port_map(shape)?;
    OpticalLayer::new(spelling)
}

/// A request as it is asked for, but its fabric.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextRequest {
    /// Name of the collective; a schedule or matrix says it too.
    pub collective: Option<String>,
    /// The amount of data; a matrix states it, too.
    pub size: Option<Size>,
    /// Name of the algorithm, or `auto`.
    pub algorithm: Option<String>,
    /// GPUs of the fabric that take part, in the order of ranks; all where it is left out.
    pub ranks: Option<Vec<u32>>,
    /// Whether GPUs that do not take part forward.
    pub others_forward: bool,
    /// Radix of algorithms that have one.
    pub radix: Option<u32>,
    /// Blocks that a message of `pat` joins at most.
    pub aggregation: Option<u32>,
    /// Root of a collective that has one.
    pub root: Option<u32>,
    /// A schedule in place of an algorithm.
    pub schedule: Option<Schedule>,
    /// The traffic of an unequal All-to-All.
    pub matrix: Option<MatrixRef>,
    /// Name of the planner, or `auto`.
    pub planner: Option<String>,
    /// Name of the convention; that of the planner where it is left out.
    pub convention: Option<String>,
    /// Name of the routing; that of the convention where it is left out.
    pub routing: Option<String>,
    /// Name of the overlap of steps.
    pub overlap: Option<String>,
    /// Topologies and families to choose from.
    pub candidates: Option<Vec<TopologyRef>>,
    /// Topologies of the static planner.
    pub topology: Option<Vec<TopologyRef>>,
    /// Bytes of chunks of All-to-All.
    pub chunk_bytes: Option<u64>,
    /// Optical ports of the whole fabric.
    pub optical_ports: Option<u32>,
    /// Wall-clock time of a local search, s.
    pub budget_s: Option<f64>,
    /// Seed of random topologies.
    pub seed: Option<u64>,
}

impl TextRequest {
    /// The request on this fabric.
    ///
    /// # Errors
    /// An unknown name, or parts that contradict each other or are missing.
    pub fn request(self, fabric: &StatedFabric, cache: Arc<Cache>) -> Result<Request> {
        let collective = self.collective.as_deref().map(Collective::parse).transpose()?;
        let convention = Convention::select(self.convention.as_deref(), self.planner.as_deref())?;
        let routing = self.routing.as_deref().map(Routing::parse).transpose()?;
        let refuse = |seconds: f64| Error::value("budget", seconds, "a time above 0 s, such as 60s");
        let budget = self.budget_s.map(|s| Duration::try_from_secs_f64(s).map_err(|_| refuse(s))).transpose()?;
        let root = self.root;
        let options = Options { radix: self.radix, aggregation: self.aggregation, root: self.root };
        let seed = self.seed.unwrap_or(0);
        let subset = survivors(&fabric.fabric.shape, self.ranks)?
            .map(|ranks| subset::among(&fabric.fabric, &fabric.barrier, &ranks, self.others_forward))
            .transpose()?;
        if self.others_forward && subset.is_none() {
            return Err(Error::value("others_forward", "true without ranks", "the GPUs that take part (`ranks`)"));
        }
        let (own, whole_fabric) = subset.map_or((fabric.fabric.clone(), None), |subset| (subset.own, subset.whole));
        let gpus = own.shape.gpus();
        let matrix = self.matrix.map(|matrix| matrix.rows(self.size, gpus, seed)).transpose()?;
        let (matrix, size) = matrix.map_or((None, self.size), |(rows, size)| (Some(rows), size));
        let (workload, size) = Workload::select(collective, self.algorithm, options, self.schedule, matrix, size)?;
        let size = size.ok_or_else(|| Error::value("size", "nothing", "a size such as 64MiB"))?;
        let request = Request {
            fabric: own,
            workload,
            size,
            settings: convention.settings,
            routing_is_given: routing.is_some(),
            planner: self.planner,
            candidates: self.candidates,
            static_topologies: self.topology,
            options: PlannerOptions {
                chunk_bytes: self.chunk_bytes,
                optical_ports: self.optical_ports,
                budget,
                whole_fabric,
                ..PlannerOptions::default()
            },
            seed,
            cache,
        };
        request.check_faults(root)?;
        let mut request = request.assume(convention, routing, fabric.initial_is_open)?;
        if let Some(overlap) = self.overlap {
            if overlap == TIMELINE {
                return Err(Error::value("overlap", format!("`{overlap}`"), TIMELINE_MAKERS));
            }
            request.settings.overlap = Overlap::parse(&overlap)?;
        }
        if request.fabric.shape.positions().is_some() && request.settings.propagation != Propagation::Hops {
            let reason =
                "its hop delays go by loads, and those of fibres by the hops of a path; leave the positions out";
            return Err(Error::refused("convention", convention.name, reason));
        }
        request.check_rates()?;
        Ok(request)
    }
}
