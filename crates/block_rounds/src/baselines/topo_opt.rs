//! TopoOpt: a union of rings that are shifted by numbers without a common factor with n, and shortest paths.

use model::{Result, Topology, Translations};

use crate::{Contractions, Strategy};

/// The rings whose shifts lie nearest to 1, n^(1/d), n^(2/d), … for d ports (TopoOpt §4.4, `SelectPermutations`),
/// each flow on one of its shortest paths, packed into rounds as ours are.
///
/// # Errors
/// Fewer shifts that are n-cycles than ports.
pub fn topo_opt(ranks: u32, ports: u32) -> Result<Strategy> {
    let mut left: Vec<u32> = (1..ranks).filter(|&shift| gcd(shift, ranks) == 1).collect();
    let mut chosen: Vec<u32> = Vec::new();
    for port in 0..ports {
        let wanted = f64::from(ranks).powf(f64::from(port) / f64::from(ports));
        let distance = |shift: u32| (f64::from(shift) - wanted).abs();
        let nearest = left.iter().copied().min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        let Some(shift) = nearest else {
            return Err(model::Error::value(
                "ports",
                ports,
                format!("at most {port}, one for each shifted ring of {ranks} ranks"),
            ));
        };
        left.retain(|&other| other != shift);
        chosen.push(shift);
    }
    let topology = Topology::circulant(ranks, &chosen)?;
    Ok(Contractions::new(topology, Translations::cyclic(ranks), ports)?.strategy())
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
