//! The data that a program leaves at every rank, with symbols for elements, against the data that the collective asks for.

use std::collections::{BTreeMap, BTreeSet};

use lightloom_runtime::{Copies, PlanProgram, Program};
use model::{Collective, Plan};

/// An element: which one of the data that the collective moves, and the ranks whose contributions it has.
type Symbol = ((usize, usize, u64), BTreeSet<usize>);
type Memory = Vec<Option<Symbol>>;

/// Asserts that every rank ends with what the collective says.
pub fn check(plan: &Plan, made: &PlanProgram, element_bytes: u64) {
    let data = Data { plan, made, element_bytes };
    data.check_sizes();
    let inputs: Vec<Memory> = (0..data.ranks()).map(|rank| data.input(rank)).collect();
    let empty = |bytes: &[u64]| -> Vec<Memory> { bytes.iter().map(|&one| vec![None; data.elements(one)]).collect() };
    let (mut workspaces, mut outputs) = (empty(&made.program.workspace_bytes), empty(&made.output_bytes));
    data.copy(&made.loads, &inputs, &mut workspaces);
    for step in 0..made.program.steps as usize {
        data.execute(&made.program, step, &mut workspaces);
    }
    data.copy(&made.stores, &workspaces, &mut outputs);
    for (rank, output) in outputs.into_iter().enumerate() {
        let found: Vec<Symbol> = output.into_iter().map(|one| one.expect("an output that is written")).collect();
        assert_eq!(found, data.output(rank), "{} {}: rank {rank}", plan.algorithm, plan.collective().name());
    }
}

/// A plan's data in elements.
struct Data<'a> {
    plan: &'a Plan,
    made: &'a PlanProgram,
    element_bytes: u64,
}

impl Data<'_> {
    fn ranks(&self) -> usize {
        self.made.program.ranks as usize
    }

    fn elements(&self, bytes: u64) -> usize {
        assert_eq!(bytes % self.element_bytes, 0, "whole elements");
        (bytes / self.element_bytes) as usize
    }

    /// Elements of a rank's whole buffer.
    fn buffer(&self) -> u64 {
        self.plan.size_bytes / self.element_bytes
    }

    /// Symbols of elements of the whole buffer, with these contributors.
    fn of_buffer(&self, range: std::ops::Range<u64>, contributors: impl Fn(u64) -> BTreeSet<usize>) -> Vec<Symbol> {
        range.map(|element| ((0, 0, element), contributors(element))).collect()
    }

    /// A rank's share of the whole buffer.
    fn share(&self, rank: usize) -> std::ops::Range<u64> {
        let (rank, ranks) = (rank as u64, self.ranks() as u64);
        rank * self.buffer() / ranks..(rank + 1) * self.buffer() / ranks
    }

    /// Elements from a rank to another in an All-to-All.
    fn block(&self, source: usize, destination: usize) -> Vec<Symbol> {
        let blocks = self.made.blocks.as_deref().expect("blocks");
        let count = blocks[source * self.ranks() + destination];
        (0..count).map(|element| ((source, destination, element), BTreeSet::from([source]))).collect()
    }

    fn is_root(&self, rank: usize) -> bool {
        self.plan.chunks.root() == Some(rank as u32)
    }

    fn input(&self, rank: usize) -> Memory {
        let own = |_| BTreeSet::from([rank]);
        let symbols = match self.plan.collective() {
            Collective::AllReduce | Collective::ReduceScatter | Collective::Reduce => {
                self.of_buffer(0..self.buffer(), own)
            }
            Collective::AllGather | Collective::Gather => self.of_buffer(self.share(rank), own),
            Collective::Broadcast | Collective::Scatter if self.is_root(rank) => self.of_buffer(0..self.buffer(), own),
            Collective::Broadcast | Collective::Scatter => Vec::new(),
            Collective::AllToAll => (0..self.ranks()).flat_map(|to| self.block(rank, to)).collect(),
        };
        assert_eq!(symbols.len(), self.elements(self.made.input_bytes[rank]));
        symbols.into_iter().map(Some).collect()
    }

    fn output(&self, rank: usize) -> Vec<Symbol> {
        let all: BTreeSet<usize> = (0..self.ranks()).collect();
        let owner = |element| (0..self.ranks()).filter(|&rank| self.share(rank).contains(&element)).collect();
        let root = || self.plan.chunks.root().map(|root| root as usize).into_iter().collect();
        match self.plan.collective() {
            Collective::AllReduce => self.of_buffer(0..self.buffer(), |_| all.clone()),
            Collective::ReduceScatter => self.of_buffer(self.share(rank), |_| all.clone()),
            Collective::AllGather => self.of_buffer(0..self.buffer(), owner),
            Collective::Broadcast => self.of_buffer(0..self.buffer(), |_| root()),
            Collective::Scatter => self.of_buffer(self.share(rank), |_| root()),
            Collective::Reduce | Collective::Gather if !self.is_root(rank) => Vec::new(),
            Collective::Reduce => self.of_buffer(0..self.buffer(), |_| all.clone()),
            Collective::Gather => self.of_buffer(0..self.buffer(), owner),
            Collective::AllToAll => (0..self.ranks()).flat_map(|from| self.block(from, rank)).collect(),
        }
    }

    /// Blocks have the elements of the plan's chunks: equal ones a whole buffer together, others their own bytes.
    fn check_sizes(&self) {
        let Some(blocks) = &self.made.blocks else { return };
        let chunks = &self.plan.chunks;
        if chunks.as_pieces().is_none() {
            assert!(blocks.chunks(self.ranks()).all(|row| row.iter().sum::<u64>() == self.buffer()));
            return;
        }
        let mut bytes = vec![0.0; blocks.len()];
        for piece in chunks.as_pieces().unwrap_or_default() {
            bytes[piece.src as usize * self.ranks() + piece.dst as usize] += piece.share * self.plan.size_bytes as f64;
        }
        for (&block, bytes) in blocks.iter().zip(bytes) {
            let needed = bytes / self.element_bytes as f64;
            assert!((block as f64 - needed) > -1e-6 && (block as f64) < needed + 1.0, "{block} for {needed} elements");
        }
    }

    fn copy(&self, copies: &Copies, from: &[Memory], to: &mut [Memory]) {
        for (copy, &rank) in copies.rank.iter().enumerate() {
            let columns = [&copies.source_offset, &copies.destination_offset, &copies.size_bytes];
            let [source, destination, size] = columns.map(|one| self.elements(one[copy]));
            assert!(size > 0, "a copy of nothing");
            let rank = rank as usize;
            to[rank][destination..destination + size].clone_from_slice(&from[rank][source..source + size]);
        }
    }

    /// Everything that a step sends is what was there when it began.
    fn execute(&self, program: &Program, step: usize, workspaces: &mut [Memory]) {
        let before = workspaces.to_vec();
        let columns = [&program.source_offset, &program.destination_offset, &program.size_bytes];
        for message in program.of_step(step) {
            let path = program.path(message);
            let (from, to) = (path[0] as usize, path[path.len() - 1] as usize);
            for segment in program.segments(message) {
                let [source, destination, size] = columns.map(|one| self.elements(one[segment]));
                for element in 0..size {
                    let arriving = before[from][source + element].clone().expect("what is sent is there");
                    let place = &mut workspaces[to][destination + element];
                    let reduces = program.is_reduction[segment];
                    *place = Some(if reduces { reduced(place.take(), arriving) } else { arriving });
                }
            }
        }
    }
}

/// Two parts of a sum, which no rank contributes to twice.
fn reduced(own: Option<Symbol>, arriving: Symbol) -> Symbol {
    let (element, mut contributors) = own.expect("what is reduced is there");
    assert_eq!(element, arriving.0, "sums of one element");
    assert!(contributors.is_disjoint(&arriving.1), "a contribution that counts twice");
    contributors.extend(arriving.1);
    (element, contributors)
}

/// Asserts that paths carry what their shares say, of what one rank sends to another, but for parts of elements.
pub fn check_shares(plan: &Plan, made: &PlanProgram, element_bytes: u64) {
    let program = &made.program;
    for (step, planned) in plan.steps.iter().enumerate() {
        let mut found: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        for message in program.of_step(step) {
            *found.entry(program.path(message).to_vec()).or_default() += program.message_bytes(message) / element_bytes;
        }
        for arc in planned.routes.expanded() {
            let mut shares: BTreeMap<Vec<u32>, (f64, f64)> = BTreeMap::new();
            for path in arc.paths {
                let (share, paths) = shares.entry(path.nodes).or_default();
                (*share, *paths) = (*share + path.share, *paths + 1.0);
            }
            let carried = |nodes: &Vec<u32>| found.get(nodes).copied().unwrap_or(0) as f64;
            let row: f64 = shares.keys().map(carried).sum();
            for (nodes, (share, paths)) in &shares {
                assert!((carried(nodes) - share * row).abs() <= paths + 1e-6, "{nodes:?} of {row}");
            }
        }
    }
}
