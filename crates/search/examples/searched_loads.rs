//! Loads, summed over the steps with their shares, of one topology of two ports for all steps of a schedule: the
//! best circulant and what local search finds from it.
//!
//! `cargo run --release -p lightloom-search --example searched_loads`
#![expect(clippy::print_stdout, reason = "it prints a table")]

use std::time::Instant;

use collectives::{Options, find};
use lightloom_search::{Circulants, PricedStep, SearchLimits, local_search};
use model::{Collective, Result, Shape};

const CASES: &[(&str, Collective, u32, u64)] = &[
    ("swing", Collective::ReduceScatter, 8, 60_000),
    ("recursive-doubling", Collective::ReduceScatter, 32, 20_000),
    ("bruck", Collective::AllToAll, 8, 20_000),
    ("bruck", Collective::AllToAll, 64, 12_000),
    ("bruck", Collective::AllGather, 64, 12_000),
    ("recursive-doubling", Collective::ReduceScatter, 256, 2_000),
    ("recursive-doubling", Collective::ReduceScatter, 1024, 400),
];

fn main() -> Result<()> {
    println!("algorithm            collective         n  circulant       load  seconds  searched  seconds");
    for &(algorithm, collective, ranks, evaluations) in CASES {
        let shape = Shape::new(ranks, &[], 2)?;
        let schedule = find(algorithm)?.build(collective, &shape, &Options::default())?;
        let steps: Vec<PricedStep> = schedule.steps().iter().map(load_only).collect();
        let started = Instant::now();
        let circulants = Circulants::new(ranks, 2, &steps, 600_000)?;
        let best = circulants.best(0..steps.len(), 1);
        let circulant_s = started.elapsed().as_secs_f64();
        let limits = SearchLimits { seed: 2, evaluations, budget: None };
        let searched = local_search(&circulants, 0..steps.len(), limits)?;
        let searched_s = started.elapsed().as_secs_f64() - circulant_s;
        if let (Some((topology, load)), Some((_, lower))) = (best.first(), searched) {
            println!(
                "{algorithm:20} {:15} {ranks:4}  {:15} {load:.4}  {circulant_s:7.3}    {lower:.4}  {searched_s:7.3}",
                collective.name(),
                topology.name(),
            );
        }
    }
    Ok(())
}

fn load_only(step: &model::Step) -> PricedStep<'_> {
    PricedStep { traffic: step.traffic(), hop_s: 0.0, load_s: step.share() }
}
