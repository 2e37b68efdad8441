//! The independent check of a strategy: every flow once, over circuits that are there, none used twice at
//! a time. It writes out every orbit, so that nothing rests on the symmetry that the strategy claims.

use std::collections::{BTreeMap, BTreeSet};

use model::{Error, Rank, Result};

use crate::{Round, Stage, Strategy};

/// Checks `strategy` for a fabric with `ports` circuits out of and into each GPU. O(n² · hops · log n).
///
/// # Errors
/// [`Error::Rejected`] with the first flow or circuit that is wrong.
pub fn check(strategy: &Strategy, ports: u32) -> Result<()> {
    let ranks = strategy.ranks();
    let mut served: BTreeSet<(Rank, Rank)> = BTreeSet::new();
    for (index, stage) in strategy.stages.iter().enumerate() {
        if stage.topology.ranks() != ranks {
            return Err(rejected(
                "ranks",
                format!("topology {index} has {} ranks, the strategy {ranks}", stage.topology.ranks()),
            ));
        }
        stage.topology.check_ports(ports)?;
        for path in every_path(strategy, stage, index)? {
            let ends = (path[0], path[path.len() - 1]);
            if ends.0 == ends.1 || !served.insert(ends) {
                return Err(rejected(
                    "flows",
                    format!("flow {} → {} is served twice, or leads from a rank to itself", ends.0, ends.1),
                ));
            }
        }
    }
    let flows = u64::from(ranks) * u64::from(ranks - 1);
    if served.len() as u64 != flows {
        return Err(rejected("flows", format!("{} of {flows} flows are served", served.len())));
    }
    Ok(())
}

/// Every path of the stage, all rounds, after checking its circuits.
fn every_path(strategy: &Strategy, stage: &Stage, index: usize) -> Result<Vec<Vec<Rank>>> {
    let links = stage.topology.expanded();
    let circuits: BTreeMap<(Rank, Rank), u32> = links.iter().map(|link| ((link.src, link.dst), link.count)).collect();
    let mut all = Vec::new();
    for (number, round) in stage.rounds.iter().enumerate() {
        interruption::check();
        let paths = expanded(strategy, round);
        let mut used: BTreeMap<(usize, Rank, Rank), u32> = BTreeMap::new();
        for path in &paths {
            if path.len() < 2 {
                return Err(rejected("paths", format!("round {number} of topology {index} has a path without a hop")));
            }
            for (slot, hop) in path.windows(2).enumerate() {
                let uses = used.entry((slot, hop[0], hop[1])).or_insert(0);
                *uses += 1;
                if *uses > circuits.get(&(hop[0], hop[1])).copied().unwrap_or(0) {
                    let found = format!(
                        "the circuits {} → {} carry {uses} blocks in slot {slot} of round {number} of topology {index}",
                        hop[0], hop[1]
                    );
                    return Err(rejected("circuits", found));
                }
            }
        }
        all.extend(paths);
    }
    Ok(all)
}

fn expanded(strategy: &Strategy, round: &Round) -> Vec<Vec<Rank>> {
    let group = &strategy.symmetry;
    let elements = group.elements().into_iter();
    elements
        .flat_map(|element| {
            round.paths.iter().map(move |path| path.iter().map(|&node| group.apply(element, node)).collect())
        })
        .collect()
}

fn rejected(check: &str, detail: String) -> Error {
    Error::Rejected { check: format!("strategy {check}"), detail }
}
