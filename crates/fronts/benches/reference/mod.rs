//! The plain way: maximum concurrent flow as one linear program over (source, link), without symmetry.

use clarabel::{
    algebra::CscMatrix,
    solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SupportedConeT, ZeroConeT},
};
use model::{Topology, Traffic};

/// The least load of any fractional routing, hops unlimited: flows aggregated by source, an interior-point
/// solver. `None` when the solver gives up.
pub fn load_by_link_flows(topology: &Topology, traffic: &Traffic) -> Option<f64> {
    let (links, arcs) = (topology.expanded(), traffic.expanded());
    let ranks = topology.ranks() as usize;
    let sources: Vec<_> = arcs.chunk_by(|a, b| a.src == b.src).collect();
    let rows = sources.len() * ranks;
    // One column per (source, link), entries by row: conservation at both ends, then the link's capacity.
    let (mut starts, mut row_of, mut values) = (vec![0], Vec::new(), Vec::new());
    for source in 0..sources.len() {
        for (index, link) in links.iter().enumerate() {
            let ends = [(source * ranks + link.src as usize, -1.0), (source * ranks + link.dst as usize, 1.0)];
            let mut entries = ends.to_vec();
            entries.push((rows + index, 1.0));
            entries.push((rows + links.len() + source * links.len() + index, -1.0));
            entries.sort_by_key(|entry| entry.0);
            row_of.extend(entries.iter().map(|entry| entry.0));
            values.extend(entries.iter().map(|entry| entry.1));
            starts.push(values.len());
        }
    }
    for (index, link) in links.iter().enumerate() {
        row_of.push(rows + index);
        values.push(-f64::from(link.count));
    }
    starts.push(values.len());
    let columns = sources.len() * links.len() + 1;
    let height = rows + links.len() + sources.len() * links.len();
    let mut wanted = vec![0.0; height];
    for (source, arcs) in sources.iter().enumerate() {
        for arc in *arcs {
            wanted[source * ranks + arc.dst as usize] += arc.weight;
            wanted[source * ranks + arc.src as usize] -= arc.weight;
        }
    }
    let mut cost = vec![0.0; columns];
    cost[columns - 1] = 1.0;
    let matrix = CscMatrix::new(height, columns, starts, row_of, values);
    let cones: [SupportedConeT<f64>; 2] = [ZeroConeT(rows), NonnegativeConeT(height - rows)];
    let settings = DefaultSettingsBuilder::default().verbose(false).build().ok()?;
    let mut solver =
        DefaultSolver::new(&CscMatrix::zeros((columns, columns)), &cost, &matrix, &wanted, &cones, settings).ok()?;
    solver.solve();
    Some(solver.solution.obj_val)
}
