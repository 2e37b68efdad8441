//! Collectives with a root from the edges of a tree: Broadcast and Scatter down it, Reduce and Gather up.

use model::{Chunks, Collective, Op, Rank, Result, Schedule, Shape, Step, Transfer, Translations};

use crate::{Extent, Options};

/// The collectives of algorithms made of a tree.
pub(crate) const ROOTED: &[Collective] =
    &[Collective::Broadcast, Collective::Reduce, Collective::Gather, Collective::Scatter];

/// `collective` over a tree: `steps` has its edges `(parent, child)` relative to the root, in the order of a Broadcast,
/// in which every rank but the root is a child once. A Scatter sends a child what its whole subtree gets. Reduce and
/// Gather are a Broadcast and a Scatter backwards, with ranks counted down from the root. O(n) edges, and for Scatter
/// and Gather O(n · depth) chunks.
///
/// # Errors
/// The errors of [`Schedule::new`].
pub(crate) fn schedule(
    name: &str,
    collective: Collective,
    shape: &Shape,
    options: &Options,
    steps: impl IntoIterator<Item = Vec<(Rank, Rank)>>,
) -> Result<Schedule> {
    let (n, root) = (shape.gpus(), options.root());
    let (down, up) = match collective {
        Collective::Reduce => (Collective::Broadcast, true),
        Collective::Gather => (Collective::Scatter, true),
        other => (other, false),
    };
    // Counted down, so that ranks send ahead that way too, as the circuits of a ring in one direction lead.
    let ahead = |relative: Rank| if up { (n - relative) % n } else { relative };
    let rank = |relative: Rank| ((u64::from(root) + u64::from(ahead(relative))) % u64::from(n)) as Rank;
    let chunks = Chunks::rooted(down, n, root, 1)?;
    let steps: Vec<Vec<(Rank, Rank)>> = steps.into_iter().collect();
    let subtrees = if down == Collective::Scatter { subtrees(n, &steps) } else { Vec::new() };
    let sent = |child: Rank| match subtrees.get(child as usize) {
        Some(owners) => owners.iter().map(|&owner| chunks.owned(rank(owner), 0)).collect(),
        None => vec![0],
    };
    let step = |edges: &Vec<(Rank, Rank)>| {
        let transfers = edges.iter().map(|&(parent, child)| Transfer {
            src: rank(parent),
            dst: rank(child),
            op: Op::Copy,
            chunks: sent(child),
        });
        Step::new(Translations::trivial(n), transfers, &chunks)
    };
    let schedule = Schedule::new(name, chunks.clone(), steps.iter().map(step).collect::<Result<_>>()?)?;
    if up { schedule.reversed() } else { Ok(schedule) }
}

/// The ranks of every rank's subtree, itself first.
fn subtrees(n: u32, steps: &[Vec<(Rank, Rank)>]) -> Vec<Vec<Rank>> {
    let mut below: Vec<Vec<Rank>> = (0..n).map(|rank| vec![rank]).collect();
    for &(parent, child) in steps.iter().rev().flatten() {
        // Nothing is sent to the root, whose subtree is everything.
        if parent != 0 {
            let of_child = below[child as usize].clone();
            below[parent as usize].extend(of_child);
        }
    }
    below
}

/// The extent of [`schedule`] with this many steps and `scattered` chunks that a Scatter sends, at most.
pub(crate) fn extent(collective: Collective, shape: &Shape, steps: u64, scattered: u64) -> Extent {
    let chunks = match collective {
        Collective::Gather | Collective::Scatter => scattered,
        _ => u64::from(shape.gpus()) - 1,
    };
    Extent::tree(steps, shape.gpus(), chunks)
}
