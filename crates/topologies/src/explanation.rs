//! A description of the circuits of a topology, in a sentence: read off its links, not its name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::cutoffs::explanation::MOST_LISTED;
use model::{Digit, Link, Rank, Topology};

use crate::diameter::Diameter;

/// Beginning of the words for a graph whose circuits follow no simpler rule.
const IRREGULAR: &str = "irregular graph";

/// A description of the circuits of a topology. Its `Display` is the sentence, and says nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Explanation {
    /// No circuit at all.
    Dark,
    /// `count` circuits from every GPU to every other.
    Complete {
        /// GPUs.
        ranks: u32,
        /// Parallel circuits.
        count: u32,
    },
    /// Circuits that are alike for all GPUs, each along one coordinate of the GPUs' numbers.
    Coordinates {
        /// GPUs.
        ranks: u32,
        /// One entry for each coordinate with circuits, the fastest first.
        along: Vec<Along>,
    },
    /// Rings and lines: at most one link out of and one into every GPU; `to` has the links.
    Paths {
        /// GPUs.
        ranks: u32,
        /// Parallel circuits of every link.
        count: u32,
        /// The GPU to which each GPU's link leads.
        to: BTreeMap<Rank, Rank>,
    },
    /// Circuits that are alike for all GPUs, in some other way.
    Alike {
        /// The GPUs to which the first GPU's circuits lead, with the number of circuits to each.
        first: Vec<(Rank, u32)>,
    },
    /// Anything else.
    Irregular {
        /// Circuits.
        circuits: u64,
        /// The fewest and the most circuits that leave a GPU.
        out: (u32, u32),
        /// After how many GPUs the circuits repeat, where they do.
        period: Option<u32>,
        /// Number of GPUs of which translations make the others; `None` if there are no translations.
        kinds: Option<u32>,
        /// Hops between the GPUs that are farthest apart; `None` if it was not searched.
        diameter: Option<Diameter>,
    },
}

/// Circuits along one coordinate: it takes the values `0..digit.radix`, which are `digit.stride` GPUs apart, and comes
/// back to 0 after the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Along {
    /// The coordinate.
    pub digit: Digit,
    /// Values ahead, of at most half the radix either way, with the circuits that lead there, nearest first.
    pub ways: Vec<(i64, u32)>,
}

impl Explanation {
    /// Explains the circuits of a topology. O(links), in addition to the search for symmetry where the topology states
    /// less than one that makes all GPUs alike.
    pub fn of(topology: &Topology) -> Self {
        if topology.links().is_empty() {
            return Self::Dark;
        }
        if topology.symmetry().orbits() > 1 {
            if let Some(paths) = Self::paths(topology) {
                return paths;
            }
            let found = topology.clone().with_found_symmetry();
            return if found.symmetry().orbits() > 1 { Self::irregular(&found) } else { Self::alike(&found) };
        }
        Self::alike(topology)
    }

    /// All GPUs are alike.
    fn alike(topology: &Topology) -> Self {
        let ranks = topology.ranks();
        let count = topology.links()[0].count;
        if topology.links().len() as u32 == ranks - 1 && topology.links().iter().all(|link| link.count == count) {
            return Self::Complete { ranks, count };
        }
        let mut ways: BTreeMap<Digit, Vec<(i64, u32)>> = BTreeMap::new();
        for link in topology.links() {
            let moved = |digit: &&Digit| !(link.dst / digit.stride).is_multiple_of(digit.radix);
            let mut digits = topology.symmetry().digits().iter().filter(moved);
            let (Some(digit), None) = (digits.next(), digits.next()) else {
                return Self::paths(topology).unwrap_or_else(|| Self::Alike {
                    first: topology.links().iter().map(|link| (link.dst, link.count)).collect(),
                });
            };
            let ahead = i64::from(link.dst / digit.stride % digit.radix);
            let radix = i64::from(digit.radix);
            ways.entry(*digit).or_default().push((if 2 * ahead > radix { ahead - radix } else { ahead }, link.count));
        }
        let along = ways.into_iter().map(|(digit, mut ways)| {
            ways.sort_by_key(|&(ahead, _)| (ahead.abs(), -ahead));
            Along { digit, ways }
        });
        Self::Coordinates { ranks, along: along.collect() }
    }

    /// Rings and lines; `None` where a GPU has two links out or in, or links differ in their circuits.
    fn paths(topology: &Topology) -> Option<Self> {
        let links = topology.expanded();
        let count = links.first()?.count;
        let to: BTreeMap<Rank, Rank> = links.iter().map(|link| (link.src, link.dst)).collect();
        let into: BTreeSet<Rank> = to.values().copied().collect();
        let is_one = to.len() == links.len() && into.len() == links.len() && links.iter().all(|one| one.count == count);
        is_one.then(|| Self::Paths { ranks: topology.ranks(), count, to })
    }

    fn irregular(topology: &Topology) -> Self {
        let mut out = vec![0; topology.symmetry().orbits() as usize];
        for link in topology.links() {
            out[topology.symmetry().orbit(link.src) as usize] += link.count;
        }
        let (least, most) = (out.iter().min().copied(), out.iter().max().copied());
        let period = match topology.symmetry().digits() {
            [digit] if digit.stride * digit.radix == topology.ranks() => Some(digit.stride),
            _ => None,
        };
        Self::Irregular {
            circuits: topology.circuits(),
            out: (least.unwrap_or_default(), most.unwrap_or_default()),
            period,
            kinds: Some(topology.symmetry().orbits()).filter(|&kinds| kinds < topology.ranks()),
            diameter: Diameter::of(topology),
        }
    }

    /// The sentence, in which a graph that is not regular has a name of its own. `title` is such a name, like
    /// `generalised Kautz graph`.
    pub fn titled(&self, title: &str) -> String {
        match self {
            Self::Alike { .. } => format!("{title}, {self}"),
            Self::Irregular { .. } => self.to_string().replacen(IRREGULAR, title, 1),
            _ => self.to_string(),
        }
    }

    /// The links that are explained, by (source, destination), where the sentence says all of them.
    pub fn links(&self) -> Option<Vec<Link>> {
        let mut links = match self {
            Self::Dark => Vec::new(),
            Self::Complete { ranks, count } => {
                let from = |src| (0..*ranks).filter(move |dst| *dst != src).map(move |dst| (src, dst));
                (0..*ranks).flat_map(from).map(|(src, dst)| Link { src, dst, count: *count }).collect()
            }
            Self::Coordinates { ranks, along } => {
                (0..*ranks).flat_map(|src| along.iter().flat_map(move |along| along.links_from(src))).collect()
            }
            Self::Paths { count, to, .. } => to.iter().map(|(&src, &dst)| Link { src, dst, count: *count }).collect(),
            Self::Alike { .. } | Self::Irregular { .. } => return None,
        };
        links.sort_unstable();
        Some(links)
    }
}

impl Along {
    fn links_from(&self, src: Rank) -> impl Iterator<Item = Link> {
        let Digit { stride, radix } = self.digit;
        let at = src / stride % radix;
        self.ways.iter().map(move |&(ahead, count)| {
            let to = (i64::from(at) + ahead).rem_euclid(i64::from(radix)) as u32;
            Link { src, dst: src - at * stride + to * stride, count }
        })
    }

    /// GPUs on one ring, GPUs from one to the next on it, and how it is run through; `None` for more than rings.
    fn rings(&self) -> Option<(u32, u32, String)> {
        let Digit { stride, radix } = self.digit;
        let (ahead, manner) = match self.ways[..] {
            [(ahead, count)] if 2 * ahead.unsigned_abs() == u64::from(radix) => (ahead, parallel(count)),
            [(ahead, count)] => (ahead, format!("{}{}", if ahead < 0 { ", backwards" } else { "" }, parallel(count))),
            [(ahead, count), (back, same)] if back == -ahead && same == count => {
                (ahead, format!(", two-way{}", parallel(count)))
            }
            [(ahead, count), (back, other)] if back == -ahead => {
                (ahead, format!(", two-way, {count} circuits ahead and {other} back"))
            }
            _ => return None,
        };
        let ahead = ahead.unsigned_abs() as u32;
        Some((radix / gcd(ahead, radix), ahead * stride, manner))
    }

    /// `in 4 groups of 16 GPUs, 4 apart, every GPU to those 1 and 5 places ahead`.
    fn sentence(&self, ranks: u32) -> String {
        let Digit { stride, radix } = self.digit;
        let place = |&(ahead, count): &(i64, u32)| {
            let side = if ahead < 0 { "behind" } else { "ahead" };
            let times = if count == 1 { String::new() } else { format!(" over {count} circuits") };
            format!("{} {side}{times}", ahead.abs())
        };
        let count = self.ways[0].1;
        let is_complete = self.ways.len() as u32 == radix - 1 && self.ways.iter().all(|way| way.1 == count);
        let to = match () {
            () if is_complete => format!("every GPU to all others{}", parallel(count)),
            () if self.ways.iter().all(|way| way.1 == count) => {
                let places = |is_ahead: bool| -> Vec<String> {
                    self.ways.iter().filter(|way| (way.0 > 0) == is_ahead).map(|way| way.0.abs().to_string()).collect()
                };
                let sides = [(places(true), "ahead"), (places(false), "behind")];
                let sides = sides.iter().filter(|(places, _)| !places.is_empty());
                let sides: Vec<String> = sides.map(|(places, side)| format!("{} {side}", joined(places))).collect();
                format!("every GPU to those {}{}", joined(&sides), parallel(count))
            }
            () => format!("every GPU to those {}", joined(&self.ways.iter().map(place).collect::<Vec<_>>())),
        };
        if radix == ranks {
            return to;
        }
        let apart = if stride == 1 { String::new() } else { format!(", {stride} apart") };
        format!("in {} groups of {radix} GPUs{apart}, {to}", ranks / radix)
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dark => write!(formatter, "no circuits"),
            Self::Complete { ranks: 2, count } => write!(formatter, "one pair of GPUs{}", parallel(*count)),
            Self::Complete { count, .. } => write!(formatter, "every GPU to every other{}", parallel(*count)),
            Self::Coordinates { ranks, along } => write!(formatter, "{}", along_all(*ranks, along)),
            Self::Paths { ranks, count, to } => write!(formatter, "{}{}", paths(*ranks, to), parallel(*count)),
            Self::Alike { first } => {
                let to = first.iter().map(|(dst, count)| match count {
                    1 => dst.to_string(),
                    _ => format!("{dst} over {count} circuits"),
                });
                let (to, more) = some_of(&to.collect::<Vec<_>>());
                write!(formatter, "GPU 0 to {to}{more}, all other GPUs alike")
            }
            Self::Irregular { circuits, out: (least, most), period, kinds, diameter } => {
                let out = if least == most { most.to_string() } else { format!("{least} to {most}") };
                write!(formatter, "{IRREGULAR}")?;
                match diameter {
                    Some(Diameter::Hops(hops)) => write!(formatter, " of diameter {hops}")?,
                    Some(Diameter::Unreachable) => write!(formatter, " in which some GPUs do not reach all others")?,
                    None => {}
                }
                write!(formatter, ", {circuits} circuits, {out} out of each GPU")?;
                match (period, kinds) {
                    (Some(period), _) => write!(formatter, ", repeated every {period} GPUs"),
                    (None, Some(kinds)) => write!(formatter, ", {kinds} classes of equivalent GPUs"),
                    (None, None) => Ok(()),
                }
            }
        }
    }
}

/// `4 rings of 4 GPUs, 4 apart`: rings of one kind together.
fn along_all(ranks: u32, along: &[Along]) -> String {
    let mut rings: Vec<((u32, String), Vec<u32>)> = Vec::new();
    let mut others = Vec::new();
    for along in along {
        match along.rings() {
            Some((length, apart, manner)) => match rings.iter_mut().find(|(kind, _)| *kind == (length, manner.clone()))
            {
                Some((_, places)) => places.push(apart),
                None => rings.push(((length, manner), vec![apart])),
            },
            None => others.push(along.sentence(ranks)),
        }
    }
    let ring = |((length, manner), apart): &((u32, String), Vec<u32>)| {
        let places: Vec<String> = apart.iter().map(u32::to_string).collect();
        let what = match (*length, ranks / length * apart.len() as u32) {
            (2, 1) => "one pair of GPUs".to_string(),
            (2, pairs) => format!("{pairs} pairs of GPUs"),
            (_, 1) if apart == &[1] => return format!("one ring of all {ranks} GPUs{manner}"),
            (_, 1) => format!("one ring of all {ranks} GPUs"),
            (_, rings) => format!("{rings} rings of {length} GPUs"),
        };
        format!("{what}, {} apart{manner}", joined(&places))
    };
    rings.iter().map(ring).chain(others).collect::<Vec<_>>().join("; ")
}

/// `6 rings of 4 GPUs, 2 lines of 3, 2 GPUs dark`; each GPU's link leads where `to` says.
fn paths(ranks: u32, to: &BTreeMap<Rank, Rank>) -> String {
    let into: BTreeSet<Rank> = to.values().copied().collect();
    let dark = (0..ranks).filter(|rank| !to.contains_key(rank) && !into.contains(rank)).count();
    let mut left: BTreeSet<Rank> = to.keys().copied().collect();
    // By whether they are lines, then by length: how many, and the first.
    let mut found: BTreeMap<(bool, usize), (usize, Vec<Rank>)> = BTreeMap::new();
    let starts = to.keys().filter(|src| !into.contains(src)).chain(to.keys().filter(|src| into.contains(src)));
    for &start in starts {
        let mut path = Vec::new();
        let mut at = start;
        while left.remove(&at) {
            path.push(at);
            at = to[&at];
        }
        if path.is_empty() {
            continue;
        }
        let is_line = at != start;
        if is_line {
            path.push(at);
        }
        found.entry((is_line, path.len())).or_insert_with(|| (0, path)).0 += 1;
    }
    let one = |(&(is_line, length), (times, path)): (&(bool, usize), &(usize, Vec<Rank>))| {
        let kind = match (is_line, length) {
            (false, 2) => "pair",
            (false, _) => "ring",
            (true, _) => "line",
        };
        let many = if *times == 1 { format!("one {kind}") } else { format!("{times} {kind}s") };
        let close = if is_line { None } else { path.first() };
        let such = if length <= MOST_LISTED {
            let listed: Vec<String> = path.iter().chain(close).map(u32::to_string).collect();
            format!("{}{}", if *times == 1 { ", " } else { ", such as " }, listed.join("→"))
        } else {
            String::new()
        };
        format!("{many} of {length} GPUs{such}")
    };
    let mut parts: Vec<String> = found.iter().map(one).collect();
    if parts.len() > MOST_LISTED {
        let lengths: Vec<usize> = found.keys().map(|&(_, length)| length).collect();
        let (least, most) = (lengths.iter().min().unwrap_or(&0), lengths.iter().max().unwrap_or(&0));
        let many: usize = found.values().map(|(times, _)| times).sum();
        parts = vec![format!("{many} rings and lines of {least} to {most} GPUs")];
    }
    if dark > 0 {
        parts.push(format!("{dark} GPU{} dark", if dark == 1 { "" } else { "s" }));
    }
    parts.join("; ")
}

fn parallel(count: u32) -> String {
    if count == 1 { String::new() } else { format!(", {count} circuits in parallel") }
}

/// `1, 2 and 4`, in part where they are many.
fn joined(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] if parts.len() <= MOST_LISTED => format!("{} and {last}", most.join(", ")),
        _ => {
            let (some, more) = some_of(parts);
            format!("{some}{more}")
        }
    }
}

/// The first of them, and how many more there are.
fn some_of(parts: &[String]) -> (String, String) {
    let shown = parts.len().min(MOST_LISTED);
    let more = parts.len() - shown;
    (parts[..shown].join(", "), if more > 0 { format!(" and {more} more") } else { String::new() })
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
