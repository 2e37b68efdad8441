//! Chunks that are spread over random topologies, carried out link by link.

mod carried_out;
mod rounds;
mod steps;

use model::{Link, Shape, Topology, Translations};

/// A ring one way, and other links.
fn random_topology(ranks: u32, extra: &[(u32, u32)]) -> Topology {
    let ring = (0..ranks).map(|src| (src, (src + 1) % ranks));
    let others = extra.iter().map(|&(src, dst)| (src % ranks, dst % ranks)).filter(|(src, dst)| src != dst);
    let links = ring.chain(others).map(|(src, dst)| Link { src, dst, count: 1 });
    Topology::new("any", Translations::trivial(ranks), links).unwrap()
}

fn built(spec: &str, dims: &[u32], ports: u32) -> Topology {
    let gpus = dims.iter().product();
    topologies::build(spec, &Shape::new(gpus, if dims.len() > 1 { dims } else { &[] }, ports).unwrap()).unwrap()
}
