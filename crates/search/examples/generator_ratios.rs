//! Worst ratio of generator sets to theorem 1 over all numbers of topologies, for each n of a range:
//!
//! `cargo run --release -p lightloom-search --example generator_ratios -- 2 512`
#![expect(clippy::print_stdout, reason = "it prints a table")]

use std::error::Error;
use std::time::Instant;

use bounds::all_to_all_hops;

fn main() -> Result<(), Box<dyn Error>> {
    let ends: Vec<u32> = std::env::args().skip(1).map(|end| end.parse()).collect::<Result<_, _>>()?;
    let &[first, last] = &ends[..] else { return Err("two numbers of ranks: first and last".into()) };
    println!("    n  worst T   ratio  seconds");
    let mut worst: (f64, u32) = (1.0, first);
    for ranks in first..=last {
        let started = Instant::now();
        let sets = lightloom_search::generator_sets(ranks)?;
        let seconds = started.elapsed().as_secs_f64();
        let ratio = |topologies: u32| {
            sets[topologies as usize - 1].hops() as f64 / all_to_all_hops(ranks, 1, topologies) as f64
        };
        let of_ranks = (1..ranks).map(|topologies| (ratio(topologies), topologies)).max_by(|a, b| a.0.total_cmp(&b.0));
        let (ratio, topologies) = of_ranks.unwrap_or((1.0, 1));
        println!("{ranks:5}  {topologies:7}  {ratio:.4}  {seconds:.3}");
        worst = if ratio > worst.0 { (ratio, ranks) } else { worst };
    }
    println!("largest ratio {:.4}, of n = {}", worst.0, worst.1);
    Ok(())
}
