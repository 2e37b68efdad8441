//! Collectives with a root that follow the best plans of those without.

use model::{Chunks, Collective, Fabric, Initial, Rank, Result, Routing, Shape};

use crate::best_composition::Composing;
use crate::cutoffs::following_blocks::{MOST_GPUS_OF_SHARES, MOST_GPUS_OF_SUMS, WORTH_FOLLOWING};
use crate::{Choice, Problem};

/// Tries the Broadcast or Reduce that follows the best AllReduce, and a scatter before the best AllGather; the Scatter
/// that follows the best ReduceScatter; the Gather that follows the best AllGather: where their bounds leave hope that
/// these are faster than what was found.
///
/// # Errors
/// The errors of [`Composing::consider`].
pub(crate) fn consider(composing: &mut Composing<'_>, problem: &Problem, root: Rank) -> Result<()> {
    let (chunks, size) = (problem.schedule().chunks(), problem.size_bytes);
    let collective = chunks.collective();
    if chunks.forwarding() > 0 {
        return Ok(());
    }
    let mut fabric = problem.fabric.clone();
    let gpus = fabric.shape.gpus();
    let is_small = gpus <= MOST_GPUS_OF_SHARES;
    let followed = match collective {
        Collective::Gather => Vec::from_iter(is_small.then_some((Collective::AllGather, 0.0, 1.0))),
        Collective::Scatter => Vec::from_iter(is_small.then_some((Collective::ReduceScatter, 0.0, 1.0))),
        _ => {
            // A Reduce is a Broadcast backwards, from a start whose circuits are turned round.
            if let (Collective::Reduce, Initial::Topology(start)) = (collective, &fabric.initial) {
                fabric.initial = Initial::Topology(start.reversed()?);
            }
            let others = f64::from(chunks.members() - 1) / f64::from(chunks.members());
            let sent_s = others * size as f64 * fabric.byte_s() / f64::from(fabric.shape.ports());
            let scatter_s = fabric.startup_s + f64::from(hops(&fabric.shape)) * fabric.hop_delay_s + sent_s;
            let sums = (gpus <= MOST_GPUS_OF_SUMS).then_some((Collective::AllReduce, 0.0, WORTH_FOLLOWING));
            sums.into_iter().chain([(Collective::AllGather, scatter_s, WORTH_FOLLOWING)]).collect()
        }
    };
    for (blocks, before_s, worth) in followed {
        interruption::check();
        let bound = problem.cache.bounds.any_algorithm(blocks, None, &fabric, problem.settings, size);
        if bound.seconds() + before_s > worth * composing.limit_s() {
            continue;
        }
        let Some(best) = best_of(blocks, &fabric, problem, composing.limit_s() - before_s)? else { continue };
        let mut used = best.candidates.clone();
        used.dedup();
        let topologies = used.iter().map(|&candidate| best.problem.table.candidate(candidate).clone()).collect();
        let followed = compositions::following(best.problem.schedule(), topologies, collective, root)?;
        if let Some(composition) = followed {
            let over_circuits = best.problem.settings.routing == Routing::EqualSplit;
            composing.consider(compositions::Composition { over_circuits, ..composition })?;
        }
    }
    Ok(())
}

/// Hops within which a rank may reach all others.
fn hops(shape: &Shape) -> u32 {
    let (ranks, ports) = (u64::from(shape.gpus()), u64::from(shape.ports()));
    let (mut reached, mut farthest, mut hops) = (1, 1, 0);
    while reached < ranks {
        farthest *= ports;
        reached += farthest;
        hops += 1;
    }
    hops
}

/// The best composition of a collective of blocks of the same buffer; `None` above `limit_s`.
fn best_of(blocks: Collective, fabric: &Fabric, problem: &Problem, limit_s: f64) -> Result<Option<Choice>> {
    let (libraries, settings, size) = (&problem.cache.libraries, problem.settings, problem.size_bytes);
    let chunks = Chunks::even(blocks, fabric.shape.gpus(), 1)?;
    let found = compositions::compositions(libraries, &chunks, &fabric.with_likely_hops(), settings, size)?;
    let Some(first) = found.first() else { return Ok(None) };
    let on_fabric = Problem { fabric: fabric.clone(), ..problem.clone() };
    let own = on_fabric.with(first.schedule.clone(), settings, first.topologies.clone())?;
    let mut composing = Composing::new("weave", &own, &[], limit_s);
    found.into_iter().try_for_each(|composition| composing.consider(composition))?;
    composing.fill_staying()?;
    Ok(composing.best())
}
