//! Plans that exist, mended when more of their fabric is broken.

use collectives::{Options, UnequalBlocks};
use model::{
    Barrier, Bound, CostSettings, Error, Fabric, Fault, Faults, Initial, Link, Plan, PlanParts, Result, Shape,
    Topology, Translations,
};
use planners::{KeptCircuits, PlannerOptions};

use crate::{Request, Size, Workload, plan, planned, subset, verified};

/// A plan in place of one whose fabric has more faults.
pub struct Repaired {
    /// The plan, which has passed `verify`.
    pub plan: Plan,
    /// Its circuits, compared with those of the plan before.
    pub circuits: KeptCircuits,
    /// Whether nothing of the plan before could be kept, so that it is planned anew.
    pub is_anew: bool,
    /// The request that a plan made anew serves.
    pub request: Request,
}

/// The plan mended for a fabric on which these parts are broken, too ([`planners::repair`]). Where a GPU fails, the
/// collective is another, among the GPUs that are left, and is planned anew; so it is where nothing can be mended.
///
/// # Errors
/// Faults that the fabric cannot have, or with which the collective cannot be carried out; a plan on electrical
/// islands, one in which other GPUs forward, or one of too many GPUs.
pub fn repair(before: &Plan, failed: &Faults) -> Result<Repaired> {
    let fabric = &before.fabric;
    let refuse = |is: &str, accepts: &str| Err(Error::value("repair", is, accepts));
    if fabric.electrical.is_some() {
        return refuse("a plan with electrical islands", "a plan over circuits alone");
    }
    if before.chunks.members() < fabric.shape.gpus() {
        return refuse("a plan in which other GPUs forward", "a plan in which all GPUs of its fabric take part");
    }
    let request = request(before, failed)?;
    let keeps_ranks = request.fabric.shape.gpus() == fabric.shape.gpus();
    let old = in_use(before);
    let shape = &request.fabric.shape;
    let is_whole = keeps_ranks && old.iter().all(|topology| shape.check_faults(topology).is_ok());
    let mended = match keeps_ranks {
        true if is_whole && request.fabric.initial == fabric.initial => Some(as_it_is(before, &request)?),
        true => {
            let choice = planners::repair(before, &request.fabric, &request.cache)?;
            choice.map(|choice| planned(choice, false)).transpose()?
        }
        false => None,
    };
    let is_anew = mended.is_none();
    let plan = mended.map_or_else(|| plan(&request), Ok)?;
    let own = in_use(&plan);
    let circuits = KeptCircuits::of((&plan.fabric.shape, &own), (&fabric.shape, &old));
    Ok(Repaired { plan, circuits, is_anew, request })
}

/// The plan on the fabric with more faults, none of which concerns its circuits.
///
/// # Errors
/// The first check of the verifier that fails.
fn as_it_is(before: &Plan, request: &Request) -> Result<Plan> {
    let (fabric, chunks) = (request.fabric.clone(), &before.chunks);
    let bound = match chunks.forwarding() {
        0 => {
            let pieces = chunks.as_pieces();
            bounds::any_algorithm(chunks.collective(), pieces, &fabric, request.settings, before.size_bytes).bound()
        }
        _ => before.bound.clone(),
    };
    let seconds = bound.seconds.min(before.total_s());
    let parts = PlanParts { fabric, bound: Bound { seconds, ..bound }, narrow_bound: None, ..PlanParts::clone(before) };
    verified(Plan::new(parts)?, &request.cache.bounds)
}

/// The topologies that some step of a plan has.
fn in_use(plan: &Plan) -> Vec<Topology> {
    let is_used = |index: usize| plan.steps.iter().any(|step| step.topology == index);
    (0..plan.topologies.len()).filter(|&index| is_used(index)).map(|index| plan.topologies[index].clone()).collect()
}

/// The request for a new plan of the same collective, on the plan's fabric with more faults.
fn request(before: &Plan, failed: &Faults) -> Result<Request> {
    let fabric = &before.fabric;
    let faults: Faults = fabric.shape.faults().all().iter().chain(failed.all()).copied().collect();
    let root = before.chunks.root();
    let (fabric, root) = if failed.all().iter().any(|fault| matches!(fault, Fault::Gpu(_))) {
        among_others(fabric, faults, root)?
    } else {
        let shape = fabric.shape.clone().with_faults(faults)?;
        let initial = match &fabric.initial {
            Initial::Topology(initial) => Initial::Topology(shape.working_part(initial.clone())?),
            other => other.clone(),
        };
        (Fabric { shape, initial, ..fabric.clone() }, root)
    };
    let workload = match before.chunks.as_pieces() {
        None => {
            let options = Options { root, ..Options::default() };
            Workload::Collective { collective: before.collective(), algorithm: None, options }
        }
        Some(_) if fabric.shape.gpus() < before.fabric.shape.gpus() => {
            let accepts =
                "faults of ports and links, since the traffic of an All-to-All of unequal blocks names its GPUs";
            return Err(Error::value("failed", format!("`{failed}`"), accepts));
        }
        Some(_) => {
            let steps = before.steps.iter().map(|step| step.step.clone()).collect();
            let schedule = model::Schedule::new(before.algorithm.clone(), before.chunks.clone(), steps)?;
            Workload::Matrix(UnequalBlocks::from(schedule))
        }
    };
    let settings = CostSettings { routing: CostSettings::default().routing, ..before.settings };
    let request = Request {
        fabric,
        workload,
        size: Size::Buffer(before.size_bytes),
        settings,
        routing_is_given: false,
        planner: None,
        candidates: None,
        static_topologies: None,
        options: PlannerOptions::default(),
        seed: 0,
        cache: std::sync::Arc::default(),
    };
    request.check_faults(root)?;
    Ok(request)
}

/// The fabric of the GPUs of a plan that are left, and the root's rank among them.
fn among_others(fabric: &Fabric, faults: Faults, root: Option<u32>) -> Result<(Fabric, Option<u32>)> {
    let (shape, ports) = (&fabric.shape, fabric.shape.ports());
    let gpus = shape.fabric_gpus();
    let places = shape.positions().cloned();
    let whole = Shape::new(gpus, &[], ports)?.with_faults(faults.clone())?.at_positions(places)?;
    let whole = whole.with_rates(shape.rates().cloned());
    let left: Vec<u32> = (0..shape.gpus()).map(|rank| shape.gpu_of(rank)).filter(|&gpu| !faults.has_gpu(gpu)).collect();
    let root_gpu = root.map(|root| shape.gpu_of(root));
    let refuse = |accepts: &str| Err(Error::value("failed", format!("`{faults}`"), accepts));
    if left.len() < 2 {
        return refuse("faults that leave at least two GPUs");
    }
    let root = match root_gpu {
        None => None,
        Some(gpu) => match left.iter().position(|&other| other == gpu) {
            Some(place) => Some(place as u32),
            None => return refuse(&format!("faults that leave GPU {gpu}, the root of the collective")),
        },
    };
    let initial = match &fabric.initial {
        Initial::Topology(initial) => {
            let by_gpu = |link: Link| Link { src: shape.gpu_of(link.src), dst: shape.gpu_of(link.dst), ..link };
            let by_gpus = whole.by_class(initial, |initial, _| {
                let links = initial.expanded().into_iter().map(by_gpu);
                Topology::new(initial.name(), Translations::trivial(gpus), links)
            });
            Initial::Topology(whole.working_part(by_gpus?)?)
        }
        other => other.clone(),
    };
    let whole = Fabric { shape: whole, initial, ..fabric.clone() };
    let own = subset::among(&whole, &Barrier::Constant(fabric.barrier_s), &left, false)?.own;
    let Some(pairs) = shape.pairs() else { return Ok((own, root)) };
    // The rates of pairs are those of the plan's ranks.
    let ranks: Vec<u32> = (0..shape.gpus()).filter(|&rank| left.contains(&shape.gpu_of(rank))).collect();
    Ok((own.with_pairs(pairs.among(&ranks))?, root))
}
