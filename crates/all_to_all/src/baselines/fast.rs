//! FAST: matchings of the Birkhoff–von Neumann decomposition, each flow on its own circuit.

use model::{Link, Result, Topology, Translations};

use crate::{Round, Stage, Strategy};

/// The decomposition of equal blocks: the n−1 shifts, `ports` of them at a time, ⌈(n−1)/ports⌉ topologies of one
/// round of one hop.
///
/// # Errors
/// None for two ranks or more and a port or more.
pub fn fast(ranks: u32, ports: u32) -> Result<Strategy> {
    let symmetry = Translations::cyclic(ranks);
    let shifts: Vec<u32> = (1..ranks).collect();
    let stage = |group: &[u32]| {
        let links = group.iter().map(|&dst| Link { src: 0, dst, count: 1 });
        let topology = Topology::new(format!("shifts-from-{}", group[0]), symmetry.clone(), links)?;
        Ok(Stage { topology, rounds: vec![Round { paths: group.iter().map(|&dst| vec![0, dst]).collect() }] })
    };
    let stages: Result<Vec<Stage>> = shifts.chunks(ports.max(1) as usize).map(stage).collect();
    Ok(Strategy { symmetry: symmetry.clone(), stages: stages? })
}
