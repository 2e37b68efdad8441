//! Circulant topologies, and how lists of generators are written.

use crate::{Link, Rank, Result, Topology, Translations};

impl Topology {
    /// A circuit from every rank to the one `generator` ahead, for each of `generators`; equal ones make parallel
    /// circuits. Its name is its specification, `circulant:1,5^2`.
    ///
    /// # Errors
    /// A generator that is not in 1 … `ranks` − 1.
    pub fn circulant(ranks: u32, generators: &[Rank]) -> Result<Self> {
        let links = generators.iter().map(|&dst| Link { src: 0, dst, count: 1 });
        let shown = show_generators(generators.iter().map(|&generator| i64::from(generator)));
        Self::new(format!("circulant:{shown}"), Translations::cyclic(ranks), links)
    }
}

/// `1^6,2,-3`: generators in their order, a run of equal ones as one with their number.
pub fn show_generators(generators: impl IntoIterator<Item = i64>) -> String {
    let mut runs: Vec<(i64, usize)> = Vec::new();
    for generator in generators {
        match runs.last_mut() {
            Some((last, times)) if *last == generator => *times += 1,
            _ => runs.push((generator, 1)),
        }
    }
    let shown = |(generator, times): &(i64, usize)| {
        if *times == 1 { generator.to_string() } else { format!("{generator}^{times}") }
    };
    runs.iter().map(shown).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_equal_generators_are_counted() {
        assert_eq!(show_generators([1, 1, 1, 2, -3, -3, 1]), "1^3,2,-3^2,1");
        assert_eq!(show_generators([5]), "5");
    }

    #[test]
    fn equal_generators_make_parallel_circuits() {
        let topology = Topology::circulant(8, &[1, 3, 3]).unwrap();
        assert_eq!(topology.name(), "circulant:1,3^2");
        assert_eq!(topology.links(), [Link { src: 0, dst: 1, count: 1 }, Link { src: 0, dst: 3, count: 2 }]);
        assert!(Topology::circulant(8, &[0]).is_err());
    }
}
