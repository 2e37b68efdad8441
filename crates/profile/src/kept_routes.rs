//! The paths behind the points of a front, as little memory as they take.

use model::{Rank, RoutedEntry, RoutedPath, Routes, TrafficEntry};

use crate::quotient::Quotient;

/// Paths in use and their shares at each point.
#[derive(Debug)]
pub(crate) struct KeptRoutes {
    /// Arc of each path.
    arcs: Box<[u32]>,
    /// First node of each path, and the end of the last.
    starts: Box<[u32]>,
    nodes: Box<[Rank]>,
    /// (path, share), by point.
    shares: Vec<Box<[(u32, f64)]>>,
}

impl KeptRoutes {
    /// `paths`: arc and nodes of each; `shares`: by point, of the paths in use.
    pub(crate) fn new(paths: &[(u32, Vec<Rank>)], shares: &[Vec<(u32, f64)>]) -> Self {
        let mut used: Vec<u32> = shares.iter().flatten().map(|&(path, _)| path).collect();
        used.sort_unstable();
        used.dedup();
        let mut starts = vec![0];
        let mut nodes = Vec::new();
        for &path in &used {
            nodes.extend_from_slice(&paths[path as usize].1);
            starts.push(nodes.len() as u32);
        }
        let place = |path: u32| used.partition_point(|&other| other < path) as u32;
        let placed = |shares: &Vec<(u32, f64)>| shares.iter().map(|&(path, share)| (place(path), share)).collect();
        Self {
            arcs: used.iter().map(|&path| paths[path as usize].0).collect(),
            starts: starts.into(),
            nodes: nodes.into(),
            shares: shares.iter().map(placed).collect(),
        }
    }

    /// The routes of one point of the pair that was solved.
    pub(crate) fn routes(&self, point: usize, quotient: &Quotient) -> Routes {
        let routed = |arc: &TrafficEntry| RoutedEntry { src: arc.src, dst: arc.dst, paths: Vec::new() };
        let mut arcs: Vec<RoutedEntry> = quotient.arcs.iter().map(routed).collect();
        for &(path, share) in &self.shares[point] {
            let nodes = &self.nodes[self.starts[path as usize] as usize..self.starts[path as usize + 1] as usize];
            arcs[self.arcs[path as usize] as usize].paths.push(RoutedPath { share, nodes: nodes.to_vec() });
        }
        Routes { symmetry: quotient.symmetry.clone(), arcs }
    }
}
