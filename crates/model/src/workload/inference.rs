//! Prompts, requests and decode steps of an iteration of inference.

use crate::{Error, Result};

/// The largest number that a count may have: such numbers are exact in JSON.
const MAX_COUNT: u64 = 1 << 53;

/// Prompts that are read and tokens that are generated in one iteration, over all ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inference {
    /// Prompts that are read, each of which gets its first token.
    pub prompts: u64,
    /// Requests that get a token in every decode step.
    pub requests: u64,
    /// Decode steps.
    pub steps: u64,
    /// Index of the node at whose end the prompts have their first tokens.
    pub first_token: Option<usize>,
    /// Index of the node at whose end the KV caches of the prompts are where they are decoded.
    pub caches: Option<usize>,
}

impl Inference {
    /// # Errors
    /// Counts that are too large or do not go together, a node that there is not.
    pub(super) fn check(&self, nodes: usize) -> Result<()> {
        let counts = [("prompts", self.prompts), ("requests", self.requests), ("steps", self.steps)];
        for (key, count) in counts {
            if count > MAX_COUNT {
                return Err(Error::value(&format!("workload.inference.{key}"), count, "0 to 2^53"));
            }
        }
        let fault = |key: &str, reason: &str| Err(Error::malformed(format!("workload.inference.{key}"), reason));
        if (self.requests == 0) != (self.steps == 0) {
            return fault("steps", "decode steps and requests must both be 0, or both above 0");
        }
        if self.prompts == 0 && self.steps == 0 {
            return fault("prompts", "there must be prompts, or decode steps, or both");
        }
        if (self.prompts == 0) != self.first_token.is_none() {
            return fault("first_token", "it goes with prompts: they have their first tokens at the end of this node");
        }
        if self.caches.is_some() && (self.prompts == 0 || self.steps == 0) {
            return fault("caches", "it goes with prompts and decode steps, between which caches are sent");
        }
        for (key, node) in [("first_token", self.first_token), ("caches", self.caches)] {
            if node.is_some_and(|node| node >= nodes) {
                return fault(key, "it names a node that does not exist");
            }
        }
        Ok(())
    }
}
