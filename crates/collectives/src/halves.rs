//! ReduceScatter, AllGather, and the AllReduce that the two make.

use model::{Collective, Result, Schedule};

/// `collective` out of its halves; only the halves that it needs are built.
pub(crate) fn compose(
    collective: Collective,
    reduce_scatter: impl FnOnce() -> Result<Schedule>,
    all_gather: impl FnOnce() -> Result<Schedule>,
) -> Result<Schedule> {
    match collective {
        Collective::ReduceScatter => reduce_scatter(),
        Collective::AllGather => all_gather(),
        _ => Schedule::reduce_then_gather(&reduce_scatter()?, &all_gather()?),
    }
}

/// `collective` out of a ReduceScatter and its reverse: for patterns in which partners exchange, so that
/// the reverse uses the same circuits.
pub(crate) fn mirror(collective: Collective, reduce_scatter: Schedule) -> Result<Schedule> {
    let all_gather = reduce_scatter.reversed()?;
    compose(collective, || Ok(reduce_scatter), || Ok(all_gather))
}

/// The collectives of algorithms made of these halves.
pub(crate) const HALVES: &[Collective] = &[Collective::AllReduce, Collective::ReduceScatter, Collective::AllGather];
