//! Cost of strategies as a function of the reconfiguration delay R: R·topologies + seconds of the rest, a line in R.
//!
//! The best strategy at every R, as §5.2 and §5.4 sweep it, is then the lower envelope of the lines, without planning
//! again at each delay.

use model::{Result, Shape};

use crate::Strategy;
use crate::unequal_blocks::{Blocks, Flat, RELABELLED, each_strategy, renamed};

/// One strategy's cost, reconfigurations apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PriceLine {
    /// Number of topologies, the first one counted.
    pub topologies: usize,
    /// Seconds of all slots, each as long as its largest block: the cost of §3.1.
    pub slots_s: f64,
    /// Seconds if no circuit waited for another: those of each topology's busiest circuit, one topology after the
    /// other. The same flows on the same paths take no less in any order.
    pub busiest_s: f64,
}

/// The line of one strategy for these blocks, ranks as they are.
///
/// # Errors
/// No error for a matrix with a row and a column per rank.
pub fn price_line(strategy: &Strategy, blocks: &Blocks) -> Result<PriceLine> {
    line(strategy, blocks, &(0..strategy.ranks() as usize).collect::<Vec<_>>())
}

/// The lines of the strategies with one topology, two, and so on. Strategies that [`crate::best_for_blocks`] would
/// relabel at one of these reconfiguration delays, s, are relabelled (§4.4), unless all blocks are equal.
///
/// # Errors
/// No error for a shape that exists and a matrix with a row and a column per rank.
pub fn price_lines(shape: &Shape, blocks: &Blocks, delays_s: &[f64]) -> Result<Vec<PriceLine>> {
    let in_order: Vec<usize> = (0..shape.gpus() as usize).collect();
    let mut strategies = Vec::new();
    each_strategy(shape, &mut |strategy| strategies.push(strategy))?;
    let flats: Vec<Flat> = strategies.iter().map(Flat::new).collect();
    let slots_s: Vec<f64> = flats.iter().map(|flat| flat.slots_s(blocks, &in_order)).collect();
    let mut relabelled = vec![false; strategies.len()];
    for delay_s in delays_s.iter().filter(|_| !all_equal(blocks.matrix)) {
        let price_s = |index: &usize| slots_s[*index] + (strategies[*index].stages.len() - 1) as f64 * delay_s;
        let mut cheapest: Vec<usize> = (0..strategies.len()).collect();
        cheapest.sort_by(|a, b| price_s(a).total_cmp(&price_s(b)));
        cheapest.iter().take(RELABELLED).for_each(|&index| relabelled[index] = true);
    }
    let mut lines = Vec::with_capacity(strategies.len());
    for ((strategy, flat), relabelled) in strategies.iter().zip(&flats).zip(relabelled) {
        interruption::check();
        let mut names = in_order.clone();
        if relabelled {
            flat.relabel(blocks, &mut names);
        }
        lines.push(line(strategy, blocks, &names)?);
    }
    Ok(lines)
}

/// Whether every rank sends every other as much.
fn all_equal(matrix: &[Vec<f64>]) -> bool {
    let pairs = || {
        (0..matrix.len()).flat_map(|src| (0..matrix.len()).filter(move |&dst| dst != src).map(move |dst| (src, dst)))
    };
    pairs().all(|(src, dst)| matrix[src][dst] == matrix[0][1])
}

/// The line of a strategy with rank `names[v]` at node v.
fn line(strategy: &Strategy, blocks: &Blocks, names: &[usize]) -> Result<PriceLine> {
    let strategy = renamed(strategy, names, blocks.matrix)?;
    let in_order: Vec<usize> = (0..names.len()).collect();
    Ok(PriceLine {
        topologies: strategy.stages.len(),
        slots_s: Flat::new(&strategy).slots_s(blocks, &in_order),
        busiest_s: busiest_s(&strategy, blocks),
    })
}

/// Seconds of the busiest circuit of every topology, together. `strategy` is invariant under no group.
fn busiest_s(strategy: &Strategy, blocks: &Blocks) -> f64 {
    let ranks = strategy.ranks() as usize;
    let mut total_s = 0.0;
    for stage in &strategy.stages {
        let mut busy_s = vec![0.0; ranks * ranks];
        for path in stage.rounds.iter().flat_map(|round| &round.paths) {
            let hop_s = (blocks.hop_s)(blocks.matrix[path[0] as usize][path[path.len() - 1] as usize]);
            for hop in path.windows(2) {
                busy_s[hop[0] as usize * ranks + hop[1] as usize] += hop_s;
            }
        }
        total_s += busy_s.into_iter().fold(0.0, f64::max);
    }
    total_s
}
