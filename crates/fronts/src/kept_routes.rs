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

    /// One path for each of this many arcs, which takes it all.
    pub(crate) fn whole<'a>(arcs: usize, nodes_of: impl Fn(usize) -> &'a [Rank]) -> Self {
        let mut starts = vec![0];
        let mut nodes = Vec::new();
        for arc in 0..arcs {
            nodes.extend_from_slice(nodes_of(arc));
            starts.push(nodes.len() as u32);
        }
        let every: Vec<u32> = (0..arcs as u32).collect();
        let shares = every.iter().map(|&path| (path, 1.0)).collect();
        Self { arcs: every.into(), starts: starts.into(), nodes: nodes.into(), shares: vec![shares] }
    }

    /// The routes of the only point of a front.
    pub(crate) fn of(routes: &Routes) -> Self {
        let paths = (0..).zip(&routes.arcs).flat_map(|(arc, routed)| routed.paths.iter().map(move |path| (arc, path)));
        let (listed, shares): (Vec<(u32, Vec<Rank>)>, Vec<f64>) =
            paths.map(|(arc, path)| ((arc, path.nodes.clone()), path.share)).unzip();
        Self::new(&listed, &[(0..).zip(shares).collect()])
    }

    /// Paths of a point.
    pub(crate) fn paths(&self, point: usize) -> usize {
        self.shares[point].len()
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
