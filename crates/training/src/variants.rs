//! Variants of a plan with other topologies at its ends: backwards, or with the ranks numbered otherwise.
//!
//! Neighbours in a sequence of collectives may need other first or last topologies than a plan has; a variant takes
//! exactly as long.

use model::{Collective, Digit, Link, Plan, Result, Schedule, Step, Topology, Transfer, Translations};

/// A schedule and a topology for each of its steps.
pub(crate) type Variant = (Schedule, Vec<Topology>);

/// A ReduceScatter run backwards, an AllGather, or another of [`Collective::backwards`], or an All-to-All of the
/// transposed matrix: it begins where the plan ends, with all circuits turned round.
///
/// # Errors
/// Another collective, or a plan that both copies and reduces.
pub(crate) fn reversed(plan: &Plan) -> Result<Variant> {
    let turned = plan.steps.iter().rev().map(|step| plan.topologies[step.topology].reversed());
    Ok((schedule_of(plan)?.reversed()?, turned.collect::<Result<_>>()?))
}

fn schedule_of(plan: &Plan) -> Result<Schedule> {
    let steps = plan.steps.iter().map(|step| step.step.clone()).collect();
    Schedule::new(plan.algorithm.clone(), plan.chunks.clone(), steps)
}

/// The plan with the ranks' coordinates in reverse order, where its steps are the same for all ranks along coordinates:
/// what was done along the first of them is done along the last.
///
/// `None` where there are no such coordinates, chunks that belong to no rank, or circuits of different rates.
pub(crate) fn renumbered(plan: &Plan) -> Option<Variant> {
    let symmetry = plan.steps.first()?.step.symmetry();
    let digits = symmetry.digits();
    let alike = plan.steps.iter().all(|step| step.step.symmetry() == symmetry);
    let owned = matches!(
        plan.collective(),
        Collective::AllReduce | Collective::ReduceScatter | Collective::AllGather | Collective::AllToAll
    ) && plan.chunks.is_translatable();
    if plan.fabric.shape.unlike_rates().is_some() || digits.len() < 2 || !symmetry.is_transitive() || !alike || !owned {
        return None;
    }
    let numbering = Numbering::of(digits);
    let turned = Translations::new(symmetry.ranks(), numbering.digits.clone()).ok()?;
    let parts = plan.chunks.parts()?;
    let chunk = |chunk: u32| match plan.collective() {
        Collective::AllToAll => {
            let (pair, ranks) = (chunk / parts, symmetry.ranks());
            plan.chunks.pair(numbering.of_rank(pair / ranks), numbering.of_rank(pair % ranks), chunk % parts)
        }
        _ => plan.chunks.owned(numbering.of_rank(chunk / parts), chunk % parts),
    };
    let mut steps = Vec::with_capacity(plan.steps.len());
    let mut topologies = Vec::with_capacity(plan.steps.len());
    for step in &plan.steps {
        let transfers = step.step.transfers().iter().map(|transfer| Transfer {
            src: numbering.of_rank(transfer.src),
            dst: numbering.of_rank(transfer.dst),
            op: transfer.op,
            chunks: transfer.chunks.iter().map(|&one| chunk(one)).collect(),
        });
        steps.push(Step::new(turned.clone(), transfers, &plan.chunks).ok()?);
        topologies.push(numbering.of_topology(&plan.topologies[step.topology])?);
    }
    let schedule = Schedule::new(plan.algorithm.clone(), plan.chunks.clone(), steps).ok()?;
    Some((schedule, topologies))
}

/// Ranks by their coordinates in reverse order.
struct Numbering {
    /// Coordinates before, fastest first.
    before: Vec<Digit>,
    /// Coordinates afterwards, fastest first: those before in reverse order.
    digits: Vec<Digit>,
}

impl Numbering {
    fn of(before: &[Digit]) -> Self {
        let mut stride = 1;
        let digits = before.iter().rev().map(|digit| {
            let turned = Digit { stride, radix: digit.radix };
            stride *= digit.radix;
            turned
        });
        Self { before: before.to_vec(), digits: digits.collect() }
    }

    fn of_rank(&self, rank: u32) -> u32 {
        let pairs = self.before.iter().zip(self.digits.iter().rev());
        pairs.map(|(before, after)| rank / before.stride % before.radix * after.stride).sum()
    }

    fn of_topology(&self, topology: &Topology) -> Option<Topology> {
        let renumbered =
            |link: &Link| Link { src: self.of_rank(link.src), dst: self.of_rank(link.dst), count: link.count };
        let (symmetry, links) = if topology.symmetry().digits() == self.before {
            let symmetry = Translations::new(topology.ranks(), self.digits.clone()).ok()?;
            (symmetry, topology.links().iter().map(renumbered).collect::<Vec<_>>())
        } else {
            (Translations::trivial(topology.ranks()), topology.expanded().iter().map(renumbered).collect())
        };
        let name = format!("{}, renumbered", topology.name());
        Some(Topology::new(name, symmetry, links).ok()?.with_found_symmetry())
    }
}
