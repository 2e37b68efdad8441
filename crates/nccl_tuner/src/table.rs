//! The table of times: text, a line for each time, which a person may change.
//!
//! ```text
//! lightloom-nccl-tuner 1
//! # topology collective ranks algorithm protocol channels fixed_us us_per_mib
//! ring all-reduce 8 ring auto 0 84 22.8
//! ```
//!
//! The time of a buffer of m MiB is `fixed_us + us_per_mib * m`. The protocol `auto` is left to NCCL's own estimate, and
//! so are 0 channels.

use crate::cutoffs::table::{MOST_BYTES, MOST_CHANNELS, MOST_LINES};
use crate::names::{ALGORITHMS, COLLECTIVES, PROTOCOLS, number};

/// The first line of a table: what it is, and the version of its form.
pub const FIRST: &str = "lightloom-nccl-tuner 1";

/// The time that a collective takes by an algorithm on a topology.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The name of the topology that is up.
    pub topology: String,
    /// NCCL's number of the collective.
    pub collective: usize,
    /// The number of ranks.
    pub ranks: u64,
    /// NCCL's number of the algorithm.
    pub algorithm: usize,
    /// NCCL's number of the protocol; `None` where NCCL estimates which is the fastest.
    pub protocol: Option<usize>,
    /// The number of channels; 0 where that is left to NCCL.
    pub channels: u32,
    /// Microseconds that do not depend on the size.
    pub fixed_us: f64,
    /// Microseconds for each MiB of the buffer.
    pub us_per_mib: f64,
}

impl Row {
    /// Microseconds for a buffer of so many bytes.
    pub fn time_us(&self, bytes: u64) -> f64 {
        self.fixed_us + self.us_per_mib * (bytes as f64 / f64::from(1 << 20))
    }
}

/// A table of times.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Its rows, in the order of the file.
    pub rows: Vec<Row>,
}

impl Table {
    /// Reads a table.
    ///
    /// # Errors
    /// One line that names the line of the table and what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MOST_BYTES {
            return Err(format!("the table is larger than {MOST_BYTES} bytes"));
        }
        let mut lines = text.lines().zip(1..);
        if lines.next().is_none_or(|(line, _)| line.trim_end() != FIRST) {
            return Err(format!("line 1: it is not `{FIRST}`"));
        }
        let mut rows = Vec::new();
        for (line, at) in lines {
            if at > MOST_LINES {
                return Err(format!("the table has more than {MOST_LINES} lines"));
            }
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                rows.push(row(line).map_err(|what| format!("line {at}: {what}"))?);
            }
        }
        if rows.is_empty() { Err("the table has no rows".into()) } else { Ok(Self { rows }) }
    }

    /// The rows of a topology: of the first that the table names, where none is said.
    ///
    /// # Errors
    /// A topology that the table does not name.
    pub fn on(&self, topology: Option<&str>) -> Result<Vec<Row>, String> {
        let first = || self.rows.first().map(|row| row.topology.as_str()).unwrap_or_default();
        let wanted = topology.unwrap_or_else(first);
        let found: Vec<Row> = self.rows.iter().filter(|row| row.topology == wanted).cloned().collect();
        if found.is_empty() { Err(format!("the table has no topology `{}`", wanted.escape_debug())) } else { Ok(found) }
    }
}

fn row(line: &str) -> Result<Row, String> {
    let cells: Vec<&str> = line.split_whitespace().collect();
    let &[topology, collective, ranks, algorithm, protocol, channels, fixed_us, us_per_mib] = cells.as_slice() else {
        return Err(format!("it has {} cells, not 8", cells.len()));
    };
    let named = |what: &str, names: &[&str], name: &str| {
        number(names, name).ok_or_else(|| format!("{what} `{}`: it takes {}", name.escape_debug(), names.join(", ")))
    };
    let time = |what: &str, text: &str| match text.parse::<f64>() {
        Ok(time) if (0.0..=1e15).contains(&time) => Ok(time),
        _ => Err(format!("{what} `{}`: it takes microseconds from 0 to 1e15", text.escape_debug())),
    };
    let ranks_of = |text: &str| text.parse::<u64>().ok().filter(|ranks| (2..=1 << 20).contains(ranks));
    let channels_of = |text: &str| text.parse::<u32>().ok().filter(|&channels| channels <= MOST_CHANNELS);
    Ok(Row {
        topology: topology.to_string(),
        collective: named("collective", &COLLECTIVES, collective)?,
        ranks: ranks_of(ranks).ok_or_else(|| format!("ranks `{}`: it takes 2 or more", ranks.escape_debug()))?,
        algorithm: named("algorithm", &ALGORITHMS, algorithm)?,
        protocol: if protocol == "auto" { None } else { Some(named("protocol", &PROTOCOLS, protocol)?) },
        channels: channels_of(channels)
            .ok_or_else(|| format!("channels `{}`: it takes 0 to {MOST_CHANNELS}", channels.escape_debug()))?,
        fixed_us: time("fixed_us", fixed_us)?,
        us_per_mib: time("us_per_mib", us_per_mib)?,
    })
}
