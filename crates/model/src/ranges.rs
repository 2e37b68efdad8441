//! The accepted numbers, in two tables.
//!
//! Every number that someone gives goes through them: options, fabric files, sweep axes, arrays, plan files. The ranges
//! are wider than any fabric and so narrow that nothing computed from them overflows: the largest sum is that of
//! 2·65 536 steps of 65 536 hops or loads each, at most 10^27 s.

use crate::{Error, MAX_GPUS, MAX_PORTS, Result};

/// The values that a kind of number may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// Name of the kind.
    pub name: &'static str,
    /// Unit of the numbers below.
    pub unit: &'static str,
    /// The least above zero.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// Whether the number may be zero.
    pub or_zero: bool,
    /// The accepted values, in words: completes "it takes ...".
    pub accepts: &'static str,
}

/// Times: delays, windows of computation, measured times.
pub const TIME: Range = Range {
    name: "time",
    unit: "s",
    least: 1e-15,
    most: 1e6,
    or_zero: true,
    accepts: "a time such as 500ns, 1.7us or 10ms: 0s, or from 1e-15s to 1e6s",
};

/// Rates of a circuit.
pub const RATE: Range = Range {
    name: "rate",
    unit: "bit/s",
    least: 1.0,
    most: 1e18,
    or_zero: false,
    accepts: "a rate such as 800Gbps or 100GB/s, from 1bps to 1e18bps",
};

/// Sizes: whole bytes, as far as a float counts them.
pub const SIZE: Range = Range {
    name: "size",
    unit: "byte",
    least: 1.0,
    most: 9_007_199_254_740_992.0,
    or_zero: false,
    accepts: "a size such as 64MiB, 1KB or 1024B: whole bytes in binary or decimal units, at least 1 and at most 2^53 bytes",
};

/// Every kind.
pub const RANGES: [Range; 3] = [TIME, RATE, SIZE];

/// The whole numbers that an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeRange {
    /// Name of the option.
    pub name: &'static str,
    /// The least.
    pub least: u64,
    /// The largest.
    pub most: u64,
}

const fn wholes(name: &'static str, least: u64, most: u64) -> WholeRange {
    WholeRange { name, least, most }
}

/// Every option of whole numbers that the core takes.
pub const WHOLES: [WholeRange; 7] = [
    wholes("gpus", 2, MAX_GPUS as u64),
    wholes("ports", 1, MAX_PORTS as u64),
    wholes("root", 0, MAX_GPUS as u64 - 1),
    wholes("radix", 2, u32::MAX as u64),
    wholes("aggregation", 1, u32::MAX as u64),
    wholes("optical_ports", 1, u32::MAX as u64),
    wholes("seed", 0, u64::MAX),
];

/// The range of an option of whole numbers, by its name.
pub fn whole(name: &str) -> Option<WholeRange> {
    WHOLES.into_iter().find(|range| range.name == name)
}

impl WholeRange {
    /// Whether the number is in the range.
    pub fn contains(&self, number: u64) -> bool {
        (self.least..=self.most).contains(&number)
    }

    /// The accepted values, in words: completes "it takes ...".
    pub fn accepts(&self) -> String {
        format!("a whole number from {} to {}", self.least, self.most)
    }
}

impl Range {
    /// Whether the number is in the range. NaN is not.
    pub fn contains(&self, number: f64) -> bool {
        (self.least..=self.most).contains(&number) || (self.or_zero && number == 0.0)
    }

    /// The number.
    ///
    /// # Errors
    /// A number outside the range; the error names the field, the number as it was `shown`, and what is accepted.
    pub fn check(&self, field: &str, number: f64, shown: impl ToString) -> Result<f64> {
        // Adding zero makes minus zero plain zero.
        if self.contains(number) { Ok(number + 0.0) } else { Err(Error::value(field, shown, self.accepts)) }
    }
}
