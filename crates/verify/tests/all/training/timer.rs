//! A timer of serial iterations: events one after another, iteration after iteration from dark ports on, until one is
//! like the one before. It knows circuits by what they are called.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Axis, Bound, Collective, Initial, Over, Plan, Ranks, TrainingEvent, TrainingPlan, Work, Workload, WorkloadNode,
    WorkloadParts,
};

use super::group_plans::{BYTES, CHANGE_S, HOP_S, STARTUP_S, all_gather, all_gather_s, fabric, hops};

pub const TP: u32 = 4;
pub const DP: u32 = 2;
pub const PORTS: u32 = 3;

/// A node and how it runs. Axis 0 has groups of 4 in a row, axis 1 groups of 2 that are 4 apart.
#[derive(Debug, Clone)]
pub enum Item {
    Compute {
        duration_s: f64,
    },
    Gather {
        axis: usize,
        size_bytes: u64,
        ports: Vec<u32>,
        shifts: Vec<u32>,
        initial: Option<u32>,
        returns: bool,
    },
    Direct {
        pairs: Vec<(u32, u32)>,
        size_bytes: u64,
        ports: Vec<u32>,
        returns: bool,
    },
    /// Over the ring of this shift that the first four ranks have.
    Routed {
        pairs: Vec<(u32, u32)>,
        size_bytes: u64,
        ports: Vec<u32>,
        shift: u32,
    },
}

#[derive(Debug, Clone)]
struct State {
    circuits: String,
    busy_until_s: f64,
    /// Iteration and item.
    user: (usize, usize),
    /// The last message that went over its circuits on the way, and until when.
    passed: Option<(f64, (usize, usize))>,
}

impl Item {
    fn ports(&self) -> &[u32] {
        match self {
            Self::Compute { .. } => &[],
            Self::Gather { ports, .. } | Self::Direct { ports, .. } | Self::Routed { ports, .. } => ports,
        }
    }

    fn seconds(&self) -> f64 {
        match self {
            Self::Compute { duration_s } => *duration_s,
            Self::Gather { axis, size_bytes, ports, shifts, .. } => {
                all_gather_s([TP, DP][*axis], ports.len() as u32, *size_bytes, shifts)
            }
            Self::Direct { size_bytes, ports, .. } => {
                STARTUP_S + HOP_S + *size_bytes as f64 / BYTES / ports.len() as f64
            }
            Self::Routed { pairs, size_bytes, ports, shift } => {
                let mut on_link = [0; TP as usize];
                let ways: Vec<u32> = pairs.iter().map(|(src, dst)| hops(TP, *shift, TP + dst - src)).collect();
                for ((src, _), way) in pairs.iter().zip(&ways) {
                    (0..*way).for_each(|hop| on_link[((src + hop * shift) % TP) as usize] += 1);
                }
                let (most, longest) = (*on_link.iter().max().unwrap(), *ways.iter().max().unwrap());
                let load = f64::from(most) / ports.len() as f64;
                STARTUP_S + HOP_S * f64::from(longest) + *size_bytes as f64 / BYTES * load
            }
        }
    }

    /// By rank the circuits that it needs and those that it leaves; `rest` is what a port that rests is said to have.
    fn circuits(&self) -> BTreeMap<u32, [Option<String>; 2]> {
        let rest = |returns: bool, circuits: String| Some(if returns { "rest".into() } else { circuits });
        match self {
            Self::Compute { .. } => BTreeMap::new(),
            Self::Gather { axis, ports, shifts, returns, .. } => {
                let of = |rank: u32, shift: u32| {
                    let group = if *axis == 0 { rank / TP } else { rank % TP };
                    format!("axis {axis} group {group} shift {shift} ports {ports:?}")
                };
                let last = *shifts.last().unwrap();
                (0..TP * DP).map(|rank| (rank, [Some(of(rank, shifts[0])), rest(*returns, of(rank, last))])).collect()
            }
            Self::Direct { pairs, ports, returns, .. } => {
                let ends = pairs.iter().flat_map(|&(source, destination)| [source, destination]);
                let of = |rank: u32| {
                    let mine: Vec<_> = pairs.iter().filter(|pair| pair.0 == rank || pair.1 == rank).collect();
                    format!("messages {mine:?} ports {ports:?}")
                };
                ends.map(|rank| (rank, [Some(of(rank)), rest(*returns, of(rank))])).collect()
            }
            Self::Routed { pairs, .. } => pairs
                .iter()
                .flat_map(|&(source, destination)| [source, destination])
                .map(|rank| (rank, [None, None]))
                .collect(),
        }
    }

    /// Ranks over whose circuits a message goes.
    fn on_the_way(&self) -> BTreeSet<u32> {
        let Self::Routed { pairs, shift, .. } = self else { return BTreeSet::new() };
        let way = |(src, dst): &(u32, u32)| {
            let src = *src;
            (0..hops(TP, *shift, TP + dst - src)).map(move |hop| (src + hop * shift) % TP)
        };
        pairs.iter().flat_map(way).collect()
    }

    /// Whether ports change after it, on the way to rest.
    fn changes_back(&self) -> bool {
        match self {
            Self::Gather { shifts, initial, returns, .. } => *returns && *initial != shifts.last().copied(),
            Self::Direct { returns, .. } => *returns,
            _ => false,
        }
    }

    /// Whether ports that rest have what it needs.
    fn starts_at_rest(&self) -> bool {
        matches!(self, Self::Gather { shifts, initial: Some(initial), .. } if *initial == shifts[0])
    }

    fn returns(&self) -> bool {
        matches!(self, Self::Gather { returns: true, .. } | Self::Direct { returns: true, .. })
    }

    fn work(&self) -> Work {
        match self {
            Self::Compute { duration_s } => Work::Compute { ranks: Ranks::All, duration_s: *duration_s },
            Self::Gather { axis, size_bytes, .. } => Work::Collective {
                collective: Collective::AllGather,
                over: Over::Axis { axis: *axis, within: Ranks::All },
                size_bytes: *size_bytes,
                matrix: None,
                stream: Some("gathers".into()),
            },
            Self::Direct { pairs, size_bytes, .. } | Self::Routed { pairs, size_bytes, .. } => {
                Work::Send { pairs: pairs.clone(), size_bytes: *size_bytes }
            }
        }
    }

    fn plan(&self) -> Option<Plan> {
        match self {
            Self::Gather { axis, size_bytes, ports, shifts, initial, .. } => {
                Some(all_gather([TP, DP][*axis], ports.len() as u32, *size_bytes, shifts, *initial))
            }
            _ => None,
        }
    }
}

/// Workload and mesh of items that depend each on the one before.
pub fn workload(items: &[Item]) -> Workload {
    let nodes = items.iter().enumerate().map(|(index, item)| WorkloadNode {
        id: format!("n{index}"),
        after: index.checked_sub(1).into_iter().collect(),
        work: item.work(),
    });
    let axis = |name: &str, size| Axis { name: name.into(), size };
    Workload::new(WorkloadParts {
        name: None,
        ranks: TP * DP,
        mesh: vec![axis("tp", TP), axis("dp", DP)],
        groups: Vec::new(),
        matrices: Vec::new(),
        same_bits: false,
        model_flops: None,
        peak_flops: None,
        inference: None,
        nodes: nodes.collect(),
    })
    .unwrap()
}

/// The iteration that items make when they run one after another, for ever.
pub fn timed(items: &[Item]) -> TrainingPlan {
    settled(items).unwrap()
}

/// [`timed`]; `None` where iterations do not become alike, as when they come in turns of two.
pub fn settled(items: &[Item]) -> Option<TrainingPlan> {
    let mut ports: BTreeMap<(u32, u32), State> = BTreeMap::new();
    let (mut begin_s, mut before) = (0.0, Vec::new());
    for iteration in 0..1000 {
        let mut end_s: f64 = begin_s;
        let mut events = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let event = run(item, (iteration, index), end_s, &mut ports);
            end_s = event.end_s;
            events.push(event);
        }
        for event in &mut events {
            event.start_s = (event.start_s - begin_s).max(0.0);
            event.end_s -= begin_s;
        }
        begin_s = end_s;
        let times = |events: &[TrainingEvent]| events.iter().map(|event| event.start_s).collect::<Vec<_>>();
        let is_like = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 2e-15);
        if iteration > 1 && is_like(times(&events), times(&before)) {
            return Some(whole(items, events));
        }
        before = events;
    }
    None
}

fn run(item: &Item, at: (usize, usize), ready_s: f64, ports: &mut BTreeMap<(u32, u32), State>) -> TrainingEvent {
    let (mut else_s, mut start_s) = (ready_s, ready_s);
    let mut waits_for = at.1.checked_sub(1);
    let mut reconfigured = false;
    let circuits = item.circuits();
    let mut latest = |until_s: f64, user: (usize, usize)| {
        if until_s > start_s {
            (start_s, waits_for) = (until_s, Some(user.1).filter(|_| user.0 == at.0));
        }
    };
    for (rank, [needs, _]) in &circuits {
        for port in item.ports() {
            let Some(state) = ports.get(&(*rank, *port)) else {
                reconfigured |= needs.is_some();
                continue;
            };
            else_s = else_s.max(state.busy_until_s);
            latest(state.busy_until_s, state.user);
            let rests = state.circuits == "rest" && item.starts_at_rest();
            if !rests && needs.as_ref().is_some_and(|needs| *needs != state.circuits) {
                reconfigured = true;
                latest(state.busy_until_s + CHANGE_S, state.user);
                if let Some((until_s, user)) = state.passed {
                    latest(until_s + CHANGE_S, user);
                }
            }
        }
    }
    let end_s = start_s + item.seconds();
    let busy_until_s = end_s + if item.changes_back() { CHANGE_S } else { 0.0 };
    for (rank, [_, leaves]) in circuits {
        for &port in item.ports() {
            let before = ports.get(&(rank, port)).cloned();
            let passed = before.as_ref().and_then(|state| state.passed);
            let circuits = leaves.clone().or(before.map(|state| state.circuits)).unwrap_or_default();
            ports.insert((rank, port), State { circuits, busy_until_s, user: at, passed });
        }
    }
    for (rank, &port) in
        item.on_the_way().into_iter().flat_map(|rank| item.ports().iter().map(move |port| (rank, port)))
    {
        ports.get_mut(&(rank, port)).unwrap().passed = Some((end_s, at));
    }
    TrainingEvent {
        start_s,
        end_s,
        plan: None,
        ports: item.ports().to_vec(),
        reconfigured,
        returns: item.returns(),
        direct: matches!(item, Item::Direct { .. }),
        topology: None,
        reconfiguration_exposed_s: start_s - else_s,
        waits_for,
        gives_up: Vec::new(),
    }
}

fn whole(items: &[Item], mut events: Vec<TrainingEvent>) -> TrainingPlan {
    let mut plans = Vec::new();
    for (item, event) in items.iter().zip(&mut events) {
        if let Some(plan) = item.plan() {
            event.plan = Some(plans.len());
            plans.push(plan);
        }
    }
    let durations = items.iter().filter_map(|item| match item {
        Item::Compute { duration_s } => Some(*duration_s),
        _ => None,
    });
    let compute_s = durations.sum();
    assemble(workload(items), fabric(TP * DP, PORTS, Initial::Free), events, plans, compute_s)
}

/// The plan of events that are given: sums and critical path of the last of them.
pub fn assemble(
    workload: Workload,
    fabric: model::Fabric,
    events: Vec<TrainingEvent>,
    plans: Vec<Plan>,
    compute_s: f64,
) -> TrainingPlan {
    let total_s = events.iter().map(|event| event.end_s).fold(0.0, f64::max);
    let mut path: BTreeMap<String, f64> = BTreeMap::new();
    let mut next = events.iter().position(|event| event.end_s == total_s);
    while let Some(index) = next {
        let event = &events[index];
        let before_s = event.waits_for.map_or(0.0, |other| events[other].end_s);
        *path.entry(workload.label_of(index)).or_default() += event.end_s - event.start_s;
        *path.entry("reconfiguration".into()).or_default() += event.start_s - before_s;
        next = event.waits_for;
    }
    let reconfigurations = events.iter().filter(|event| event.reconfigured).count();
    let exposed_s: f64 = events.iter().map(|event| event.reconfiguration_exposed_s).sum();
    let change_s = fabric.reconfiguration.delay().constant_s().unwrap();
    TrainingPlan {
        policy: "carry".into(),
        exact: false,
        workload,
        fabric,
        resting: "ring".into(),
        events,
        topologies: Vec::new(),
        plans,
        total_s,
        compute_s,
        bound: Bound { seconds: compute_s, class: "computation".into() },
        order_bound_s: compute_s,
        order_exact: false,
        reconfigurations,
        reconfiguration_hidden_s: (change_s * reconfigurations as f64 - exposed_s).max(0.0),
        reconfiguration_exposed_s: exposed_s,
        critical_path_s: path.into_iter().collect(),
        policies: vec![("carry".into(), Some(total_s)), ("static".into(), None), ("packet-switch".into(), Some(0.0))],
        first_token_s: Vec::new(),
        caches_s: Vec::new(),
        policy_notes: Vec::new(),
    }
}
