//! `Schedule`.

use collectives::Options;
use model::{Chunks, Collective, Error, Op, Piece, Schedule, Shape, Step, Transfer};
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arguments::{self, shown, text, whole, wholes};
use crate::checks::{CheckTuple, checks};
use crate::input_error::CoreResult;
use crate::interrupts::interruptible;
use crate::pickles::{DigitTuple, Reduced, digits, of_parts, translations};

/// Source, destination, operation, chunks.
type TransferTuple = (u32, u32, &'static str, Vec<u32>);

#[pyclass(name = "Schedule", module = "lightloom._core", frozen)]
pub struct PySchedule(pub Schedule);

#[pymethods]
impl PySchedule {
    #[staticmethod]
    #[pyo3(signature = (algorithm, collective, gpus, dims=None, ports=None, radix=None, root=None, aggregation=None))]
    #[expect(clippy::too_many_arguments, reason = "it has as many as an algorithm's problem")]
    fn build(
        algorithm: &Bound<'_, PyAny>,
        collective: &Bound<'_, PyAny>,
        gpus: &Bound<'_, PyAny>,
        dims: Option<&Bound<'_, PyAny>>,
        ports: Option<&Bound<'_, PyAny>>,
        radix: Option<&Bound<'_, PyAny>>,
        root: Option<&Bound<'_, PyAny>>,
        aggregation: Option<&Bound<'_, PyAny>>,
    ) -> CoreResult<Self> {
        let dims = dims.map(|dims| wholes("dims", dims)).transpose()?.unwrap_or_default();
        let ports = ports.map(|ports| whole("ports", ports)).transpose()?.unwrap_or(1);
        let radix = radix.map(|radix| whole("radix", radix)).transpose()?;
        let root = root.map(|root| whole("root", root)).transpose()?;
        let shape = Shape::new(whole("gpus", gpus)?, &dims, ports)?;
        let algorithm = collectives::find(&text("algorithm", algorithm)?)?;
        let collective = Collective::parse(&text("collective", collective)?)?;
        let aggregation = aggregation.map(|blocks| whole("aggregation", blocks)).transpose()?;
        let options = Options { radix, aggregation, root };
        algorithm.accepts(collective, &shape, &options)?;
        lightloom::check_extent(shape.gpus(), algorithm.name(), algorithm.extent(collective, &shape, &options))?;
        Ok(Self(algorithm.build(collective, &shape, &options)?))
    }

    #[staticmethod]
    #[pyo3(signature = (algorithm, collective, gpus, parts, steps, *, whole_buffer=false, root=None, pieces=None))]
    #[expect(clippy::too_many_arguments, reason = "it has as many as a schedule is made of")]
    fn from_transfers(
        algorithm: &Bound<'_, PyAny>,
        collective: &Bound<'_, PyAny>,
        gpus: &Bound<'_, PyAny>,
        parts: &Bound<'_, PyAny>,
        steps: &Bound<'_, PyAny>,
        whole_buffer: bool,
        root: Option<&Bound<'_, PyAny>>,
        pieces: Option<&Bound<'_, PyAny>>,
    ) -> CoreResult<Self> {
        let ranks = Shape::new(whole("gpus", gpus)?, &[], 1)?.gpus();
        let collective = Collective::parse(&text("collective", collective)?)?;
        let root = root.map(|root| whole("root", root)).transpose()?.unwrap_or(0);
        let chunks = if let Some(pieces) = pieces {
            let accepts = "a list of pieces, each its source, its destination, and its share of the buffer's bytes";
            let pieces = pieces.extract().map_err(|_| Error::value("pieces", "what was given", accepts))?;
            if collective != Collective::AllToAll {
                return Err(Error::value("collective", collective.name(), "all-to-all where there are pieces").into());
            }
            chunks_of(collective, ranks, ("pieces".into(), 0, 0, pieces))?
        } else {
            let kind = match collective {
                _ if collective.has_root() => "rooted",
                _ if whole_buffer => "buffer",
                _ => "even",
            };
            chunks_of(collective, ranks, (kind.into(), root, whole("parts", parts)?, Vec::new()))?
        };
        let accepts = "a list of steps, each a list of transfers: source, destination, copy or reduce, and chunks";
        let steps = steps.extract::<Vec<Vec<(u32, u32, String, Vec<u32>)>>>();
        let steps = steps.map_err(|_| Error::value("steps", "what was given", accepts))?;
        let steps = steps.into_iter().map(|step| step_of(ranks, (Vec::new(), step), &chunks));
        let steps = steps.collect::<CoreResult<Vec<_>>>()?;
        Ok(Self(Schedule::new(arguments::name("algorithm", algorithm)?, chunks, steps)?))
    }

    /// The function of `__reduce__`.
    #[staticmethod]
    fn _of_parts(
        algorithm: &Bound<'_, PyAny>,
        collective: &str,
        gpus: u32,
        chunks: ChunksTuple,
        steps: Vec<StepTuple>,
    ) -> CoreResult<Self> {
        let ranks = Shape::new(gpus, &[], 1)?.gpus();
        let chunks = chunks_of(Collective::parse(collective)?, ranks, chunks)?;
        let steps = steps.into_iter().map(|step| step_of(ranks, step, &chunks)).collect::<CoreResult<Vec<_>>>()?;
        Ok(Self(Schedule::new(text("algorithm", algorithm)?, chunks, steps)?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, ScheduleTuple>> {
        let chunks = self.0.chunks();
        let parts = (
            self.0.algorithm().to_string(),
            self.0.collective().name().to_string(),
            self.0.ranks(),
            chunks_tuple(chunks),
            self.0.steps().iter().map(step_tuple).collect(),
        );
        Ok((of_parts::<Self>(py)?, parts))
    }

    #[staticmethod]
    fn from_msccl(py: Python<'_>, xml: &Bound<'_, PyAny>) -> CoreResult<Self> {
        let xml = text("schedule", xml)?;
        Ok(Self(interruptible(py, || formats::schedule_from_msccl(&xml))??))
    }

    #[staticmethod]
    fn from_matrix(py: Python<'_>, matrix: PyReadonlyArray2<'_, f64>) -> CoreResult<(Self, f64)> {
        let rows = rows_of(&matrix);
        let (schedule, size_bytes) = interruptible(py, || collectives::direct_from_matrix(&rows))??;
        Ok((Self(schedule), size_bytes))
    }

    #[getter]
    fn algorithm(&self) -> &str {
        self.0.algorithm()
    }

    #[getter]
    fn collective(&self) -> &'static str {
        self.0.collective().name()
    }

    #[getter]
    fn gpus(&self) -> u32 {
        self.0.ranks()
    }

    #[getter]
    fn shares<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_iter(py, self.0.steps().iter().map(model::Step::share))
    }

    #[getter]
    fn sent_share(&self) -> f64 {
        self.0.sent_share()
    }

    fn transfers(&self, step: &Bound<'_, PyAny>) -> CoreResult<Vec<TransferTuple>> {
        let steps = self.0.steps();
        let found = step.extract::<usize>().ok().and_then(|step| steps.get(step));
        let step = found.ok_or_else(|| Error::value("step", shown(step), format!("0 to {}", steps.len() - 1)))?;
        Ok(step.expanded(self.0.chunks()).into_iter().map(|t| (t.src, t.dst, op_name(t.op), t.chunks)).collect())
    }

    fn __repr__(&self) -> String {
        format!(
            "Schedule('{}', '{}', gpus={}, steps={})",
            self.0.algorithm(),
            self.0.collective().name(),
            self.0.ranks(),
            self.0.steps().len()
        )
    }
}

/// Kind, root, parts, and source, destination and share of each piece; empty and zero where the kind has none.
type ChunksTuple = (String, u32, u32, Vec<(u32, u32, f64)>);
/// Symmetry, and source, destination, operation and chunks of each representative.
type StepTuple = (Vec<DigitTuple>, Vec<(u32, u32, String, Vec<u32>)>);
/// Algorithm, collective, GPUs, chunks and steps.
type ScheduleTuple = (String, String, u32, ChunksTuple, Vec<StepTuple>);

fn op_name(op: Op) -> &'static str {
    match op {
        Op::Copy => "copy",
        Op::Reduce => "reduce",
    }
}

fn chunks_tuple(chunks: &Chunks) -> ChunksTuple {
    if let Some(pieces) = chunks.as_pieces() {
        let pieces = pieces.iter().map(|piece| (piece.src, piece.dst, piece.share)).collect();
        return ("pieces".into(), 0, 0, pieces);
    }
    let parts = chunks.parts().unwrap_or(1);
    match (chunks.root(), chunks.as_buffer()) {
        (Some(root), _) => ("rooted".into(), root, parts, Vec::new()),
        (None, Some((root, parts))) => ("buffer".into(), root, parts, Vec::new()),
        (None, None) => ("even".into(), 0, parts, Vec::new()),
    }
}

fn chunks_of(collective: Collective, ranks: u32, (kind, root, parts, pieces): ChunksTuple) -> CoreResult<Chunks> {
    Ok(match kind.as_str() {
        "pieces" => {
            Chunks::pieces(ranks, pieces.into_iter().map(|(src, dst, share)| Piece { src, dst, share }).collect())?
        }
        "buffer" => Chunks::buffer(collective, ranks, root, parts)?,
        "rooted" => Chunks::rooted(collective, ranks, root, parts)?,
        _ => Chunks::even(collective, ranks, parts)?,
    })
}

fn step_tuple(step: &Step) -> StepTuple {
    let transfers = step.transfers().iter();
    let transfers = transfers.map(|t| (t.src, t.dst, op_name(t.op).to_string(), t.chunks.clone())).collect();
    (digits(step.symmetry()), transfers)
}

fn step_of(ranks: u32, (symmetry, transfers): StepTuple, chunks: &Chunks) -> CoreResult<Step> {
    let op = |name: String| if name == "reduce" { Op::Reduce } else { Op::Copy };
    let transfers = transfers.into_iter().map(|(src, dst, name, chunks)| Transfer { src, dst, op: op(name), chunks });
    Ok(Step::new(translations(ranks, symmetry)?, transfers, chunks)?)
}

/// A matrix as rows.
pub fn rows_of(matrix: &PyReadonlyArray2<'_, f64>) -> Vec<Vec<f64>> {
    matrix.as_array().rows().into_iter().map(|row| row.to_vec()).collect()
}

#[pyfunction]
pub fn verify_schedule(py: Python<'_>, schedule: &PySchedule) -> CoreResult<Vec<CheckTuple>> {
    Ok(checks(&interruptible(py, || verify::schedule(&schedule.0))?))
}
