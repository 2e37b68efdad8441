//! Rates and hop delays of circuits by the pair of GPUs that they join, where they differ: copper near, optics far.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::cutoffs::pair_rates::{MOST_GPUS, MOST_NAMED};
use crate::{Error, Rank, Result, Topology, Translations, units};

/// The forms of a class in the text.
const FORM: &str = "inside:GPUS:RATE[:DELAY] for pairs inside groups of so many GPUs, or GPUS:GPUS:RATE[:DELAY] such \
     as 0-7:8-15:400Gbps:1us, with commas between them";

/// Classes of pairs as they are asked for; of several classes that have the same pair the last one counts.
#[derive(Debug, Clone, PartialEq)]
pub struct PairClasses(Vec<PairClass>);

/// Pairs of GPUs, both ways, with the rate of their circuits.
#[derive(Debug, Clone, PartialEq)]
struct PairClass {
    pairs: Pairs,
    rate_bps: f64,
    /// The fabric's hop delay where it is left out.
    hop_delay_s: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
enum Pairs {
    /// Two GPUs of one group, each of so many GPUs that follow each other.
    Inside(u32),
    /// One GPU of each range.
    Between(Range<u32>, Range<u32>),
}

impl Pairs {
    /// Pairs that are looked at on a fabric of so many GPUs.
    fn most(&self, gpus: u32) -> u64 {
        match self {
            Self::Inside(_) => u64::from(gpus) * u64::from(gpus),
            Self::Between(some, others) => some.len() as u64 * others.len() as u64,
        }
    }
}

impl PairClasses {
    /// Classes from a text: `inside:8:3600Gbps:100ns,0-7:8-15:400Gbps:1us`.
    ///
    /// # Errors
    /// Any other text; names `field`.
    pub fn parse(field: &str, text: &str) -> Result<Self> {
        text.split(',').map(|part| class(field, part.trim())).collect::<Result<Vec<_>>>().map(Self)
    }

    /// The rates of all pairs of a fabric, whose other circuits have the rate and the hop delay that are given.
    ///
    /// # Errors
    /// A GPU that the fabric does not have, or a fabric of too many.
    pub fn on(&self, field: &str, gpus: u32, (rate_bps, hop_delay_s): (f64, f64)) -> Result<PairRates> {
        if gpus > MOST_GPUS {
            return Err(Error::value(
                field,
                format!("rates of {gpus} GPUs"),
                format!("fabrics of at most {MOST_GPUS}"),
            ));
        }
        let named: u64 = self.0.iter().map(|class| class.pairs.most(gpus)).sum();
        if named > MOST_NAMED {
            let accepts = format!("at most {MOST_NAMED} pairs in all classes together");
            return Err(Error::value(field, format!("{named} pairs"), accepts));
        }
        let size = gpus as usize;
        let mut of_pair = vec![(rate_bps, hop_delay_s); size * size];
        for PairClass { pairs, rate_bps, hop_delay_s: own_s } in &self.0 {
            let mut set = |one: u32, other: u32| {
                for (src, dst) in [(one, other), (other, one)] {
                    of_pair[src as usize * size + dst as usize] = (*rate_bps, own_s.unwrap_or(hop_delay_s));
                }
            };
            match pairs {
                Pairs::Inside(group) => {
                    let all = (0..gpus).flat_map(|src| (src + 1..gpus).map(move |dst| (src, dst)));
                    all.filter(|(src, dst)| src / group == dst / group).for_each(|(src, dst)| set(src, dst));
                }
                Pairs::Between(some, others) => {
                    if let Some(outside) = [some, others].iter().map(|range| range.end - 1).find(|last| *last >= gpus) {
                        return Err(Error::value(field, format!("GPU {outside}"), format!("GPUs 0 to {}", gpus - 1)));
                    }
                    some.clone().for_each(|one| others.clone().for_each(|other| set(one, other)));
                }
            }
        }
        Ok(PairRates::new(gpus, &of_pair))
    }
}

fn class(field: &str, text: &str) -> Result<PairClass> {
    let refuse = || Error::value(field, format!("`{text}`"), FORM);
    let parts: Vec<&str> = text.split(':').map(str::trim).collect();
    let (first, second, rate, delay) = match parts[..] {
        [first, second, rate] => (first, second, rate, None),
        [first, second, rate, delay] => (first, second, rate, Some(delay)),
        _ => return Err(refuse()),
    };
    let pairs = if first == "inside" {
        number(second).filter(|group| *group >= 2).map(Pairs::Inside)
    } else {
        let ranges = range(first).zip(range(second));
        let joins_two = |(some, others): &(Range<u32>, Range<u32>)| some != others || some.len() > 1;
        ranges.filter(joins_two).map(|(some, others)| Pairs::Between(some, others))
    };
    let rate_bps = units::rate_from_f64(field, units::parse_rate(field, rate)?)?;
    let delay =
        delay.map(|text| units::parse_time(field, text).and_then(|delay_s| units::time_from_f64(field, delay_s)));
    Ok(PairClass { pairs: pairs.ok_or_else(refuse)?, rate_bps, hop_delay_s: delay.transpose()? })
}

fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number| text.bytes().all(|byte| byte.is_ascii_digit()) && *number <= MOST_GPUS)
}

/// GPUs of `3` and `0-7`.
fn range(text: &str) -> Option<Range<u32>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some(first..last + 1)
}

/// The rate and the hop delay of the circuits between every two GPUs, the same both ways.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PairRates {
    gpus: u32,
    /// Rate in bit/s and hop delay in s of each class, as the bits of floats, so that shapes can be compared and
    /// hashed.
    classes: Arc<[(u64, u64)]>,
    /// By source, then destination, the class; that of a GPU with itself says nothing.
    of_pair: Arc<[u32]>,
    /// The translations that take every pair to one of its class.
    symmetry: Translations,
}

impl PairRates {
    fn new(gpus: u32, pairs: &[(f64, f64)]) -> Self {
        let is_pair = |at: usize| at / gpus as usize != at % gpus as usize;
        // A delay of -0 s is one of 0 s.
        let bits = |&(rate_bps, hop_delay_s): &(f64, f64)| (rate_bps.to_bits(), (hop_delay_s + 0.0).to_bits());
        let mut classes: Vec<(u64, u64)> =
            pairs.iter().enumerate().filter(|(at, _)| is_pair(*at)).map(|(_, pair)| bits(pair)).collect();
        classes.sort_unstable();
        classes.dedup();
        // Every class of a pair is in the list; a GPU with itself has the first.
        let class = |(at, pair): (usize, &(f64, f64))| match is_pair(at) {
            true => classes.binary_search(&bits(pair)).unwrap_or(0) as u32,
            false => 0,
        };
        let of_pair: Arc<[u32]> = pairs.iter().enumerate().map(class).collect();
        let at = |src: Rank, dst: Rank| of_pair[(src * gpus + dst) as usize];
        let symmetry = Translations::detect(gpus, (gpus * (gpus - 1)) as usize, |moved| {
            let mut all = (0..gpus).flat_map(|src| (0..gpus).map(move |dst| (src, dst)));
            all.all(|(src, dst)| src == dst || at(src, dst) == at(moved(src), moved(dst)))
        });
        Self { gpus, classes: classes.into(), of_pair, symmetry }
    }

    /// The rates of some of the GPUs, in their order.
    #[must_use]
    pub fn among(&self, gpus: &[Rank]) -> Self {
        let same = |one: Rank| if one == 0 { 1 } else { 0 };
        let class =
            |&src: &Rank, &dst: &Rank| if src == dst { self.class(src, same(src)) } else { self.class(src, dst) };
        let pairs: Vec<(f64, f64)> = gpus.iter().flat_map(|src| gpus.iter().map(move |dst| class(src, dst))).collect();
        Self::new(gpus.len() as u32, &pairs)
    }

    /// Whether all circuits are of one rate and one hop delay.
    pub fn are_equal(&self) -> bool {
        self.classes.len() == 1
    }

    /// Number of GPUs of the fabric.
    pub fn gpus(&self) -> u32 {
        self.gpus
    }

    fn class(&self, src: Rank, dst: Rank) -> (f64, f64) {
        let (rate, delay) = self.classes[self.of_pair[(src * self.gpus + dst) as usize] as usize];
        (f64::from_bits(rate), f64::from_bits(delay))
    }

    /// Rate of a circuit between two GPUs, bit/s.
    pub fn rate_bps(&self, src: Rank, dst: Rank) -> f64 {
        self.class(src, dst).0
    }

    /// Delay of a hop between two GPUs, s.
    pub fn hop_delay_s(&self, src: Rank, dst: Rank) -> f64 {
        self.class(src, dst).1
    }

    /// All rates, bit/s, the fastest first.
    pub fn rates_bps(&self) -> Vec<f64> {
        let mut rates: Vec<f64> = self.classes.iter().map(|&(rate, _)| f64::from_bits(rate)).collect();
        rates.sort_by(|a, b| b.total_cmp(a));
        rates.dedup();
        rates
    }

    /// Bit/s of the fastest circuits.
    pub fn fastest_bps(&self) -> f64 {
        self.rates_bps()[0]
    }

    /// The least hop delay, s.
    pub fn least_hop_delay_s(&self) -> f64 {
        self.classes.iter().map(|&(_, delay)| f64::from_bits(delay)).fold(f64::INFINITY, f64::min)
    }

    /// The longest hop delay, s.
    pub fn longest_hop_delay_s(&self) -> f64 {
        self.classes.iter().map(|&(_, delay)| f64::from_bits(delay)).fold(0.0, f64::max)
    }

    /// The largest hop delay of a topology's circuits, s; the least of all where it has none.
    pub fn largest_hop_delay_s(&self, topology: &Topology) -> f64 {
        let links = topology.expanded();
        let delays = links.iter().map(|link| self.hop_delay_s(link.src, link.dst));
        delays.fold(self.least_hop_delay_s(), f64::max)
    }

    /// The translations under which all rates and hop delays stay.
    pub fn symmetry(&self) -> &Translations {
        &self.symmetry
    }
}

impl fmt::Display for PairRates {
    /// The text from which [`PairClasses::parse`] reads all pairs that do not have both the fastest rate and the least
    /// delay: ranges of GPUs, each as large as the pairs of its class reach in both directions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unsaid = (self.fastest_bps(), self.least_hop_delay_s());
        let mut said: BTreeSet<(Rank, Rank)> = BTreeSet::new();
        let mut parts: Vec<String> = Vec::new();
        for src in 0..self.gpus {
            for dst in src + 1..self.gpus {
                let class = self.class(src, dst);
                if class == unsaid || said.contains(&(src, dst)) {
                    continue;
                }
                let fits = |one: Rank, other: Rank| one == other || self.class(one, other) == class;
                // As many destinations, from the source itself where those before them are of the class, too.
                let from = if (src..dst).all(|other| fits(src, other)) { src } else { dst };
                let to = (dst..self.gpus).take_while(|&other| fits(src, other)).last().unwrap_or(dst);
                let last =
                    (src..self.gpus).take_while(|&one| (from..=to).all(|other| fits(one, other))).last().unwrap_or(src);
                for one in src..=last {
                    said.extend((from..=to).map(|other| (one.min(other), one.max(other))));
                }
                let range = |first: Rank, last: Rank| match first == last {
                    true => first.to_string(),
                    false => format!("{first}-{last}"),
                };
                let (rate_bps, hop_delay_s) = class;
                parts.push(format!("{}:{}:{rate_bps}bps:{hop_delay_s}s", range(src, last), range(from, to)));
            }
        }
        f.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Link;
    use proptest::prelude::*;

    fn read(text: &str, gpus: u32) -> Result<PairRates> {
        PairClasses::parse("pair_rates", text)?.on("pair_rates", gpus, (4e11, 1e-6))
    }

    #[test]
    fn groups_are_near_and_the_last_class_of_a_pair_counts() {
        let near = read("inside:4:800Gbps:100ns,0:5:100Gbps,1:0:200Gbps:2us", 8).unwrap();
        assert_eq!((near.rate_bps(2, 3), near.hop_delay_s(3, 2)), (8e11, 1e-7));
        assert_eq!((near.rate_bps(3, 4), near.hop_delay_s(3, 4)), (4e11, 1e-6));
        assert_eq!((near.rate_bps(5, 0), near.hop_delay_s(0, 5)), (1e11, 1e-6));
        assert_eq!((near.rate_bps(0, 1), near.rate_bps(1, 0)), (2e11, 2e11));
        assert_eq!((near.fastest_bps(), near.least_hop_delay_s()), (8e11, 1e-7));
        assert_eq!(near.rates_bps(), [8e11, 4e11, 2e11, 1e11]);
        let islands = read("inside:4:800Gbps:100ns", 8).unwrap();
        assert_eq!(islands.symmetry().order(), 8);
        assert!(read("inside:8:400Gbps:1us", 8).unwrap().are_equal());
        assert!(read("inside:8:400Gbps:0s,0:1:400Gbps:-0s", 8).unwrap().are_equal());
    }

    #[test]
    fn some_gpus_keep_the_rates_of_their_pairs() {
        let near = read("inside:4:800Gbps:100ns,0:5:100Gbps", 8).unwrap();
        let some = near.among(&[5, 4, 0]);
        let rates = [(0, 1), (0, 2), (1, 2)].map(|(one, other)| (some.rate_bps(one, other), some.rate_bps(other, one)));
        assert_eq!(rates, [(8e11, 8e11), (1e11, 1e11), (4e11, 4e11)]);
        assert!(near.among(&[4, 5, 6]).are_equal());
    }

    #[test]
    fn other_texts_are_refused_by_the_part_that_is_wrong() {
        for (text, part) in [
            ("", "``"),
            ("inside:1:8Gbps", "`inside:1:8Gbps`"),
            ("0-3:8Gbps", "`0-3:8Gbps`"),
            ("3:3:8Gbps", "`3:3:8Gbps`"),
            ("4-3:0:8Gbps", "`4-3:0:8Gbps`"),
            ("0:1:8Gbps,0:1:8Gbps:1us:1", "`0:1:8Gbps:1us:1`"),
            ("0:8:8Gbps", "GPU 8"),
            ("0:1:fast", "`fast`"),
            ("0:1:8Gbps:soon", "`soon`"),
        ] {
            let error = read(text, 8).unwrap_err().to_string();
            assert!(error.starts_with("pair_rates: ") && error.contains(part), "{text}: {error}");
        }
        assert!(read("inside:2:8Gbps", MOST_GPUS + 1).is_err());
    }

    /// A ring of two groups has the slow rate, and its delay, where it leads from one to the other.
    #[test]
    fn links_have_the_rate_of_their_pair() {
        let near = read("inside:4:800Gbps:100ns", 8).unwrap();
        let ring = Topology::new("ring", Translations::cyclic(8), [Link { src: 0, dst: 1, count: 2 }]).unwrap();
        let rated = ring.clone().at_rates_of(&near);
        let capacities: Vec<f64> = rated.expanded().iter().map(|link| rated.capacity(link)).collect();
        assert_eq!(capacities, [2.0, 2.0, 2.0, 1.0, 2.0, 2.0, 2.0, 1.0]);
        assert_eq!(rated.symmetry().order(), 2);
        assert_eq!((near.largest_hop_delay_s(&rated), rated.clone().on_any_ports().same_links(&ring)), (1e-6, true));
    }

    proptest! {
        #[test]
        fn the_text_that_is_written_is_read_again(
            gpus in 2u32..9, drawn in prop::collection::vec((0u32..9, 0u32..9, 0usize..3, 0usize..2), 0..12),
        ) {
            let parts: Vec<String> = drawn.iter().map(|&(a, b, rate, delay)| {
                let (a, b) = (a % gpus, b % gpus);
                let b = if a == b { (b + 1) % gpus } else { b };
                format!("{a}:{b}:{}Gbps:{}ns", [100, 250, 731][rate], [100, 333][delay])
            }).collect();
            prop_assume!(!parts.is_empty());
            let rates = read(&parts.join(","), gpus).unwrap();
            let unsaid = (rates.fastest_bps(), rates.least_hop_delay_s());
            let text = rates.to_string();
            if !text.is_empty() {
                let again = PairClasses::parse("pair_rates", &text).unwrap().on("pair_rates", gpus, unsaid).unwrap();
                prop_assert_eq!(again, rates);
            } else {
                prop_assert!(rates.are_equal());
            }
        }
    }
}
