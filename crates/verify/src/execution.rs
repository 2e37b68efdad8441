//! Symbolic execution of steps on one rank per orbit.
//!
//! All steps are invariant under the group G of the schedule, and so is what is held before the first
//! step. By induction the state of rank g(r) is the state of r with chunks and contributors moved by g,
//! so representatives r suffice: what arrives at r comes from some rank s = g(r'), whose state is read as
//! the translate of that of r'.

mod contributors;
mod findings;
mod presence;
mod quotient;
mod sums;

use model::{Chunks, Step};

use crate::report::{Check, Tally};
use findings::Findings;
use quotient::Quotient;

/// State beyond this many bytes is not attempted; the check then fails and says so.
const MAX_STATE_BYTES: u64 = 8 << 30;

/// Executes `steps` from the precondition of `chunks` and compares with their postcondition.
pub(crate) fn run(chunks: &Chunks, steps: &[&Step]) -> Vec<Check> {
    let quotient = Quotient::new(chunks, steps);
    let needed = quotient.state_bytes();
    if needed > MAX_STATE_BYTES {
        let mut tally = Tally::new("execution");
        tally.expect(false, || {
            format!("executing the steps needs up to {needed} bytes of memory; at most {MAX_STATE_BYTES} are allowed")
        });
        return vec![tally.into_check("step", "")];
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
    let of = match chunks.ranks() as usize {
        ranks if orbits == ranks => format!("at all {ranks} ranks"),
        ranks => format!("at {orbits} of {ranks} ranks; the other ranks follow by symmetry"),
    };
    vec![
        findings.held.into_check("chunk", &format!("held by their senders {of}")),
        findings.counted_once.into_check("arrival", &format!("of chunks, each added or copied where it may be, {of}")),
        findings.one_writer.into_check("write", &format!("to chunks, no two of a step in conflict, {of}")),
        findings.postcondition.into_check("chunk", &format!("as the collective leaves them {of}")),
    ]
}
