//! Symbolic execution of steps on one rank per orbit.
//!
//! All steps are invariant under the group G of the schedule, and so is what is held before the first
//! step. By induction the state of rank g(r) is the state of r with chunks and contributors moved by g,
//! so representatives r suffice: what arrives at r comes from some rank s = g(r'), whose state is read as
//! the translate of that of r'.

mod presence;
mod sums;

use model::{Chunks, Op, Rank, Step, Translations};

use crate::report::{Check, Tally};

/// State beyond this many bytes is not attempted; the check then fails and says so.
const MAX_STATE_BYTES: u64 = 8 << 30;

/// A chunk that reaches a representative in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Arrival {
    src: Rank,
    dst: Rank,
    chunk: u32,
    op: Op,
}

/// Ranks up to symmetry.
struct Quotient<'a> {
    chunks: &'a Chunks,
    group: Translations,
    representatives: Vec<Rank>,
}

impl<'a> Quotient<'a> {
    fn new(chunks: &'a Chunks, steps: &[&Step]) -> Self {
        let whole = steps.first().map_or_else(|| Translations::trivial(chunks.ranks()), |step| step.symmetry().clone());
        let group = steps.iter().fold(whole, |group, step| group.meet(step.symmetry()));
        Self { chunks, representatives: group.representatives(), group }
    }

    /// Where the state of (rank, chunk) is kept: orbit, chunk there, and the element that leads back.
    fn locate(&self, rank: Rank, chunk: u32) -> (usize, usize, u32) {
        let (representative, element) = self.group.canonical(rank);
        let at =
            if element == 0 { chunk } else { self.chunks.translate(&self.group, self.group.inverse(element), chunk) };
        (self.group.orbit(representative) as usize, at as usize, element)
    }

    /// Calls `visit` for every chunk that reaches a representative in `step`: the cosets of G in the
    /// step's own group give its transfers up to G, and each is moved until its receiver is a representative.
    fn arrivals(&self, step: &Step, mut visit: impl FnMut(Arrival)) {
        let own = step.symmetry();
        for coset in own.cosets(&self.group) {
            for transfer in step.transfers() {
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

    fn state_bytes(&self) -> u64 {
        let slots = self.representatives.len() as u64 * u64::from(self.chunks.count());
        if self.chunks.collective().reduces() {
            slots.saturating_mul(32 + u64::from(self.chunks.ranks()) / 8)
        } else {
            slots / 8
        }
    }
}

/// The four checks of an execution.
struct Findings {
    held: Tally,
    counted_once: Tally,
    one_writer: Tally,
    postcondition: Tally,
}

/// Executes `steps` from the precondition of `chunks` and compares with their postcondition.
pub(crate) fn run(chunks: &Chunks, steps: &[&Step]) -> Vec<Check> {
    let quotient = Quotient::new(chunks, steps);
    let needed = quotient.state_bytes();
    if needed > MAX_STATE_BYTES {
        let mut tally = Tally::new("execution");
        tally.expect(false, || {
            format!("up to {needed} bytes of state would be needed, at most {MAX_STATE_BYTES} are taken")
        });
        return vec![tally.into_check("")];
    }
    let mut findings = Findings {
        held: Tally::new("held"),
        counted_once: Tally::new("counted-once"),
        one_writer: Tally::new("one-writer"),
        postcondition: Tally::new("postcondition"),
    };
    if chunks.collective().reduces() {
        sums::execute(&quotient, steps, &mut findings);
    } else {
        presence::execute(&quotient, steps, &mut findings);
    }
    let orbits = quotient.representatives.len();
    let of = format!("at {orbits} of {} ranks, the others being translates", chunks.ranks());
    vec![
        findings.held.into_check(&format!("chunks are held by their senders, {of}")),
        findings.counted_once.into_check(&format!("arrivals add or replace as they may, {of}")),
        findings.one_writer.into_check(&format!("writes to a chunk agree within their step, {of}")),
        findings.postcondition.into_check(&format!("chunks end as they must, {of}")),
    ]
}
