//! The needs of a request, estimated before anything large is built, and refused where they are too much.
//!
//! Every figure is from above: of n GPUs with d ports, a schedule's extent ([`collectives::Extent`]) and the number of
//! candidate topologies. `docs/limits.md` has the GPUs that follow for every algorithm.

use collectives::{Algorithm, Extent, Options};
use model::{Collective, Error, Initial, Overlap, Result, Routing, Schedule, Shape, Topology};
use planners::Choice;
use planners::many_gpus::{MOST_FOR_ALL, MOST_KINDS};

use crate::cutoffs::budget::MOST_OFFSETS;
use crate::path_counts::shortest_paths;
use crate::{Request, TopologyRef, Workload};

/// Bytes that what a request builds may take.
pub const MEMORY: u64 = 4 << 30;
/// Bytes of the program itself, its libraries and what its threads hold.
const PROGRAM: u64 = 256 << 20;
/// Times that a step's transfers may pass a circuit, over all candidates that are looked at: hours.
const WORK: u64 = 100_000_000_000_000;

/// Per (pattern, candidate): what is known of it, and where its bound and front are kept.
const PAIR: u64 = 17 + 96;
/// Per (step, candidate): the costs and states of the searches that run side by side.
const STATE: u64 = 20;
/// Per pair of candidates, where a change depends on both.
const CHANGE: u64 = 64;
/// Per step, per transfer and per chunk of a schedule, in the schedule and in its plan.
const SCHEDULE: [u64; 3] = [2048, 512, 48];
/// Per candidate: its name, links and symmetry.
const CANDIDATE: u64 = 768;

/// The needs of a request for one schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Need {
    /// Bytes of the candidates and of what is known of the schedule on them.
    problem: u64,
    /// Bytes of the schedule and its plan.
    schedule: u64,
    work: u64,
}

impl Need {
    /// Bytes for one schedule by itself: the problem of the best plan and the problem that it is compared with.
    fn bytes(self) -> u64 {
        PROGRAM + 2 * self.problem + self.schedule
    }

    fn fits(self) -> bool {
        self.bytes() <= MEMORY && self.work <= WORK
    }

    fn memory(self) -> String {
        format!("about {:.1} GB of memory", self.bytes() as f64 / 1e9)
    }

    /// The excess, in words.
    fn shown(self) -> String {
        match self.bytes() <= MEMORY {
            true => "hours of computation".into(),
            false => self.memory(),
        }
    }
}

/// Topologies to choose from, by what is kept of one that is looked at closely.
struct Candidates {
    /// Rings of one offset, one way: one link a GPU.
    one_way: u64,
    /// Rings of one offset, both ways: two links a GPU.
    two_way: u64,
    /// Tori and other named topologies, and the default families' with one port dark: up to six links a GPU.
    others: u64,
    /// Topologies that may look different from every GPU.
    irregular: u64,
}

impl Candidates {
    /// The topologies that the request leaves open or names, for steps on which `kinds` of GPUs look different.
    fn of(request: &Request, shape: &Shape, kinds: u64) -> Self {
        let (n, d) = (u64::from(shape.gpus()), u64::from(shape.ports()));
        let is_large = shape.gpus() > MOST_FOR_ALL;
        let open = request.candidates.is_none() && request.static_topologies.is_none();
        let steps_alone = is_large && open && kinds > u64::from(MOST_KINDS);
        let rings = if steps_alone { 0 } else { if n <= 1024 { n } else { MOST_OFFSETS } };
        let two_way = match d {
            1 => 0,
            _ if d.is_multiple_of(2) => rings / 2,
            _ => rings,
        };
        // Tori of two and of three dimensions, each up to 256, and as many with a port dark.
        let tori = match d {
            1 => 0,
            _ if is_large => 64,
            _ => 512,
        };
        let dark = if request.fabric.reconfiguration.runs_in_background() && d > 1 { 256 } else { 0 };
        let named = || [&request.candidates, &request.static_topologies].into_iter().flatten().flatten();
        // One port makes rings; of more there are two expanders and a grid. The start may be anything.
        let usual = if d > 1 && !(is_large && open) { 3 } else { 0 };
        let start = matches!(&request.fabric.initial, Initial::Topology(start) if start.symmetry().orbits() > 1);
        let irregular = usual + u64::from(start) + named().filter(|item| is_irregular(item)).count() as u64;
        Self { one_way: rings, two_way, others: tori + dark + named().count() as u64 + 4, irregular }
    }

    fn count(&self) -> u64 {
        self.one_way + self.two_way + self.others + self.irregular
    }

    /// Bytes of what is kept of their links and distances. On one-way rings, `patterns` in which every rank sends to
    /// the rank at one offset have a closed form, so that links are looked at for one ring a pattern.
    fn network_bytes(&self, shape: &Shape, patterns: Option<u64>) -> u64 {
        let (n, d) = (u64::from(shape.gpus()), u64::from(shape.ports()));
        let one_way = patterns.unwrap_or(self.one_way).min(self.one_way);
        self.count() * CANDIDATE
            + one_way * n * 12
            + self.two_way * n * 20
            + self.others * n * (8 + 8 * d.min(6))
            + self.irregular * n * (4 * n + 64 + 24 * d)
    }
}

/// Whether a topology may look different from every GPU: distances from each are kept.
fn is_irregular(item: &TopologyRef) -> bool {
    match item {
        TopologyRef::Given(topology) => topology.symmetry().orbits() > 1,
        TopologyRef::Named(name) => {
            let regular = ["ring", "shifted-ring", "torus", "shifted-torus", "circulant", "complete", "dark"];
            !regular.contains(&name.split(':').next().unwrap_or_default().trim())
        }
    }
}

/// The needs of a schedule of this extent.
fn need(request: &Request, shape: &Shape, extent: Extent) -> Need {
    let candidates = Candidates::of(request, shape, extent.orbits);
    let (n, count) = (u64::from(shape.gpus()), candidates.count());
    let Extent { steps, patterns, transfers, chunks, arcs, orbits } = extent;
    let one_offset_a_step = orbits == 1 && arcs == steps;
    let networks = candidates.network_bytes(shape, one_offset_a_step.then_some(patterns));
    let tables = patterns * count * PAIR + steps * count * STATE;
    let depends = request.fabric.reconfiguration.compares_topologies();
    let changes = if depends { count * count * CHANGE + steps * count * 8 } else { 0 };
    let packets = if request.settings.overlap == Overlap::Pipelined { steps * count * STATE } else { 0 };
    let schedule = steps * SCHEDULE[0] + transfers * SCHEDULE[1] + chunks * SCHEDULE[2];
    // The arcs of every pattern are followed along their paths on every candidate.
    let work = (arcs * patterns).div_ceil(steps).saturating_mul(n).saturating_mul(count);
    Need { problem: networks + tables + changes + packets, schedule, work }
}

/// The needs of every algorithm of the list, smallest first, as far as all together fit; then the others, each with why
/// it was left out.
pub(crate) fn that_fit<'a>(
    request: &Request,
    collective: Collective,
    options: &Options,
    algorithms: Vec<&'a dyn Algorithm>,
) -> (Vec<&'a dyn Algorithm>, Vec<(&'static str, Error)>) {
    let shape = &request.fabric.shape;
    let of = |algorithm: &dyn Algorithm| need(request, shape, algorithm.extent(collective, shape, options));
    let mut by_need: Vec<(Need, &dyn Algorithm)> = algorithms.iter().map(|&one| (of(one), one)).collect();
    by_need.sort_by_key(|(need, _)| need.bytes());
    let (mut taken, mut fitting, mut refused) = (0, Vec::new(), Vec::new());
    for (need, algorithm) in by_need {
        if need.fits() && taken + need.bytes() <= MEMORY {
            taken += need.problem + need.schedule;
            fitting.push(algorithm.name());
            continue;
        }
        let error = match need.fits() {
            true => Error::refused(
                "algorithm",
                algorithm.name(),
                format!(
                    "with {} GPUs it needs {}, too much next to the algorithms that need less; name it to plan it \
                    alone",
                    shape.gpus(),
                    need.memory()
                ),
            ),
            false => refusal(request, collective, options, algorithm, need),
        };
        refused.push((algorithm.name(), error));
    }
    // In the order of the list, so that ties go to the earlier algorithm.
    (algorithms.into_iter().filter(|one| fitting.contains(&one.name())).collect(), refused)
}

/// # Errors
/// An algorithm that needs too much on the request's fabric; the error says how many GPUs it could have.
pub(crate) fn check_algorithm(
    request: &Request,
    collective: Collective,
    options: &Options,
    algorithm: &dyn Algorithm,
) -> Result<()> {
    let shape = &request.fabric.shape;
    let need = need(request, shape, algorithm.extent(collective, shape, options));
    if need.fits() { Ok(()) } else { Err(refusal(request, collective, options, algorithm, need)) }
}

/// # Errors
/// A schedule that needs too much on the request's fabric.
pub(crate) fn check_schedule(request: &Request, schedule: &Schedule) -> Result<()> {
    let need = need(request, &request.fabric.shape, Extent::of(schedule));
    if need.fits() {
        return Ok(());
    }
    let field = if matches!(request.workload, Workload::Matrix(_)) { "matrix" } else { "schedule" };
    let given = format!("{} steps for {} GPUs, which need {},", schedule.steps().len(), schedule.ranks(), need.shown());
    let accepts = format!("a {field} for which planning needs at most 4 GiB of memory, and not hours");
    Err(Error::value(field, given, accepts))
}

/// The most GPUs, up to the request's own, for which the algorithm that it names fits; `None` where it fits no number
/// of GPUs or no algorithm is named. O(1) but for algorithms of a radix.
pub fn most_gpus(request: &Request) -> Option<u32> {
    let Workload::Collective { collective, algorithm: Some(name), options } = &request.workload else { return None };
    let algorithm = collectives::find(name).ok()?;
    let shape = &request.fabric.shape;
    let mut shapes = std::iter::once(shape.clone()).chain(smaller(shape));
    shapes.find(|shape| fits(request, *collective, options, algorithm, shape)).map(|shape| shape.gpus())
}

fn fits(
    request: &Request,
    collective: Collective,
    options: &Options,
    algorithm: &dyn Algorithm,
    shape: &Shape,
) -> bool {
    algorithm.accepts(collective, shape, options).is_ok()
        && need(request, shape, algorithm.extent(collective, shape, options)).fits()
}

fn refusal(
    request: &Request,
    collective: Collective,
    options: &Options,
    algorithm: &dyn Algorithm,
    need: Need,
) -> Error {
    let shape = &request.fabric.shape;
    let most =
        smaller(shape).find(|shape| fits(request, collective, options, algorithm, shape)).map(|shape| shape.gpus());
    let others: Vec<&str> = (collectives::REGISTRY.iter().copied())
        .filter(|other| other.name() != algorithm.name() && fits(request, collective, options, *other, shape))
        .map(|other| other.name())
        .collect();
    let at_most = most.map_or("fewer".into(), |most| format!("at most {most}"));
    let or = if others.is_empty() { String::new() } else { format!(", or another algorithm: {}", others.join(", ")) };
    let given = format!("{} with algorithm {}, which needs {},", shape.gpus(), algorithm.name(), need.shown());
    Error::value("gpus", given, format!("{at_most} with this algorithm within 4 GiB of memory{or}"))
}

/// Shapes of fewer GPUs: in a line every number that is a power of two, or is a sixteenth part of one; of a grid those
/// with the longest side halved, time and again.
fn smaller(shape: &Shape) -> impl Iterator<Item = Shape> {
    let (ports, dims) = (shape.ports(), shape.dims().to_vec());
    let mut grids: Vec<Vec<u32>> = Vec::new();
    if let [gpus] = dims[..] {
        for log in (1..=gpus.ilog2()).rev() {
            let (power, part) = (1u32 << log, (1u32 << log).div_ceil(16));
            let numbers = (0..=15).rev().map(|times| power + times * part).filter(|&number| number < gpus);
            grids.extend(numbers.map(|number| vec![number]));
        }
    } else {
        let mut rest = dims;
        while let Some(longest) = rest.iter_mut().max().filter(|side| **side >= 4) {
            *longest /= 2;
            grids.push(rest.clone());
        }
    }
    grids.into_iter().filter_map(move |dims| Shape::new(dims.iter().product(), &dims, ports).ok())
}

/// Bytes of a path in addition to its GPUs, and of a circuit in a plan and its file.
const PATH: u64 = 160;
const CIRCUIT: u64 = 48;
/// Paths of one transfer at most, where shortest paths share it.
const PATHS: u64 = 1024;

/// # Errors
/// A choice whose plan, with its paths and circuits written out, or whose execution needs too much.
pub(crate) fn check_plan(choice: &Choice) -> Result<()> {
    let problem = &choice.problem;
    let (table, schedule) = (&problem.table, problem.schedule());
    let mut used = choice.candidates.clone();
    used.sort_unstable();
    used.dedup();
    let circuits: u64 = used.iter().map(|&candidate| table.candidate(candidate).circuits()).sum();
    let mut paths = 0u64;
    for (index, (step, &candidate)) in schedule.steps().iter().zip(&choice.candidates).enumerate() {
        interruption::check();
        let (traffic, topology) = (step.traffic(), table.candidate(candidate));
        let common = u64::from(traffic.symmetry().meet(topology.symmetry()).order());
        let arcs = traffic.arcs().len() as u64 * u64::from(traffic.symmetry().order()) / common;
        let hops = problem.step_cost(index, candidate)?.1;
        let one = PATH + 4 * (u64::from(hops) + 1);
        let kept = table.front(table.pattern_of_step(index), candidate).and_then(|front| front.kept_paths(hops));
        let split = match (table.routing(), kept) {
            (Routing::ConcurrentFlow, Some(paths)) => paths as u64,
            (Routing::EqualSplit, _) => shortest_paths(traffic, topology, PATHS),
            (routing, _) => arcs.saturating_mul(most_paths(topology, routing, hops)),
        };
        paths = paths.saturating_add(split.saturating_mul(one));
    }
    let Extent { steps, transfers, chunks, .. } = Extent::of(schedule);
    let written = steps * SCHEDULE[0] + transfers * SCHEDULE[1] + chunks * SCHEDULE[2];
    let state = schedule.chunks().executed_bytes(schedule.symmetry().orbits());
    let bytes = [paths, circuits * CIRCUIT, written, state].into_iter().fold(PROGRAM, u64::saturating_add);
    if bytes <= MEMORY {
        return Ok(());
    }
    let (gpus, algorithm) = (schedule.ranks(), schedule.algorithm());
    let given =
        format!("{gpus} with algorithm {algorithm}, whose plan needs about {:.1} GB of memory,", bytes as f64 / 1e9);
    Err(Error::value("gpus", given, "fewer GPUs, or another algorithm or topology, within 4 GiB of memory"))
}

/// Paths that a transfer may be split over.
fn most_paths(topology: &Topology, routing: Routing, hops: u32) -> u64 {
    let one_offset = match topology.links() {
        [_] => return 1,
        [one, other] => topology.symmetry().is_transitive() && one.dst + other.dst == topology.ranks(),
        _ => false,
    };
    match routing {
        Routing::SinglePath => 1,
        _ if one_offset => 2,
        _ => PATHS.min(1 << hops.min(10)),
    }
}

/// # Errors
/// A schedule of an algorithm that is itself too large.
pub fn check_extent(gpus: u32, algorithm: &str, extent: Extent) -> Result<()> {
    let Extent { steps, transfers, chunks, .. } = extent;
    let schedule = steps * SCHEDULE[0] + transfers * SCHEDULE[1] + chunks * SCHEDULE[2];
    let need = Need { problem: 0, schedule, work: 0 };
    if need.fits() {
        return Ok(());
    }
    let given = format!("{gpus} with algorithm {algorithm}, whose schedule needs {},", need.shown());
    Err(Error::value("gpus", given, "fewer GPUs, or another algorithm, within 4 GiB of memory"))
}
