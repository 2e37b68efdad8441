//! A training iteration as a graph of computations, collectives and messages between ranks.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::ops::Deref;

use crate::{Collective, Error, MAX_GPUS, Rank, Result, units};

/// Most nodes of a workload.
pub const MAX_NODES: usize = 1 << 20;

/// Most ranks that all nodes together may name.
const MAX_NAMED_RANKS: usize = 1 << 26;

/// A dimension of the mesh of ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// Its name, such as `tp`.
    pub name: String,
    /// Ranks along it.
    pub size: u32,
}

/// Ranks with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankGroup {
    /// Its name.
    pub name: String,
    /// Different ranks; their order is the order of the collective's ranks.
    pub ranks: Vec<Rank>,
}

/// Which ranks take part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ranks {
    /// All of them.
    All,
    /// A named group, by its index.
    Group(usize),
    /// These, each once.
    List(Vec<Rank>),
}

/// The groups that run a collective at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Over {
    /// The groups of an axis, by its index, that lie within some ranks.
    Axis {
        /// Index of the axis.
        axis: usize,
        /// The ranks.
        within: Ranks,
    },
    /// Named groups, by their indices: disjoint and of one size.
    Groups(Vec<usize>),
}

/// What a node does.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// A computation.
    Compute {
        /// Who computes.
        ranks: Ranks,
        /// How long it takes, s.
        duration_s: f64,
    },
    /// A collective of one group, or of several at once.
    Collective {
        /// Which.
        collective: Collective,
        /// Groups.
        over: Over,
        /// m: bytes of one rank's whole buffer.
        size_bytes: u64,
        /// Collectives of one stream run one at a time, in the order of the nodes.
        stream: Option<String>,
    },
    /// Messages that start together; each rank sends and receives at most one.
    Send {
        /// Sources and destinations.
        pairs: Vec<(Rank, Rank)>,
        /// Bytes of each message.
        size_bytes: u64,
    },
}

/// A node of the graph.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadNode {
    /// A name of its own.
    pub id: String,
    /// Indices of the nodes that must have ended.
    pub after: Vec<usize>,
    /// What it does.
    pub work: Work,
}

/// What a workload is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadParts {
    /// Shown to people.
    pub name: Option<String>,
    /// Number of ranks, each a GPU.
    pub ranks: u32,
    /// The mesh, fastest axis first; no axes where there is none.
    pub mesh: Vec<Axis>,
    /// Named groups.
    pub groups: Vec<RankGroup>,
    /// Floating-point operations of the iteration, over all ranks.
    pub model_flops: Option<f64>,
    /// Floating-point operations per second of which a rank is capable.
    pub peak_flops: Option<f64>,
    /// The nodes.
    pub nodes: Vec<WorkloadNode>,
}

/// A checked workload: a graph without cycles. Reads as its [`WorkloadParts`].
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    parts: WorkloadParts,
    order: Vec<usize>,
}

impl Workload {
    /// # Errors
    /// No nodes or ranks, a mesh of another number of ranks, names used twice, ranks that do not exist or are named
    /// twice, groups of one rank, groups of a collective that overlap or differ in size, a duration or size outside
    /// its range, a cycle.
    pub fn new(parts: WorkloadParts) -> Result<Self> {
        check_mesh(&parts)?;
        if parts.nodes.is_empty() || parts.nodes.len() > MAX_NODES {
            let found = parts.nodes.len();
            return Err(Error::malformed("workload.nodes", format!("there are {found}; 1 to {MAX_NODES} are taken")));
        }
        let mut ids = BTreeSet::new();
        let mut named = 0;
        for (index, node) in parts.nodes.iter().enumerate() {
            let field = |name: &str| format!("workload.nodes[{index}].{name}");
            if node.id.is_empty() || node.id.chars().any(char::is_control) || !ids.insert(node.id.as_str()) {
                let reason = format!("`{}` is empty, not one line, or another node's", short(&node.id));
                return Err(Error::malformed(field("id"), reason));
            }
            if node.after.iter().any(|&before| before >= parts.nodes.len()) {
                return Err(Error::malformed(field("after"), "it names a node that there is not"));
            }
            named += check_work(&parts, &node.work, &field)?;
            if named > MAX_NAMED_RANKS {
                let reason = format!("they name more than {MAX_NAMED_RANKS} ranks in all");
                return Err(Error::malformed("workload.nodes", reason));
            }
        }
        let order = order_of(&parts.nodes)?;
        Ok(Self { parts, order })
    }

    /// The nodes, each after those that it waits for; of those that might come next, the first.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The ranks that take part in a node, in ascending order.
    pub fn ranks_of(&self, node: usize) -> Vec<Rank> {
        let mut ranks = match &self.nodes[node].work {
            Work::Compute { ranks, .. } => self.parts.listed(ranks),
            Work::Collective { over, .. } => self.parts.groups_over(over).concat(),
            Work::Send { pairs, .. } => pairs.iter().flat_map(|&(source, destination)| [source, destination]).collect(),
        };
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    /// The groups that run a collective at once, each in the order of its ranks; none for other nodes.
    pub fn groups_of(&self, node: usize) -> Vec<Vec<Rank>> {
        match &self.nodes[node].work {
            Work::Collective { over, .. } => self.parts.groups_over(over),
            _ => Vec::new(),
        }
    }

    /// The groups of an axis, each by its coordinate along the axis.
    pub fn axis_groups(&self, axis: usize) -> Vec<Vec<Rank>> {
        self.parts.axis_groups(axis)
    }

    /// What a node is called in a summary: `compute`, its axis, its groups, or `sends`.
    pub fn label_of(&self, node: usize) -> String {
        match &self.nodes[node].work {
            Work::Compute { .. } => "compute".into(),
            Work::Collective { over: Over::Axis { axis, .. }, .. } => self.mesh[*axis].name.clone(),
            Work::Collective { over: Over::Groups(groups), .. } => {
                let names: Vec<&str> = groups.iter().take(3).map(|&group| self.groups[group].name.as_str()).collect();
                let more = if groups.len() > names.len() { ", …" } else { "" };
                format!("{}{more}", names.join(", "))
            }
            Work::Send { .. } => "sends".into(),
        }
    }
}

impl Deref for Workload {
    type Target = WorkloadParts;

    fn deref(&self) -> &WorkloadParts {
        &self.parts
    }
}

impl WorkloadParts {
    fn listed(&self, ranks: &Ranks) -> Vec<Rank> {
        match ranks {
            Ranks::All => (0..self.ranks).collect(),
            Ranks::Group(group) => self.groups[*group].ranks.clone(),
            Ranks::List(ranks) => ranks.clone(),
        }
    }

    fn axis_groups(&self, axis: usize) -> Vec<Vec<Rank>> {
        let stride: u32 = self.mesh[..axis].iter().map(|axis| axis.size).product();
        let size = self.mesh[axis].size;
        let first = (0..self.ranks).filter(|rank| (rank / stride).is_multiple_of(size));
        first.map(|first| (0..size).map(|place| first + place * stride).collect()).collect()
    }

    fn groups_over(&self, over: &Over) -> Vec<Vec<Rank>> {
        match over {
            Over::Axis { axis, within: Ranks::All } => self.axis_groups(*axis),
            Over::Axis { axis, within } => {
                let within: BTreeSet<Rank> = self.listed(within).into_iter().collect();
                let all = self.axis_groups(*axis).into_iter();
                all.filter(|group| group.iter().all(|rank| within.contains(rank))).collect()
            }
            Over::Groups(groups) => groups.iter().map(|&group| self.groups[group].ranks.clone()).collect(),
        }
    }
}

fn check_mesh(parts: &WorkloadParts) -> Result<()> {
    let ranks = parts.ranks;
    if !(1..=MAX_GPUS).contains(&ranks) {
        return Err(Error::value("workload.ranks", ranks, format!("1 to {MAX_GPUS}")));
    }
    let sizes: Vec<u64> = parts.mesh.iter().map(|axis| u64::from(axis.size)).collect();
    let product = sizes.iter().try_fold(1u64, |product, size| product.checked_mul(*size));
    if !sizes.is_empty() && product != Some(u64::from(ranks)) {
        let shown: Vec<String> = sizes.iter().map(u64::to_string).collect();
        let reason = format!("its axes are {}; they must multiply to the {ranks} ranks", shown.join(" × "));
        return Err(Error::malformed("workload.mesh", reason));
    }
    let mut names = BTreeSet::new();
    for axis in &parts.mesh {
        check_name("workload.mesh", &axis.name, &mut names)?;
    }
    let mut names = BTreeSet::new();
    for group in &parts.groups {
        check_name("workload.groups", &group.name, &mut names)?;
        check_ranks(&format!("workload.groups.{}", short(&group.name)), ranks, &group.ranks)?;
    }
    for (field, flops) in [("model_flops", parts.model_flops), ("peak_flops", parts.peak_flops)] {
        if let Some(flops) = flops.filter(|flops| !(flops.is_finite() && *flops > 0.0 && *flops < 1e40)) {
            return Err(Error::value(&format!("workload.{field}"), flops, "a number above 0 and below 1e40"));
        }
    }
    Ok(())
}

fn check_name<'a>(field: &str, name: &'a str, names: &mut BTreeSet<&'a str>) -> Result<()> {
    const TAKEN: [&str; 3] = ["compute", "sends", "reconfiguration"];
    if name.is_empty() || name.len() > 100 || name.chars().any(char::is_control) {
        return Err(Error::malformed(field, "a name must be one line of 1 to 100 bytes"));
    }
    if TAKEN.contains(&name) || !names.insert(name) {
        return Err(Error::malformed(field, format!("the name `{}` is taken", short(name))));
    }
    Ok(())
}

fn check_ranks(field: &str, ranks: u32, list: &[Rank]) -> Result<()> {
    if list.is_empty() {
        return Err(Error::malformed(field, "it names no rank"));
    }
    let mut seen = BTreeSet::new();
    match list.iter().find(|&&rank| rank >= ranks || !seen.insert(rank)) {
        Some(rank) if *rank >= ranks => {
            Err(Error::malformed(field, format!("it names rank {rank} of the ranks 0 to {}", ranks - 1)))
        }
        Some(rank) => Err(Error::malformed(field, format!("it names rank {rank} twice"))),
        None => Ok(()),
    }
}

/// Checks what a node does; the number of ranks that it names.
fn check_work(parts: &WorkloadParts, work: &Work, field: &dyn Fn(&str) -> String) -> Result<usize> {
    let listed = |ranks: &Ranks| match ranks {
        Ranks::List(list) => check_ranks(&field("ranks"), parts.ranks, list).map(|()| list.len()),
        Ranks::Group(group) if *group >= parts.groups.len() => {
            Err(Error::malformed(field("ranks"), "it names a group that there is not"))
        }
        _ => Ok(1),
    };
    match work {
        Work::Compute { ranks, duration_s } => {
            units::time_from_f64(&field("duration_s"), *duration_s)?;
            listed(ranks)
        }
        Work::Collective { over, size_bytes, .. } => {
            units::size_in_range(&field("size_bytes"), *size_bytes)?;
            match over {
                Over::Axis { axis, within } => {
                    let Some(found) = parts.mesh.get(*axis) else {
                        return Err(Error::malformed(field("axis"), "it names an axis that the mesh has not"));
                    };
                    if found.size < 2 {
                        return Err(Error::malformed(
                            field("axis"),
                            format!("`{}` is of one rank; a collective needs two", short(&found.name)),
                        ));
                    }
                    let named = listed(within)?;
                    if *within != Ranks::All && parts.groups_over(over).is_empty() {
                        let reason = format!("no whole group of axis `{}` lies in them", short(&found.name));
                        return Err(Error::malformed(field("ranks"), reason));
                    }
                    Ok(named)
                }
                Over::Groups(groups) => check_groups(parts, groups, field),
            }
        }
        Work::Send { pairs, size_bytes } => {
            units::size_in_range(&field("size_bytes"), *size_bytes)?;
            let (sources, destinations): (Vec<Rank>, Vec<Rank>) = pairs.iter().copied().unzip();
            check_ranks(&field("source"), parts.ranks, &sources)?;
            check_ranks(&field("destination"), parts.ranks, &destinations)?;
            if let Some((rank, _)) = pairs.iter().find(|(source, destination)| source == destination) {
                return Err(Error::malformed(field("destination"), format!("rank {rank} sends to itself")));
            }
            Ok(2 * pairs.len())
        }
    }
}

fn check_groups(parts: &WorkloadParts, groups: &[usize], field: &dyn Fn(&str) -> String) -> Result<usize> {
    let field = field("group");
    let mut seen = BTreeSet::new();
    let mut size = None;
    for &group in groups {
        let Some(group) = parts.groups.get(group) else {
            return Err(Error::malformed(field, "it names a group that there is not"));
        };
        let ranks = &group.ranks;
        if ranks.len() < 2 {
            let reason = format!("`{}` is of one rank; a collective needs two", short(&group.name));
            return Err(Error::malformed(field, reason));
        }
        if *size.get_or_insert(ranks.len()) != ranks.len() {
            return Err(Error::malformed(field, "groups that run at once must be of one size"));
        }
        if let Some(rank) = ranks.iter().find(|&&rank| !seen.insert(rank)) {
            let reason = format!("rank {rank} is in two of them; groups that run at once must be disjoint");
            return Err(Error::malformed(field, reason));
        }
    }
    if groups.is_empty() { Err(Error::malformed(field, "it names no group")) } else { Ok(groups.len()) }
}

/// The order of [`Workload::order`].
fn order_of(nodes: &[WorkloadNode]) -> Result<Vec<usize>> {
    let mut missing: Vec<usize> = vec![0; nodes.len()];
    let mut followers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        let before: BTreeSet<usize> = node.after.iter().copied().collect();
        missing[index] = before.len();
        for before in before {
            followers.entry(before).or_default().push(index);
        }
    }
    let none_missing = (0..nodes.len()).filter(|&index| missing[index] == 0);
    let mut ready: BinaryHeap<std::cmp::Reverse<usize>> = none_missing.map(std::cmp::Reverse).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(std::cmp::Reverse(index)) = ready.pop() {
        order.push(index);
        for &follower in followers.get(&index).map_or(&[][..], Vec::as_slice) {
            missing[follower] -= 1;
            if missing[follower] == 0 {
                ready.push(std::cmp::Reverse(follower));
            }
        }
    }
    match missing.iter().position(|&missing| missing > 0) {
        None => Ok(order),
        Some(index) => {
            let reason = format!("`{}` waits for itself, through others or not", short(&nodes[index].id));
            Err(Error::malformed(format!("workload.nodes[{index}].after"), reason))
        }
    }
}

/// A name as part of a message.
fn short(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(60).collect()
}
