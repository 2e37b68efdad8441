//! Schedules from MSCCL XML: `algo › gpu › tb › step`, as msccl-tools writes it and the MSCCL runtime
//! reads it, with TE-CCL's `copy` elements (data in place before the first step).
//!
//! A file is a program: thread blocks that run their steps in order, sends that pair with receives of
//! the same (source, destination, channel) in order, and waits (`depid`, `deps`) on steps of other thread
//! blocks of the GPU. A [`Schedule`] is steps separated by barriers. Each transfer goes into the earliest
//! step, counted from 1, that these rules allow:
//!
//! - A send comes strictly after every receive that wrote what it reads, also through local copies, and
//!   strictly after a receive that it waits on, also through local steps that follow the receive.
//! - Otherwise a thread block's order only says *not before*: a send and a receive that follow each other
//!   may share a step, as they overlap on hardware.
//! - A connection carries one message per step.
//! - A transfer is in the later of its send's and its receive's steps.
//! - A send that does not wait for what it reads runs as early as its waits allow, and is refused where the
//!   slot is still empty then.
//! - Replacing a slot comes strictly after an earlier receive into it; adding to a slot, after one that replaced it.
//!
//! Chunks are named by what they are, not by where they lie: the slots of buffers `i`, `o` and `s` are
//! followed symbolically, through local `cpy` and `re`. A schedule has one value per (rank, chunk), so in
//! collectives that reduce every value has a version: data that lies twice on a GPU with different content
//! is refused when the older is used. A receive into scratch that `re` then folds in is a reduction.

mod actions;
mod document;
mod layout;
mod ledger;
mod replay;

use model::{Chunks, Collective, Error, Result, Schedule};

use document::Program;

/// Longer texts are refused before they are parsed.
const MAX_BYTES: usize = 64 << 20;

/// The schedule that an MSCCL program carries out, in the fewest barrier steps that keep its order.
///
/// Chunks are those of the file: a GPU's buffer in `nchunksperloop` parts. Linear in the chunks moved, with
/// a logarithmic factor for order.
///
/// # Errors
/// Text that is not MSCCL XML, a document type or entity, a send without receive (or the reverse), waits
/// that never end, offsets outside their buffer, data that lands where another chunk belongs, and dataflow
/// that barrier steps cannot express. Whether the result is the collective is for the verifier to say.
pub fn schedule_from_msccl(xml: &str) -> Result<Schedule> {
    if xml.len() > MAX_BYTES {
        return Err(Error::malformed("schedule", format!("{} bytes of text; at most {MAX_BYTES} are read", xml.len())));
    }
    let program = document::parse(xml)?;
    let chunks = chunks_of(&program)?;
    let actions = actions::of(&program)?;
    replay::run(&program, chunks, &actions)
}

/// The data of the program, each chunk being one of the `nchunksperloop` parts of a buffer.
fn chunks_of(program: &Program) -> Result<Chunks> {
    let (collective, ranks, per_buffer) = (program.collective, program.ranks(), program.chunks);
    let even = per_buffer.is_multiple_of(ranks);
    match collective {
        Collective::AllReduce if !even => Chunks::buffer(collective, ranks, 0, per_buffer),
        Collective::Broadcast | Collective::Reduce => Chunks::buffer(collective, ranks, program.root, per_buffer),
        Collective::Gather | Collective::Scatter if even => {
            Chunks::rooted(collective, ranks, program.root, per_buffer / ranks)
        }
        _ if even => Chunks::even(collective, ranks, per_buffer / ranks),
        _ => {
            return Err(Error::malformed(
                "schedule.algo.nchunksperloop",
                format!("{per_buffer} chunks do not divide into the shares of {ranks} GPUs"),
            ));
        }
    }
    .map_err(|error| Error::malformed("schedule.algo", error))
}
