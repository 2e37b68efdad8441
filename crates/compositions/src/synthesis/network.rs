//! The links of a topology, as those need them that fill them with chunks.

use std::collections::BTreeMap;

use model::{BreadthFirst, Link, Rank, Topology, Translations};

/// All links of a topology, in classes: links of a class are images of each other under the translations that are used.
#[derive(Debug, Clone)]
pub struct Network {
    translations: Translations,
    links: Vec<Link>,
    classes: Vec<Class>,
    out: Vec<Vec<usize>>,
    circuits_into: Vec<u64>,
}

/// Links that are images of each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Class {
    /// Parallel circuits of each.
    pub(crate) circuits: u32,
    /// Indices of the links.
    pub(crate) links: Vec<usize>,
}

impl Network {
    /// The links of `topology`, under its own translations. O(links · log links).
    pub fn new(topology: &Topology) -> Self {
        Self::of(topology.expanded(), topology.symmetry().clone())
    }

    /// The network of all links without its symmetry, for collectives whose origins are only some ranks, such as the
    /// root of a Broadcast: their transfers have no images.
    pub fn without_translations(topology: &Topology) -> Self {
        Self::of(topology.expanded(), Translations::trivial(topology.ranks()))
    }

    /// The network with every link turned round.
    #[must_use]
    pub fn turned(&self) -> Self {
        let turned = self.links.iter().map(|link| Link { src: link.dst, dst: link.src, count: link.count });
        Self::of(turned.collect(), self.translations.clone())
    }

    fn of(mut links: Vec<Link>, translations: Translations) -> Self {
        links.sort_unstable();
        let ranks = translations.ranks() as usize;
        let mut out = vec![Vec::new(); ranks];
        let mut known: BTreeMap<(Rank, Rank), usize> = BTreeMap::new();
        let mut classes = Vec::new();
        for (index, link) in links.iter().enumerate() {
            let (src, element) = translations.canonical(link.src);
            let dst = translations.apply(translations.inverse(element), link.dst);
            let class = *known.entry((src, dst)).or_insert_with(|| {
                classes.push(Class { circuits: link.count, links: Vec::new() });
                classes.len() - 1
            });
            classes[class].links.push(index);
            out[link.src as usize].push(index);
        }
        let mut circuits_into = vec![0; translations.orbits() as usize];
        for link in &links {
            circuits_into[translations.orbit(link.dst) as usize] += u64::from(link.count);
        }
        circuits_into.iter_mut().for_each(|circuits| *circuits /= u64::from(translations.order()));
        Self { translations, links, classes, out, circuits_into }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.translations.ranks()
    }

    /// The translations that are used.
    pub fn translations(&self) -> &Translations {
        &self.translations
    }

    /// Every link, by (source, destination).
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    pub(crate) fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// Circuits into a rank, by orbit.
    pub(crate) fn circuits_into(&self) -> &[u64] {
        &self.circuits_into
    }

    /// Hops from `origin` to every rank; `None` where some rank cannot be reached. O(links).
    pub fn distances(&self, origin: Rank) -> Option<Vec<u32>> {
        let ranks = self.ranks() as usize;
        let mut search = BreadthFirst::new(ranks);
        search.search(origin, |at| self.out[at as usize].iter().map(|&link| self.links[link].dst));
        (search.reached().len() == ranks).then(|| search.into_distances())
    }

    /// Rounds that every spread of `parts` parts from each of `origins` takes at least: a rank is as many hops away as
    /// the last part to reach it needs, and takes in what it lacks over its circuits. O(origins · links).
    pub fn least_rounds(&self, origins: &[Rank], parts: u32) -> Option<u32> {
        let mut least = 0;
        for &origin in origins {
            interruption::check();
            least = least.max(self.distances(origin)?.into_iter().max().unwrap_or(0));
        }
        // By symmetry, one origin sends to all ranks of an orbit as much as all its images send to one of these ranks.
        let (group, order) = (&self.translations, u64::from(self.translations.order()));
        for (orbit, &circuits) in (0..).zip(&self.circuits_into) {
            let own = origins.iter().filter(|&&origin| group.orbit(origin) == orbit).count() as u64;
            let lacked = (order * origins.len() as u64 - own) * u64::from(parts);
            if circuits > 0 {
                least = least.max(lacked.div_ceil(circuits) as u32);
            }
        }
        Some(least)
    }
}
