//! Plans that are run: the request that the controller process takes, its service, and what it reports.

use model::Error;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use runtime::{Change, Element, Lateness, Namespaces, Paces, Program, Reduction, Report, Request, StepSetting};

use crate::arguments::shown;
use crate::input_error::CoreResult;
use crate::plan::PyPlan;

/// Per step, seconds for which ports that change before it are dark, and of computation before it.
#[pyfunction]
pub fn change_times(py: Python<'_>, plan: &PyPlan) -> CoreResult<(Vec<f64>, Vec<f64>)> {
    Ok(py.detach(|| {
        let plan = plan.judged()?;
        let (policy, ports) = (&plan.fabric.reconfiguration, plan.fabric.shape.ports());
        let mut before = plan.before_first().map(|index| &plan.topologies[index]);
        let (mut dark_s, mut windows_s) = (Vec::new(), Vec::new());
        for (index, step) in plan.steps.iter().enumerate() {
            let topology = &plan.topologies[step.topology];
            let change = before.filter(|_| step.reconfigured).map(|before| policy.between(before, topology, ports));
            if change.is_some_and(|change| change.in_background) {
                let reason = "the circuits of the plan change in the background before step";
                return Err(Error::malformed(
                    "plan",
                    format!("{reason} {}; only plans without background reconfiguration are run", index + 1),
                ));
            }
            dark_s.push(change.map_or(0.0, |change| change.delay_s));
            windows_s.push(policy.window_s(index));
            before = Some(topology);
        }
        Ok((dark_s, windows_s))
    })?)
}

/// The request as the controller process reads it; the dictionaries hold the fields of `runtime::Request`.
#[pyfunction]
pub fn run_request<'py>(
    py: Python<'py>,
    program: &Bound<'py, PyDict>,
    steps: &Bound<'py, PyDict>,
    changes: &Bound<'py, PyDict>,
    settings: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyBytes>> {
    let count = wholes(steps, "predicted_ns")?.len();
    let step = |name: &str| column_of(steps, name, count);
    let [party, port_set, held] = [step("party")?, step("port_set")?, step("configuration")?].map(narrow);
    let [window_ns, startup_ns, predicted_ns] = [step("window_ns")?, step("startup_ns")?, step("predicted_ns")?];
    let has_moments = steps.contains("earliest_ns")?;
    let moments = |name: &str| if has_moments { step(name) } else { Ok(vec![0; count]) };
    let [earliest_ns, spread_ns] = [moments("earliest_ns")?, moments("spread_ns")?];
    let mut keeps_after = if has_moments { lists(steps, "keeps_after", count)? } else { vec![Vec::new(); count] };
    let (mut after, mut needs) = (lists(steps, "after", count)?, lists(steps, "needs", count)?);
    let settings_of_steps = (0..count).map(|index| StepSetting {
        party: party[index],
        port_set: port_set[index],
        configuration: held[index],
        after: std::mem::take(&mut after[index]),
        needs: std::mem::take(&mut needs[index]),
        window_ns: window_ns[index],
        startup_ns: startup_ns[index],
        earliest_ns: earliest_ns[index],
        spread_ns: spread_ns[index],
        keeps_after: std::mem::take(&mut keeps_after[index]),
        predicted_ns: predicted_ns[index],
    });
    let dark_ns = wholes(changes, "dark_ns")?;
    let change = |name: &str| column_of(changes, name, dark_ns.len());
    let [from, made] = [change("from")?, change("configuration")?].map(narrow);
    let lists_of_changes = |name: &str| lists(changes, name, dark_ns.len());
    let (mut after_steps, mut after_changes) = (lists_of_changes("after")?, lists_of_changes("after_changes")?);
    let mut follows = lists_of_changes("follows")?;
    let changes = (0..dark_ns.len()).map(|index| Change {
        from: from[index],
        configuration: made[index],
        dark_ns: dark_ns[index],
        after: std::mem::take(&mut after_steps[index]),
        after_changes: std::mem::take(&mut after_changes[index]),
        follows: std::mem::take(&mut follows[index]),
    });
    let ports: u32 = field(settings, "ports")?;
    let ranks: u32 = field(program, "ranks")?;
    // Minus one where a port is dark.
    let circuits: PyReadonlyArray1<'_, i64> = field(settings, "configurations")?;
    let circuits: Vec<Option<u32>> = circuits.as_slice()?.iter().map(|&end| u32::try_from(end).ok()).collect();
    let (dtype, reduction): (String, String) = (field(settings, "dtype")?, field(settings, "reduction")?);
    let unknown = |what: &str, name: &str| PyValueError::new_err(format!("no {what} is called `{name}`"));
    let request = Request {
        program: Program {
            ranks,
            steps: count as u32,
            workspace_bytes: wholes(program, "workspace_bytes")?,
            step: narrow(wholes(program, "step")?),
            gpu_offsets: wholes(program, "gpu_offsets")?,
            gpus: narrow(wholes(program, "gpus")?),
            segment_offsets: wholes(program, "segment_offsets")?,
            source_offset: wholes(program, "source_offset")?,
            destination_offset: wholes(program, "destination_offset")?,
            size_bytes: wholes(program, "size_bytes")?,
            is_reduction: wholes(program, "is_reduction")?.iter().map(|&one| one != 0).collect(),
        },
        element: Element::named(&dtype).ok_or_else(|| unknown("type", &dtype))?,
        reduction: Reduction::named(&reduction).ok_or_else(|| unknown("reduction", &reduction))?,
        ports,
        configurations: circuits.chunks((ranks * ports).max(1) as usize).map(<[_]>::to_vec).collect(),
        initial: field(settings, "initial")?,
        parties: field(settings, "parties")?,
        port_sets: field(settings, "port_sets")?,
        steps: settings_of_steps.collect(),
        changes: changes.collect(),
        workspace_offset: wholes(program, "workspace_offset")?,
        ns_per_byte: field(settings, "ns_per_byte")?,
        hop_ns: field(settings, "hop_ns")?,
        paces: Paces {
            of_port: field(settings, "port_slowness")?,
            of_pair: field(settings, "pair_slowness")?,
            hop_of_pair_ns: field(settings, "pair_hop_ns")?,
        },
        packet_bytes: field(settings, "packet_bytes")?,
        runs: field(settings, "runs")?,
        warm_ups: field(settings, "warm_ups")?,
        asks_priority: field(settings, "asks_priority")?,
        probe_ns: field(settings, "probe_ns")?,
        has_outside_switch: field(settings, "has_outside_switch")?,
        namespaces: namespaces(settings)?,
        deadline_factor: field(settings, "deadline_factor")?,
        deadline_floor_ns: field(settings, "deadline_floor_ns")?,
    };
    let packed = py.detach(|| {
        runtime::check(&request)?;
        postcard::to_allocvec(&request).map_err(|error| Error::malformed("program", error.to_string()))
    });
    Ok(PyBytes::new(py, &packed.map_err(crate::input_error::CoreError::from)?))
}

/// Where the kernel carries packets: (the switch's namespace, those of ranks, index of the first port's interface,
/// bytes of a token bucket).
fn namespaces(settings: &Bound<'_, PyDict>) -> PyResult<Option<Namespaces>> {
    let given: Option<(String, Vec<String>, u32, u64)> = field(settings, "namespaces")?;
    Ok(given.map(|(switch, ranks, first_index, bucket_bytes)| Namespaces { switch, ranks, first_index, bucket_bytes }))
}

/// Serves the process at the other end of a socket, by its descriptor, until it closes it.
#[pyfunction]
pub fn serve_runs(py: Python<'_>, descriptor: i32) -> PyResult<()> {
    py.detach(|| runtime::serve(descriptor)).map_err(|error| PyOSError::new_err(error.to_string()))
}

/// Bytes of memory that can be had; `None` where the system does not say.
#[pyfunction]
pub fn free_memory() -> Option<u64> {
    runtime::free_bytes()
}

/// The number of sleeps; the nanoseconds by which half of them, 99 of 100 and all of them woke too late, at most.
type LatenessTuple = (u64, u64, u64, u64);
/// The nanoseconds that each run took; the numbers of all `StepTimes`, `RankTimes`, `CircuitUse` and `ChangeTimes`, run
/// after run; how late the probe, the switch and the ranks woke; whether real-time priority and locked memory were
/// granted.
type ReportTuple<'py> = (Bound<'py, PyArray1<u64>>, [Bound<'py, PyArray1<u64>>; 4], [LatenessTuple; 3], (bool, bool));

/// The result of a run of runs.
#[pyfunction]
pub fn run_report<'py>(py: Python<'py>, report: &[u8]) -> PyResult<ReportTuple<'py>> {
    let report: Report = postcard::from_bytes(report).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let array = |numbers: Vec<u64>| PyArray1::from_vec(py, numbers);
    let steps = report
        .runs
        .iter()
        .flat_map(|run| &run.steps)
        .flat_map(|step| [step.begun_ns, step.asked_ns, step.acknowledged_ns, step.start_ns, step.end_ns]);
    let ranks = report.runs.iter().flat_map(|run| &run.ranks).flat_map(|rank| {
        [rank.released_ns, rank.started_ns, rank.sent_ns, rank.received_ns, rank.arrived_ns, rank.forwarded_bytes]
    });
    let circuits =
        report.runs.iter().flat_map(|run| &run.circuits).flat_map(|used| [used.bytes, used.first_ns, used.last_ns]);
    let changes =
        report.runs.iter().flat_map(|run| &run.changes).flat_map(|change| [change.asked_ns, change.acknowledged_ns]);
    let lateness = |late: Lateness| (late.sleeps, late.median_ns, late.most_of_99_ns, late.most_ns);
    Ok((
        array(report.runs.iter().map(|run| run.measured_ns).collect()),
        [array(steps.collect()), array(ranks.collect()), array(circuits.collect()), array(changes.collect())],
        [report.probe, report.switch, report.ranks].map(lateness),
        (report.granted.real_time, report.granted.locked),
    ))
}

fn field<'a, 'py, T: FromPyObjectOwned<'py>>(from: &'a Bound<'py, PyDict>, name: &str) -> PyResult<T> {
    let value = from.get_item(name)?.ok_or_else(|| PyValueError::new_err(format!("`{name}` is missing")))?;
    value.extract::<T>().map_err(|_| PyValueError::new_err(format!("`{name}` cannot be {}", shown(&value))))
}

/// A column of whole numbers that are not negative.
fn wholes(from: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<u64>> {
    let column: PyReadonlyArray1<'_, i64> = field(from, name)?;
    let told = column.as_slice()?.iter().map(|&number| u64::try_from(number)).collect::<Result<_, _>>();
    told.map_err(|_| PyValueError::new_err(format!("`{name}` has negative numbers")))
}

/// A column of this many whole numbers that are not negative.
fn column_of(from: &Bound<'_, PyDict>, name: &str, count: usize) -> PyResult<Vec<u64>> {
    let column = wholes(from, name)?;
    if column.len() != count {
        return Err(PyValueError::new_err(format!("`{name}` has {} numbers, not {count}", column.len())));
    }
    Ok(column)
}

/// This many lists of whole numbers: the lists one after the other, and where each begins and the last one ends.
fn lists(from: &Bound<'_, PyDict>, name: &str, count: usize) -> PyResult<Vec<Vec<u32>>> {
    let numbers = narrow(wholes(from, name)?);
    let offsets = column_of(from, &format!("{name}_offsets"), count + 1)?;
    let list = |ends: &[u64]| numbers.get(ends[0] as usize..ends[1] as usize).map(<[u32]>::to_vec);
    let made: Option<Vec<Vec<u32>>> = offsets.windows(2).map(list).collect();
    made.ok_or_else(|| PyValueError::new_err(format!("`{name}_offsets` are out of order")))
}

/// Numbers that do not fit become the largest, which is refused.
fn narrow(numbers: Vec<u64>) -> Vec<u32> {
    numbers.into_iter().map(|number| u32::try_from(number).unwrap_or(u32::MAX)).collect()
}
