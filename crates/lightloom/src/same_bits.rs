//! AllReduces whose result is the same at every rank, to the bit.
//!
//! Sums of floats depend on the order of their additions. Where ranks add the same data in different orders, results
//! differ in the last bits, and the replicas of a training job drift apart. A plan is followed chunk by chunk, with a
//! hash of the additions by which each rank's value came about: a + b and b + a are the same bits, (a + b) + c and
//! a + (b + c) are not.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use interruption::checked;
use model::{Collective, Error, Op, Plan, Result};

use crate::{Request, Workload, plan};

/// The plan that [`plan`] gives; where it is of an AllReduce whose result differs between ranks in some bits, the
/// fastest plan of an algorithm that has a name and the same result at every rank, to the bit.
///
/// # Errors
/// The errors of [`plan`]; an AllReduce that no algorithm ends alike.
pub fn plan_with_same_bits(request: &Request) -> Result<Plan> {
    let planned = |request: &Request| plan(request).map(|plan| (plan.total_s(), plan));
    Ok(with_same_bits(request, planned)?.1)
}

/// [`plan_with_same_bits`] of the plans that `plan` makes, each after its time.
///
/// # Errors
/// The errors of [`plan_with_same_bits`].
pub fn with_same_bits<P: Borrow<Plan>>(
    request: &Request,
    plan: impl Fn(&Request) -> Result<(f64, P)>,
) -> Result<(f64, P)> {
    let fastest = plan(request)?;
    let Workload::Collective { collective: collective @ Collective::AllReduce, options, .. } = &request.workload else {
        return Ok(fastest);
    };
    if has_same_bits(fastest.1.borrow()) {
        return Ok(fastest);
    }
    let named = collectives::REGISTRY.iter().filter_map(|algorithm| {
        algorithm.accepts(*collective, &request.fabric.shape, options).ok()?;
        let algorithm = Some(algorithm.name().to_string());
        let workload = Workload::Collective { collective: *collective, algorithm, options: options.clone() };
        plan(&Request { workload, ..request.clone() }).ok()
    });
    let alike = named.filter(|(_, plan)| has_same_bits(plan.borrow())).min_by(|one, other| one.0.total_cmp(&other.0));
    alike.ok_or_else(|| {
        Error::infeasible("plan", "no algorithm of AllReduce for this fabric has the same result at every rank")
    })
}

/// Whether all ranks end an AllReduce with the same bits, whatever the data.
///
/// Data that a rank adds to the same chunk in one step, from several others, are added in an order that no other rank
/// need have: such a value counts as unlike every other, so that it must reach all ranks as it is.
pub fn has_same_bits(plan: &Plan) -> bool {
    let (ranks, chunks) = (plan.chunks.members() as usize, plan.chunks.count() as usize);
    let mut held: Vec<u64> = (0..(ranks * chunks) as u64).map(mixed).collect();
    let mut unlike = held.len() as u64;
    for step in &plan.steps {
        let mut came: BTreeMap<usize, (u64, bool)> = BTreeMap::new();
        for transfer in checked(&step.step.expanded(&plan.chunks)) {
            for &chunk in &transfer.chunks {
                let place = |rank: u32| rank as usize * chunks + chunk as usize;
                let (to, given) = (place(transfer.dst), held[place(transfer.src)]);
                let value = match transfer.op {
                    Op::Copy => given,
                    Op::Reduce => mixed(held[to].wrapping_add(given)),
                };
                came.entry(to).and_modify(|(_, several)| *several = true).or_insert((value, false));
            }
        }
        for (place, (value, several)) in came {
            held[place] = if several { mixed(unlike) } else { value };
            unlike += u64::from(several);
        }
    }
    held.chunks_exact(chunks).all(|of_rank| *of_rank == held[..chunks])
}

/// The word as another one that looks random (SplitMix64: Steele, Lea & Flood, OOPSLA 2014).
fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}
