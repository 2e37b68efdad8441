//! The contents of a request, and how the parts left open are filled in.

use std::sync::Arc;

use collectives::{Options, UnequalBlocks};
use model::{
    Collective, CostSettings, Error, Fabric, Initial, Overlap, Propagation, Result, Routing, Schedule, Topology, units,
};
use optics::Optics;
use planners::{Cache, Convention, Planner, PlannerOptions};

/// Stands for every planner that is given an algorithm, as `auto` stands for all, those that choose one among them.
pub const GIVEN: &str = "auto-given";

/// A topology by specification or as it is.
#[derive(Debug, Clone, PartialEq)]
pub enum TopologyRef {
    /// A specification such as `torus:4x4x4`; in a list of candidates also a family such as `shifted-rings`.
    Named(String),
    /// A topology that is given itself, without a name.
    Given(Topology),
}

/// The amount of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Bytes m of one rank's whole buffer.
    Buffer(u64),
    /// Bytes from each rank to each, m/n: All-to-All only.
    PerPair(u64),
}

/// The communication to run.
#[derive(Debug, Clone, PartialEq)]
pub enum Workload {
    /// A collective by an algorithm, or by the best of all (`None`).
    Collective {
        /// The collective.
        collective: Collective,
        /// Name of the algorithm.
        algorithm: Option<String>,
        /// Options of the algorithm.
        options: Options,
    },
    /// A schedule that is given itself, not made by an algorithm.
    Schedule(Schedule),
    /// The All-to-All of a matrix, by the schedule of its matchings or any other way.
    Matrix(UnequalBlocks),
}

/// The task of planning: the communication, the fabric, and how to plan.
#[derive(Debug, Clone)]
pub struct Request {
    /// The fabric.
    pub fabric: Fabric,
    /// The communication to run.
    pub workload: Workload,
    /// The amount of data.
    pub size: Size,
    /// The convention by which costs are counted.
    pub settings: CostSettings,
    /// Whether the routing was asked for, so that planners which know only another one do not apply.
    pub routing_is_given: bool,
    /// Name of the planner; all of them for `None` or `auto`, those that are given an algorithm for `auto-given`.
    pub planner: Option<String>,
    /// Topologies and families to choose from; the default families and the static planner's topologies where
    /// none is named.
    pub candidates: Option<Vec<TopologyRef>>,
    /// Topologies of the static planner; the family of static baselines where none is named.
    pub static_topologies: Option<Vec<TopologyRef>>,
    /// Settings of some planners.
    pub options: PlannerOptions,
    /// Seed of random topologies.
    pub seed: u64,
    /// Results that requests share: a request finds what others with the same cache have computed.
    pub cache: Arc<Cache>,
}

impl Request {
    /// Assumes a paper's convention for what is not said: its routing where none is given, and its initial
    /// topology where `initial_is_open`.
    ///
    /// # Errors
    /// An initial topology that the fabric cannot have.
    pub fn assume(mut self, convention: &Convention, routing: Option<Routing>, initial_is_open: bool) -> Result<Self> {
        self.settings = convention.settings;
        self.routing_is_given = routing.is_some();
        if let Some(routing) = routing {
            self.settings.routing = routing;
        }
        if initial_is_open {
            self.fabric.initial = match (convention.initial)(self.collective()) {
                "free" => Initial::Free,
                spec => {
                    let shape = &self.fabric.shape;
                    let topology = topologies::build(spec, shape)
                        .and_then(|topology| shape.working_part(planners::as_it_starts(topology, shape)?));
                    Initial::Topology(topology.map_err(|error| error.in_field("initial"))?)
                }
            };
        }
        Ok(self)
    }

    /// # Errors
    /// Faults with which the collective cannot be carried out, or that leave open which circuits can be made.
    pub(crate) fn check_faults(&self, root: Option<u32>) -> Result<()> {
        let fabric = &self.fabric;
        let delay = fabric.reconfiguration.delay();
        let own_switches = fabric.reconfiguration.runs_in_background() || !delay.terms().by_port_s.is_empty();
        let layer = match &fabric.optics {
            Some(layer) => layer.spelling(),
            None if own_switches => "parallel",
            None => "crossbar",
        };
        Optics::parse(layer)?.check_faults(&fabric.shape)?;
        fabric.shape.check_serves(self.collective(), root)
    }

    /// # Errors
    /// Costs or options that are for circuits of one rate, on a fabric whose ports or pairs have several.
    pub(crate) fn check_rates(&self) -> Result<()> {
        let Some((field, unlike)) = self.fabric.shape.unlike_rates() else { return Ok(()) };
        let settings = self.settings;
        let needs = |what: &str| format!("{what} with {unlike} (`{field}`)");
        if settings.overlap != Overlap::Additive {
            return Err(Error::value("overlap", settings.overlap.name(), needs("`additive`")));
        }
        if settings.propagation != Propagation::Hops {
            let accepts = needs("one that charges hop delays by hops");
            return Err(Error::value("convention", settings.propagation.name(), accepts));
        }
        if self.options.optical_ports.is_some() {
            return Err(Error::value("optical_ports", "shared ports", needs("ports of each GPU")));
        }
        Ok(())
    }

    /// The planner that was named, rather than several of them.
    pub(crate) fn named_planner(&self) -> Option<&str> {
        self.planner.as_deref().filter(|name| !["auto", GIVEN].contains(name))
    }

    /// Whether all planners may serve the request, none of them named and no topology that only one takes.
    pub(crate) fn leaves_planner_open(&self) -> bool {
        self.planner.as_deref().is_none_or(|name| name == "auto") && self.static_topologies.is_none()
    }

    /// The planners that the request allows.
    ///
    /// # Errors
    /// An unknown name, topologies for a planner that takes none, or chunks of nothing.
    pub fn planners(&self) -> Result<Vec<&'static dyn Planner>> {
        if self.options.chunk_bytes.is_some() && self.collective() != Collective::AllToAll {
            let accepts = "a chunk size only for all-to-all, whose blocks are cut into chunks";
            return Err(Error::value("chunk_size", format!("a chunk size for {}", self.collective().name()), accepts));
        }
        let Some(name) = self.named_planner() else {
            // A static topology that is named is meant to be used.
            if self.static_topologies.is_some() && self.candidates.is_none() {
                return Ok(open_planners().filter(|planner| planner.capabilities().keeps_one_topology).collect());
            }
            let given = self.planner.as_deref() == Some(GIVEN);
            let takes_part = |planner: &dyn Planner| !(given && planner.capabilities().chooses_algorithm);
            let open = open_planners().filter(|planner| takes_part(*planner) && self.admit(*planner).is_ok());
            return Ok(open.collect());
        };
        let planner = planners::find(name)?;
        let CostSettings { routing, propagation, overlap } = self.settings;
        let searches =
            (routing, propagation, overlap) == (Routing::ConcurrentFlow, Propagation::Hops, Overlap::Additive);
        if self.options.budget.is_some() && !searches {
            let reason =
                "it searches topologies only with routing concurrent-flow, propagation hops and overlap additive";
            return Err(Error::refused("budget", planner.name(), reason));
        }
        let takes = planner.capabilities();
        if takes.chooses_algorithm {
            // Such a planner runs among all planners that take the problem, and the best plan is kept.
            return Ok(open_planners().filter(|planner| self.admit(*planner).is_ok()).collect());
        }
        if self.static_topologies.is_some() && !takes.takes_static_topologies {
            let reason = match takes.takes_candidates {
                true => "`topology` is for `static`; use `candidates`",
                false => "`topology` is for `static`",
            };
            return Err(Error::refused("topology", planner.name(), reason));
        }
        self.admit(planner)?;
        if self.options.chunk_bytes.is_some() && !takes.forwards_blocks {
            let reason = "it does not forward blocks, so that it has no use for chunks";
            return Err(Error::refused("chunk_size", planner.name(), reason));
        }
        Ok(vec![planner])
    }

    /// Whether a planner takes the routing, the candidates and the options that were asked for.
    ///
    /// # Errors
    /// The first of them that it does not take.
    pub(crate) fn admit(&self, planner: &dyn Planner) -> Result<()> {
        let takes = planner.capabilities();
        if !self.fabric.shape.faults().is_empty() && !takes.around_faults {
            let able = planners::REGISTRY.iter().filter(|other| other.capabilities().around_faults);
            let able: Vec<&str> = able.map(|other| other.name()).collect();
            let reason = format!("it plans only where everything works; {} plan around faults", able.join(", "));
            return Err(Error::refused("failed", planner.name(), reason));
        }
        if let Some((field, _)) = self.fabric.shape.unlike_rates().filter(|_| !takes.around_faults) {
            return Err(Error::refused(field, planner.name(), "it plans only for circuits of one rate"));
        }
        if let Some(fixed) =
            takes.fixed_routing.filter(|fixed| self.routing_is_given && *fixed != self.settings.routing)
        {
            return Err(Error::refused("routing", planner.name(), format!("it takes only routing {}", fixed.name())));
        }
        if self.candidates.is_some() && !takes.takes_candidates {
            let reason = "it makes its own topologies and takes no candidates";
            return Err(Error::refused("candidates", planner.name(), reason));
        }
        if self.options.optical_ports.is_some() && !takes.takes_optical_ports {
            let reason = "it gives every GPU its own optical ports; only `bridge` shares them";
            return Err(Error::refused("optical_ports", planner.name(), reason));
        }
        Ok(())
    }

    /// Whether any algorithm may serve the request. A matrix names none: its schedule is one of many.
    pub fn leaves_algorithm_open(&self) -> bool {
        match &self.workload {
            Workload::Collective { algorithm, .. } => algorithm.as_deref().is_none_or(|name| name == "auto"),
            Workload::Schedule(_) => false,
            Workload::Matrix(_) => true,
        }
    }

    /// The planner that was named, where it chooses the algorithm too and so keeps the best of all planners.
    pub(crate) fn keeps_the_best(&self) -> Option<&'static dyn Planner> {
        let named = self.planner.as_deref().and_then(|name| planners::find(name).ok());
        named.filter(|planner| planner.capabilities().chooses_algorithm)
    }

    /// The planner that was named, where it never changes circuits.
    pub(crate) fn never_changes(&self) -> Option<&'static dyn Planner> {
        self.keeps_the_best().filter(|planner| planner.capabilities().never_changes)
    }

    /// The algorithm that a plan must keep: the one that was named, or the schedule's own. A planner that
    /// replaces it must be asked for by name.
    pub fn kept_algorithm(&self) -> Option<&str> {
        let by_name = self.named_planner().is_some() && self.keeps_the_best().is_none();
        match &self.workload {
            _ if by_name => None,
            Workload::Collective { algorithm, .. } => algorithm.as_deref().filter(|name| *name != "auto"),
            Workload::Schedule(schedule) => Some(schedule.algorithm()),
            Workload::Matrix(_) => None,
        }
    }

    /// The collective that is asked for.
    pub fn collective(&self) -> Collective {
        match &self.workload {
            Workload::Collective { collective, .. } => *collective,
            Workload::Schedule(schedule) => schedule.collective(),
            Workload::Matrix(blocks) => blocks.whole().collective(),
        }
    }

    /// Bytes m.
    ///
    /// # Errors
    /// A size outside the range of sizes, or one per pair for a collective without pairs.
    pub fn size_bytes(&self) -> Result<u64> {
        match self.size {
            Size::Buffer(bytes) => units::size_in_range("size", bytes),
            Size::PerPair(bytes) if self.collective() == Collective::AllToAll => bytes
                .checked_mul(u64::from(self.fabric.shape.gpus()))
                .filter(|&total| units::size_in_range("size", total).is_ok())
                .ok_or_else(|| Error::value("size", format!("{bytes} B/pair"), "1 to 2^53 bytes per rank")),
            Size::PerPair(_) => Err(Error::value(
                "size",
                format!("a size per pair for {}", self.collective().name()),
                "the size of the whole buffer; only all-to-all has pairs",
            )),
        }
    }
}

/// The planners that run where none is named.
pub(crate) fn open_planners() -> impl Iterator<Item = &'static dyn Planner> {
    planners::REGISTRY.iter().copied().filter(|planner| !planner.capabilities().by_name_only)
}

impl Workload {
    /// The workload that loosely given parts describe, and the size: a schedule, a matrix of bytes
    /// `[src][dst]`, or a collective. A matrix brings its own size; one that is given scales it.
    ///
    /// # Errors
    /// Parts that contradict each other, or none.
    pub fn select(
        collective: Option<Collective>,
        algorithm: Option<String>,
        options: Options,
        schedule: Option<Schedule>,
        matrix: Option<Vec<Vec<f64>>>,
        size: Option<Size>,
    ) -> Result<(Self, Option<Size>)> {
        if schedule.is_some() && matrix.is_some() {
            return Err(Error::value("matrix", "a matrix together with a schedule", "one of the two"));
        }
        let open = schedule.is_none() && algorithm.as_deref().is_none_or(|name| name == "auto");
        let (blocks, own_size) = match (schedule, matrix) {
            (Some(schedule), _) => (UnequalBlocks::from(schedule), None),
            (None, Some(matrix)) => {
                let (blocks, bytes) = UnequalBlocks::of_matrix(matrix)?;
                (blocks, Some(Size::Buffer(units::size_from_f64("matrix", bytes.ceil())?)))
            }
            (None, None) => {
                let collective = collective.ok_or_else(|| {
                    let names: Vec<&str> = Collective::ALL.iter().map(|collective| collective.name()).collect();
                    Error::value("collective", "nothing", names.join(", "))
                })?;
                options.check(collective)?;
                return Ok((Self::Collective { collective, algorithm, options }, size));
            }
        };
        let given = blocks.whole();
        if options.root.is_some() {
            return Err(Error::value(
                "root",
                "a root together with a schedule or matrix",
                "a root only for broadcast, reduce, gather and scatter by an algorithm",
            ));
        }
        if let Some(other) = collective.filter(|collective| *collective != given.collective()) {
            return Err(Error::value(
                "collective",
                other.name(),
                format!("{}, which the schedule or matrix has", given.collective().name()),
            ));
        }
        if let Some(other) = algorithm.filter(|name| name != "auto" && name != given.algorithm()) {
            return Err(Error::value(
                "algorithm",
                other,
                format!("{}, which the schedule or matrix has", given.algorithm()),
            ));
        }
        let workload = if open { Self::Matrix(blocks) } else { Self::Schedule(blocks.direct()?.clone()) };
        Ok((workload, size.or(own_size)))
    }
}
