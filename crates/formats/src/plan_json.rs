//! Plans as JSON, version `lightloom.plan/1`. Times are seconds, sizes bytes; keys are exactly those
//! that [`plan_to_json`] writes, none may be missing and no other is taken.
//!
//! Data is written as it is kept: `links` are all links of a topology, while `transfers` and `routes` are one
//! representative per orbit of the `symmetry` next to them, a list of `[stride, radix]` digits.
//!
//! | key | form |
//! |---|---|
//! | `chunks` | `{"kind": "owned" \| "pairs", "parts"}`, `{"kind": "buffer", "root", "parts"}` or `{"kind": "pieces", "pieces": [[src, dst, share]]}` |
//! | `initial_topology` | index into `topologies`, `null` where `fabric.initial` is `"free"` |
//! | `topologies[].links` | `[src, dst, circuits]`, by (src, dst) |
//! | `topologies[].circuits_by_rate` | for each of these links its circuits by the rate of their ports, the fastest first; only where ports differ |
//! | `steps[].transfers` | `[src, dst, "copy" \| "reduce", chunks]` |
//! | chunks of a transfer | ascending; `5`, or `[first, last, stride]` for an arithmetic run |
//! | `steps[].routes.arcs` | `[src, dst, [[share, [nodes]]]]` |

mod document;
mod layout;
mod read;
mod runs;
mod write;

use model::{Error, Plan, Result};

pub use document::SCHEMA;

/// Longer texts are refused before they are parsed.
const MAX_BYTES: usize = 256 << 20;

/// `plan` as JSON, one line per topology and per step. Numbers are written so that they read back to the
/// bit.
pub fn plan_to_json(plan: &Plan) -> String {
    write::plan(plan)
}

/// The plan that `text` describes; the inverse of [`plan_to_json`].
///
/// # Errors
/// Text that is not JSON, of another schema, with a key missing, unknown or of the wrong type, or whose parts
/// contradict each other: a total that is not the sum of the terms (to 1e-12), reconfigurations or steps miscounted, a
/// rank, topology or chunk that does not exist, links that are not invariant under the symmetry next to them. The
/// values of the numbers are checked by the verifier, not by the reader.
pub fn plan_from_json(text: &str) -> Result<Plan> {
    if text.len() > MAX_BYTES {
        return Err(Error::malformed("plan", format!("{} bytes of text; at most {MAX_BYTES} are read", text.len())));
    }
    read::plan(document::parse(text)?)
}
