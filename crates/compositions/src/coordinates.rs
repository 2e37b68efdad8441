//! Ranks as coordinates, one for each phase, and phases put on them.

use model::{Link, Rank, Result, Topology, Translations, show_generators};

use crate::phase::Phase;
use crate::relative::Circuits;

/// Meaning of the names of this module's topologies.
pub(crate) const NAME: (&str, &str) = (
    "Ax[B]xC:P1,P2^2",
    "GPUs in a grid, last dimension fastest: circuits P1 and P2 places ahead along the dimension in brackets, which \
     wraps round; P^2: two circuits in parallel",
);

/// Coordinates of the ranks, the last running fastest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Coordinates {
    dims: Vec<u32>,
}

/// A phase, and where it runs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Placed {
    pub(crate) phase: Phase,
    /// Along all ranks instead of the last coordinate: transfers and circuits then lead on from its end to the next
    /// ranks. This serves a phase on the ring that is in force at the start.
    pub(crate) on_ring: bool,
}

impl Coordinates {
    pub(crate) fn new(dims: Vec<u32>) -> Self {
        Self { dims }
    }

    pub(crate) fn ranks(&self) -> u32 {
        self.dims.iter().product()
    }

    pub(crate) fn dims(&self) -> &[u32] {
        &self.dims
    }

    fn stride(&self, index: usize) -> u32 {
        self.dims[index + 1..].iter().product()
    }

    /// The place of `rank` along a coordinate.
    pub(crate) fn place(&self, rank: Rank, index: usize) -> u32 {
        rank / self.stride(index) % self.dims[index]
    }

    /// The group of all translations of the coordinates, or of the ranks.
    pub(crate) fn symmetry(&self, on_ring: bool) -> Translations {
        if on_ring {
            return Translations::cyclic(self.ranks());
        }
        Translations::grid(&self.dims, &vec![1; self.dims.len()])
    }

    /// The rank this many places ahead of `rank` along a coordinate, or along all ranks.
    pub(crate) fn ahead(&self, rank: Rank, index: usize, on_ring: bool, places: i64) -> Rank {
        let (stride, span) = if on_ring { (1, self.ranks()) } else { (self.stride(index), self.dims[index]) };
        let at = rank / stride % span;
        let to = (i64::from(at) + places).rem_euclid(i64::from(span)) as u32;
        rank - at * stride + to * stride
    }

    /// The ranks that differ from `rank` at most in the coordinates that `free` names.
    pub(crate) fn fellows(&self, rank: Rank, free: impl Fn(usize) -> bool) -> Vec<Rank> {
        let mut ranks = vec![rank];
        for index in (0..self.dims.len()).filter(|index| free(*index)) {
            let places = 0..i64::from(self.dims[index]);
            let along = |&rank: &Rank| places.clone().map(move |place| self.ahead(rank, index, false, place));
            ranks = ranks.iter().flat_map(along).collect();
        }
        ranks
    }

    /// The topology in which every rank has these circuits along a coordinate, or along all ranks.
    ///
    /// # Errors
    /// No error for circuits that lead to other ranks.
    pub(crate) fn topology(&self, index: usize, on_ring: bool, circuits: &Circuits) -> Result<Topology> {
        let links =
            circuits.iter().map(|&(places, count)| Link { src: 0, dst: self.ahead(0, index, on_ring, places), count });
        Topology::new(self.name(index, on_ring, circuits), self.symmetry(on_ring), links)
    }

    /// `4x[16]:1,5`: circuits to the ranks 1 and 5 places ahead along the coordinate in brackets; `ring` and
    /// `circulant:1,5` where there is one coordinate.
    fn name(&self, index: usize, on_ring: bool, circuits: &Circuits) -> String {
        let every = circuits.iter().flat_map(|(places, count)| std::iter::repeat_n(*places, *count as usize));
        let ways = show_generators(every);
        if on_ring || self.dims.len() == 1 {
            return match &circuits[..] {
                [(1, 1)] | [(1, _), (-1, _)] => "ring".into(),
                [(1, _)] => "ring:one-way".into(),
                _ => format!("circulant:{ways}"),
            };
        }
        let shown = |(at, dim): (usize, &u32)| if at == index { format!("[{dim}]") } else { dim.to_string() };
        let dims: Vec<String> = self.dims.iter().enumerate().map(shown).collect();
        format!("{}:{ways}", dims.join("x"))
    }
}
