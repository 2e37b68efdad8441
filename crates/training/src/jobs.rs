//! A workload as the planner takes it: nodes with what they wait for, classes of ranks that always act together, and
//! the distinct communications.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cutoffs::jobs::FEW;
use model::{ByteMatrix, Collective, Over, Rank, Work, Workload};

/// The groups that communicate: of one size along one axis, or of one size anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FamilyKey {
    /// The groups of an axis.
    Axis(usize),
    /// Named groups of a size.
    Size(u32),
    /// All ranks as one group.
    World,
}

/// Groups whose plans and topologies are the same but for the ranks.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    pub(crate) key: FamilyKey,
    /// Ranks of a group.
    pub(crate) size: u32,
    /// The name that users see.
    pub(crate) label: String,
    /// Whether some rank is in several different groups of it, which then cannot all have their topologies at once.
    pub(crate) overlaps: bool,
}

/// The communication within a group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Message {
    Collective(Collective),
    /// Messages between places of the group.
    Send(Vec<(u32, u32)>),
}

/// Communications that differ only in when and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    /// Index of the family.
    pub(crate) family: usize,
    pub(crate) message: Message,
    pub(crate) size_bytes: u64,
    /// Bytes between the places of the group, of an All-to-All whose blocks differ.
    pub(crate) matrix: Option<Arc<ByteMatrix>>,
}

impl Kind {
    /// The kind whose plans are those of a ReduceScatter, an AllGather or a matrix's All-to-All backwards.
    pub(crate) fn mirrored(&self) -> Option<Self> {
        let (collective, matrix) = match (&self.message, &self.matrix) {
            (Message::Collective(Collective::AllToAll), Some(matrix)) => {
                (Collective::AllToAll, Some(Arc::new(matrix.transposed())))
            }
            // A broadcast's reverse, a reduce, may have other plans: only blocks of ranks are known to be the same.
            (Message::Collective(one @ (Collective::ReduceScatter | Collective::AllGather)), _) => {
                (one.backwards()?, None)
            }
            _ => return None,
        };
        Some(Self { message: Message::Collective(collective), matrix, ..self.clone() })
    }
}

/// The work of a node, as the planner takes it.
#[derive(Debug, Clone)]
pub(crate) enum Task {
    Compute {
        duration_s: f64,
    },
    Communicate {
        /// Index of the kind.
        kind: usize,
        /// Index of the lane: communications of a family on one stream, which are given ports together.
        lane: usize,
        /// By class: a number that says which groups its ranks are in.
        groups: Vec<u32>,
        /// By class, of messages: a number that says which pairs its ranks are in; else empty.
        pairs: Vec<u32>,
        /// By class of all ranks, of messages: a number that says which groups its ranks are in; else empty.
        around: Vec<u32>,
    },
}

/// A node of the workload.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) task: Task,
    /// Classes that take part, ascending.
    pub(crate) classes: Vec<usize>,
    /// Nodes that must have ended: those that the workload names, and the one before on a stream.
    pub(crate) before: Vec<usize>,
}

/// A workload made ready.
#[derive(Debug, Clone)]
pub(crate) struct Jobs {
    pub(crate) jobs: Vec<Job>,
    /// For each node, the nodes that wait for it.
    pub(crate) followers: Vec<Vec<usize>>,
    /// Nodes, each after all that it waits for.
    pub(crate) order: Vec<usize>,
    /// Number of classes of ranks.
    pub(crate) classes: usize,
    /// All of them, ascending.
    pub(crate) all: Vec<usize>,
    /// Ranks of each class, ascending.
    pub(crate) members: Vec<Vec<Rank>>,
    pub(crate) families: Vec<Family>,
    pub(crate) kinds: Vec<Kind>,
}

impl Jobs {
    pub(crate) fn of(workload: &Workload) -> Self {
        let nodes = workload.nodes.len();
        let ranks: Vec<Vec<Rank>> = (0..nodes).map(|node| workload.ranks_of(node)).collect();
        let (class_of, classes) = classes_of(workload.ranks as usize, &ranks);
        let mut members = vec![Vec::new(); classes];
        (0..).zip(&class_of).for_each(|(rank, &class)| members[class].push(rank));
        let mut made = Self {
            members,
            jobs: Vec::with_capacity(nodes),
            followers: vec![Vec::new(); nodes],
            order: workload.order().to_vec(),
            classes,
            all: (0..classes).collect(),
            families: Vec::new(),
            kinds: Vec::new(),
        };
        let mut lanes = Vec::new();
        let mut names = Interned::default();
        for (node, ranks) in ranks.iter().enumerate() {
            let mut of_node: Vec<usize> = ranks.iter().map(|&rank| class_of[rank as usize]).collect();
            of_node.sort_unstable();
            of_node.dedup();
            let task = made.task(workload, node, &class_of, &of_node, (&mut names, &mut lanes));
            workload.waits_of(node).iter().for_each(|&before| made.followers[before].push(node));
            made.jobs.push(Job { task, classes: of_node, before: workload.waits_of(node).to_vec() });
        }
        made.find_overlaps(workload);
        made
    }

    fn task(
        &mut self,
        workload: &Workload,
        node: usize,
        class_of: &[usize],
        classes: &[usize],
        (names, lanes): (&mut Interned, &mut Vec<(usize, Option<String>)>),
    ) -> Task {
        let (groups, message, size_bytes, key, stream) = match &workload.nodes[node].work {
            Work::Compute { duration_s, .. } => return Task::Compute { duration_s: *duration_s },
            Work::Collective { collective, over, size_bytes, stream, .. } => {
                let groups = workload.groups_of(node);
                let key = match over {
                    Over::Axis { axis, .. } => FamilyKey::Axis(*axis),
                    Over::Groups(_) => FamilyKey::Size(groups[0].len() as u32),
                };
                (groups, Message::Collective(*collective), *size_bytes, key, stream.clone())
            }
            Work::Send { pairs, size_bytes } => {
                let (groups, places, key) = groups_of_pairs(workload, pairs);
                (groups, Message::Send(places), *size_bytes, key, None)
            }
        };
        let size = groups[0].len() as u32;
        let family = position(
            &mut self.families,
            |family| family.key == key,
            || Family {
                key,
                size,
                label: match key {
                    FamilyKey::Axis(axis) => workload.mesh[axis].name.clone(),
                    FamilyKey::Size(size) => format!("groups of {size}"),
                    FamilyKey::World => "all ranks".into(),
                },
                overlaps: false,
            },
        );
        let pairs = match (&workload.nodes[node].work, &message) {
            (Work::Send { pairs, .. }, Message::Send(_)) => {
                let touching = |class: usize| {
                    let of_class = |rank: &Rank| class_of[*rank as usize] == class;
                    let both = pairs.iter().filter(|(source, destination)| of_class(source) || of_class(destination));
                    both.map(|&(source, destination)| vec![source, destination]).collect()
                };
                classes.iter().map(|&class| names.number(touching(class))).collect()
            }
            _ => Vec::new(),
        };
        let is_send = matches!(message, Message::Send(_));
        let mut of_class = |class: usize| {
            let touches = |group: &&Vec<Rank>| group.iter().any(|&rank| class_of[rank as usize] == class);
            names.number(groups.iter().filter(touches).cloned().collect())
        };
        let around = if is_send { (0..self.classes).map(&mut of_class).collect() } else { Vec::new() };
        let of_classes = classes.iter().copied().map(of_class).collect();
        let matrix = workload.matrix_of(node).map(Arc::new);
        let kind = Kind { family, message, size_bytes, matrix };
        let lane = (family, stream);
        Task::Communicate {
            groups: of_classes,
            pairs,
            around,
            kind: position(&mut self.kinds, |known| *known == kind, || kind.clone()),
            lane: position(lanes, |known| *known == lane, || lane.clone()),
        }
    }

    /// Named groups may share ranks; those of an axis do not.
    fn find_overlaps(&mut self, workload: &Workload) {
        let mut group_of: BTreeMap<(usize, Rank), Vec<Rank>> = BTreeMap::new();
        for (node, job) in self.jobs.iter().enumerate() {
            interruption::check();
            let Task::Communicate { kind, .. } = job.task else { continue };
            let family = self.kinds[kind].family;
            if !matches!(self.families[family].key, FamilyKey::Size(_)) {
                continue;
            }
            for group in workload.groups_of(node) {
                for &rank in &group {
                    let known = group_of.entry((family, rank)).or_insert_with(|| group.clone());
                    self.families[family].overlaps |= *known != group;
                }
            }
        }
    }

    /// The communications of each lane.
    pub(crate) fn lanes(&self) -> Vec<Vec<usize>> {
        let mut lanes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (node, job) in self.jobs.iter().enumerate() {
            if let Task::Communicate { lane, .. } = job.task {
                lanes.entry(lane).or_default().push(node);
            }
        }
        lanes.into_values().collect()
    }

    /// Whether there are so few communications that they are chosen one by one.
    pub(crate) fn are_few(&self) -> bool {
        self.jobs.iter().filter(|job| matches!(job.task, Task::Communicate { .. })).count() <= FEW
    }

    /// The family of a communication.
    pub(crate) fn family_of(&self, node: usize) -> Option<usize> {
        match self.jobs[node].task {
            Task::Communicate { kind, .. } => Some(self.kinds[kind].family),
            Task::Compute { .. } => None,
        }
    }

    /// The communications in an order in which each waits for all before, where every node of the workload waits for
    /// the one before it; none otherwise.
    pub(crate) fn in_series(&self) -> Option<Vec<usize>> {
        let follows = |pair: &[usize]| self.jobs[pair[1]].before.contains(&pair[0]);
        if !self.order.windows(2).all(follows) {
            return None;
        }
        let communicates = |node: &usize| matches!(self.jobs[*node].task, Task::Communicate { .. });
        Some(self.order.iter().copied().filter(communicates).collect())
    }
}

/// Index of the item that is wanted, which is made if missing.
fn position<T>(items: &mut Vec<T>, is_it: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> usize {
    items.iter().position(is_it).unwrap_or_else(|| {
        items.push(make());
        items.len() - 1
    })
}

/// Numbers for lists of groups.
#[derive(Default)]
struct Interned(BTreeMap<Vec<Vec<Rank>>, u32>);

impl Interned {
    fn number(&mut self, mut groups: Vec<Vec<Rank>>) -> u32 {
        groups.sort_unstable();
        let next = self.0.len() as u32;
        *self.0.entry(groups).or_insert(next)
    }
}

/// The class of every rank, and how many there are: ranks of one class take part in the same nodes.
fn classes_of(ranks: usize, nodes: &[Vec<Rank>]) -> (Vec<usize>, usize) {
    let mut class_of = vec![0; ranks];
    let mut classes = 1;
    let mut seen: std::collections::BTreeSet<&[Rank]> = std::collections::BTreeSet::new();
    for members in nodes {
        interruption::check();
        if members.len() == ranks || !seen.insert(members) {
            continue;
        }
        let mut sizes = vec![0usize; classes];
        for &class in &class_of {
            sizes[class] += 1;
        }
        let mut inside: BTreeMap<usize, usize> = BTreeMap::new();
        for &rank in members {
            *inside.entry(class_of[rank as usize]).or_default() += 1;
        }
        let split: BTreeMap<usize, usize> = inside
            .into_iter()
            .filter(|&(class, count)| count < sizes[class])
            .enumerate()
            .map(|(extra, (class, _))| (class, classes + extra))
            .collect();
        for &rank in members {
            if let Some(&new) = split.get(&class_of[rank as usize]) {
                class_of[rank as usize] = new;
            }
        }
        classes += split.len();
    }
    (class_of, classes)
}

/// The groups that messages stay within, and the places in each group that they go between: along the first axis whose
/// groups all have the same messages; else all ranks are one group.
pub(crate) fn groups_of_pairs(
    workload: &Workload,
    pairs: &[(Rank, Rank)],
) -> (Vec<Vec<Rank>>, Vec<(u32, u32)>, FamilyKey) {
    for axis in 0..workload.mesh.len() {
        let groups = workload.axis_groups(axis);
        let mut place = vec![(0usize, 0u32); workload.ranks as usize];
        for (index, group) in groups.iter().enumerate() {
            for (at, &rank) in group.iter().enumerate() {
                place[rank as usize] = (index, at as u32);
            }
        }
        let mut of_group: Vec<Vec<(u32, u32)>> = vec![Vec::new(); groups.len()];
        let inside = pairs.iter().all(|&(source, destination)| {
            let (from, to) = (place[source as usize], place[destination as usize]);
            of_group[from.0].push((from.1, to.1));
            from.0 == to.0
        });
        of_group.iter_mut().for_each(|places| places.sort_unstable());
        of_group.dedup();
        if inside && of_group.len() == 1 {
            return (groups, of_group.remove(0), FamilyKey::Axis(axis));
        }
    }
    let mut places = pairs.to_vec();
    places.sort_unstable();
    (vec![(0..workload.ranks).collect()], places, FamilyKey::World)
}
