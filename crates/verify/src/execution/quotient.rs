//! Ranks up to symmetry, and what reaches them.

use model::{Chunks, Op, Rank, Step, Translations};

/// A chunk that reaches a representative in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrival {
    pub(super) src: Rank,
    pub(super) dst: Rank,
    pub(super) chunk: u32,
    pub(super) op: Op,
}

/// Ranks up to symmetry.
pub(super) struct Quotient<'a> {
    pub(super) chunks: &'a Chunks,
    pub(super) group: Translations,
    pub(super) representatives: Vec<Rank>,
}

impl<'a> Quotient<'a> {
    pub(super) fn new(chunks: &'a Chunks, steps: &[&Step]) -> Self {
        let whole = steps.first().map_or_else(|| Translations::trivial(chunks.ranks()), |step| step.symmetry().clone());
        let group = steps.iter().fold(whole, |group, step| group.meet(step.symmetry()));
        Self { chunks, representatives: group.representatives(), group }
    }

    /// The place where the state of (rank, chunk) is kept: orbit, chunk there, and the element that leads back.
    pub(super) fn locate(&self, rank: Rank, chunk: u32) -> (usize, usize, u32) {
        let (representative, element) = self.group.canonical(rank);
        let at =
            if element == 0 { chunk } else { self.chunks.translate(&self.group, self.group.inverse(element), chunk) };
        (self.group.orbit(representative) as usize, at as usize, element)
    }

    /// Calls `visit` for every chunk that reaches a representative in `step`: the cosets of G in the
    /// step's own group give its transfers up to G, and each is moved until its receiver is a representative.
    pub(super) fn arrivals(&self, step: &Step, mut visit: impl FnMut(Arrival)) {
        let own = step.symmetry();
        for coset in own.cosets(&self.group) {
            for transfer in interruption::checked(step.transfers()) {
                let (dst, element) = self.group.canonical(own.apply(coset, transfer.dst));
                let back = self.group.inverse(element);
                let src = self.group.apply(back, own.apply(coset, transfer.src));
                for &chunk in &transfer.chunks {
                    let chunk = self.chunks.translate(own, coset, chunk);
                    let chunk = self.chunks.translate(&self.group, back, chunk);
                    visit(Arrival { src, dst, chunk, op: transfer.op });
                }
            }
        }
    }

    pub(super) fn state_bytes(&self) -> u64 {
        let slots = self.representatives.len() as u64 * u64::from(self.chunks.count());
        if self.chunks.collective().reduces() {
            slots.saturating_mul(32 + u64::from(self.chunks.ranks()) / 8)
        } else {
            slots / 8
        }
    }
}
