//! The structures that C sees, filled from a plan.

use model::{Link, Op, PlanStep, Result, SentPath, SentTransfer};

use crate::plan::{LightloomPlan, index_of};
use crate::views::{
    LightloomChunk, LightloomCircuit, LightloomOperation, LightloomPath, LightloomStep, LightloomSummary,
    LightloomTopology, LightloomTransfer,
};

impl LightloomSummary {
    /// The plan's properties and cost.
    pub fn of(held: &LightloomPlan) -> Self {
        let (plan, texts) = (held.plan(), held.texts());
        Self {
            collective: texts.collective.as_ptr(),
            algorithm: texts.algorithm.as_ptr(),
            planner: texts.planner.as_ptr(),
            bound_class: texts.bound_class.as_ptr(),
            size_bytes: plan.size_bytes,
            total_s: plan.total_s(),
            lower_bound_s: plan.bound.seconds,
            gpus: plan.fabric.shape.gpus(),
            ports: plan.fabric.shape.ports(),
            steps: plan.steps.len() as u32,
            topologies: plan.topologies.len() as u32,
            reconfigurations: plan.reconfigurations() as u32,
            chunks: plan.chunks.count(),
            initial_topology: plan.initial_index().map_or(-1, |index| index as i64),
        }
    }
}

impl LightloomStep {
    /// The step's numbers.
    pub fn of(step: &PlanStep) -> Self {
        let paths: usize = step.routes.arcs.iter().map(|arc| arc.paths.len()).sum();
        Self {
            topology: step.topology as u32,
            reconfigured: step.reconfigured,
            hops: step.hops,
            load: step.load,
            transfer_bytes: step.transfer_bytes,
            startup_s: step.cost.startup_s,
            propagation_s: step.cost.propagation_s,
            transmission_s: step.cost.transmission_s,
            reconfiguration_s: step.cost.reconfiguration_s,
            barrier_s: step.cost.barrier_s,
            transfers: step.step.transfers().len() as u64 * u64::from(step.step.symmetry().order()),
            paths: paths as u64 * u64::from(step.routes.symmetry.order()),
        }
    }
}

impl LightloomTopology {
    /// The topology's name and size.
    ///
    /// # Errors
    /// The index is too large.
    pub fn of(held: &LightloomPlan, index: u32) -> Result<Self> {
        let circuits = held.circuits(index)?.len() as u64;
        Ok(Self { name: held.texts().topologies[index as usize].as_ptr(), circuits })
    }
}

impl LightloomCircuit {
    /// The circuits of a link.
    pub fn of(link: &Link) -> Self {
        Self { source: link.src, destination: link.dst, count: link.count }
    }
}

impl LightloomTransfer {
    /// The transfer, whose chunks stay where they are.
    pub fn of(sent: &SentTransfer) -> Self {
        let operation = match sent.op {
            Op::Copy => LightloomOperation::Copy,
            Op::Reduce => LightloomOperation::Reduce,
        };
        Self {
            source: sent.src,
            destination: sent.dst,
            operation,
            bytes: sent.bytes,
            chunks: sent.chunks.as_ptr(),
            chunk_count: sent.chunks.len(),
        }
    }
}

impl LightloomPath {
    /// The path, whose GPUs stay where they are.
    pub fn of(sent: &SentPath) -> Self {
        Self {
            source: sent.src,
            destination: sent.dst,
            share: sent.share,
            bytes: sent.bytes,
            gpus: sent.nodes.as_ptr(),
            gpu_count: sent.nodes.len(),
        }
    }
}

impl LightloomChunk {
    /// The chunk's ends and size.
    ///
    /// # Errors
    /// The index is too large.
    pub fn of(held: &LightloomPlan, index: u32) -> Result<Self> {
        let (plan, chunks) = (held.plan(), &held.plan().chunks);
        index_of("chunk", u64::from(index), chunks.count() as usize)?;
        Ok(Self {
            source: chunks.first_rank(index).map_or(-1, i64::from),
            destination: chunks.last_rank(index).map_or(-1, i64::from),
            bytes: plan.size_bytes as f64 * chunks.share(index),
        })
    }
}
