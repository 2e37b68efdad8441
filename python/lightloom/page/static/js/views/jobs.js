// Several jobs: those that arrive at one fabric, who gets which GPUs, and when each is done.

import { ask } from "../api.js";
import { onRedraw, widthOf } from "../charts/axes.js";
import { bars } from "../charts/bars.js";
import { Timeline } from "../charts/timeline.js";
import { announce, h, replace } from "../dom.js";
import { downloads, fromServer, json } from "../downloads.js";
import { bodyOf, startOf } from "../options.js";
import { counted, isKnown, time, times } from "../quantities.js";
import { card, cardWith, table } from "../tables.js";
import { Scaffold } from "./scaffold.js";
import { textField, textFields } from "./text-fields.js";

/** @import { Query } from "../address.js" */
/** @import { Body, Box, TimelineRow } from "../types.js" */

/**
 * A job's place in space and time; seconds.
 *
 * @typedef {{
 *   name: string, ranks: number, iterations: number, iteration_s: number, arrival_s: number, start_s: number,
 *   end_s: number, slowdown: number, gpus: number[], connects: number, shared_with: string[], completion_s: number,
 * }} PlacedJob
 */

/**
 * All jobs by one way to share the fabric; none where it does not serve them, as the note says.
 *
 * @typedef {{
 *   sharing: string, title: string, makespan_s: number | null, mean_completion_s: number | null,
 *   mean_slowdown: number | null, gain: number | null, connects: number, best_order: boolean, note: string,
 *   jobs: PlacedJob[],
 * }} SharedRun
 */

/**
 * Jobs on a fabric by every way to share it: `lightloom.jobs/1`.
 *
 * @typedef {{
 *   gpus: number, ports: number, reconfiguration_delay: string, dims: number[], order: string, best: string | null,
 *   runs: SharedRun[],
 * }} Placements
 */

const BASELINE = "wired torus";

/**
 * Makes the view.
 *
 * @param {HTMLElement} root
 */
export function mount(root) {
  let end = () => {};
  const jobs = textField("textarea", "Jobs (TOML)", { rows: 14 });
  const extras = {
    ...textFields(
      { jobs },
      (change) => frame.changed(change),
      (name) => (name.startsWith("job") ? "jobs" : name),
    ),
    before: h("div", { class: "fields" }, jobs.element),
  };
  /** @param {Query} query */
  const bodyFor = (query) => ({
    jobs: jobs.input.value,
    ...bodyOf("jobs", new Map([...query].filter(([name]) => name !== "jobs"))),
  });
  const frame = new Scaffold({
    root,
    view: "jobs",
    verb: "jobs",
    title: "Several jobs",
    first: ["gpus", "ports", "order", "reconfiguration-delay"],
    presets: ["jobs"],
    extras,
    start: startOf("jobs"),
    lead: "Jobs that arrive at one fabric and leave: who gets which GPUs and when, by several ways to share it.",
    code: (query) => [["jobs", bodyFor(query)]],
    async compute(query, signal) {
      const body = bodyFor(query);
      const placed = /** @type {Placements} */ (await ask("/api/jobs", body, { signal }));
      end();
      end = draw(frame.result, placed, body);
      announce(sentence(placed));
    },
  });
  return {
    /** @type {typeof frame.show} */
    show: (query, lost) => frame.show(query, lost),
    leave() {
      end();
      frame.leave();
    },
  };
}

/**
 * Shows the placements; returns a function that cancels pending work.
 *
 * @param {HTMLElement} result
 * @param {Placements} placed
 * @param {Body} body
 */
function draw(result, placed, body) {
  const ways = h("div", {});
  const served = placed.runs.filter((run) => run.jobs.length);
  const last = Math.max(0, ...served.map((run) => run.makespan_s ?? 0));
  const courses = served.map((run) => courseCard(run, placed, last));
  const torus = `Wired torus ${placed.dims.join("×")}, reconfiguration delay ${placed.reconfiguration_delay}.`;
  replace(
    result,
    h("div", { class: "card" }, h("p", { class: "sentence" }, sentence(placed)), h("p", { class: "quiet" }, torus)),
    card("Mean completion time", ways, wayTable(placed)),
    courses.map(({ element }) => element),
    h("div", { class: "card" }, files(placed, body)),
  );
  const redraw = () => {
    replace(ways, served.length ? wayBars(served, placed, widthOf(ways)) : null);
    for (const course of courses) course.redraw();
  };
  redraw();
  return onRedraw(result, redraw);
}

/** @param {Placements} placed */
function sentence({ runs, best, gpus }) {
  const run = runs.find((one) => one.sharing === best);
  if (!run || !isKnown(run.mean_completion_s)) return "No way to share the fabric serves all of these jobs.";
  const gain = isKnown(run.gain) && run.gain > 1.001 ? `, ${times(run.gain)} as fast as on the ${BASELINE}` : "";
  const mean = time(run.mean_completion_s);
  return `${counted(run.jobs.length, "job")} on ${gpus} GPUs take ${mean} on average by the best way, ${run.title}${gain}.`;
}

/**
 * @param {SharedRun[]} served
 * @param {Placements} placed
 * @param {number} width
 */
function wayBars(served, placed, width) {
  const rows = served.flatMap(({ title, sharing, mean_completion_s: mean, gain }) =>
    isKnown(mean)
      ? [
          {
            name: title,
            detail: isKnown(gain) ? `gain ${times(gain)}` : "",
            total_s: mean,
            transmission_s: mean,
            chosen: sharing === placed.best,
          },
        ]
      : [],
  );
  const label = `Mean completion time: ${rows.map((row) => `${row.name} ${time(row.total_s)}`).join(", ")}`;
  return bars({ rows, width, terms: ["transmission"], label });
}

/** @param {Placements} placed */
function wayTable({ runs, best }) {
  return h(
    "details",
    { class: "behind" },
    h("summary", {}, "As a table"),
    table({
      caption: "Ways to share the fabric",
      columns: [
        { head: "Way" },
        ...["Mean completion", "Gain", "Slowdown", "Last job ends", "Connections set up"].map(right),
        { head: "Remark", words: true },
      ],
      rows: runs.map((run) => ({
        chosen: run.sharing === best,
        cells: [
          run.title,
          isKnown(run.mean_completion_s) ? time(run.mean_completion_s) : "–",
          isKnown(run.gain) ? times(run.gain) : "–",
          isKnown(run.mean_slowdown) ? times(run.mean_slowdown) : "–",
          isKnown(run.makespan_s) ? time(run.makespan_s) : "–",
          run.jobs.length ? String(run.connects) : "–",
          run.note || (run.best_order ? "no order of starts is better" : "–"),
        ],
      })),
    }),
  );
}

/**
 * The jobs of a way in time: waiting, and running.
 *
 * @param {SharedRun} run
 * @param {Placements} placed
 * @param {number} last
 */
function courseCard(run, placed, last) {
  const course = new Timeline({
    rows: run.jobs.map((job, place) => rowOf(job, place)),
    end: last,
    label: `Jobs in time, ${run.title}`,
    describe: (_, box) => box.words,
    isFolded: true,
  });
  const best = run.sharing === placed.best ? " – the best" : "";
  const title = `${run.title[0].toUpperCase()}${run.title.slice(1)}${best}`;
  return { element: cardWith(title, [course.legend], course.element, jobTable(run)), redraw: () => course.redraw() };
}

/**
 * @param {PlacedJob} job
 * @param {number} place
 * @returns {TimelineRow}
 */
function rowOf(job, place) {
  const words = `${job.name} runs on GPUs ${ranges(job.gpus)}`;
  /** @type {Box[]} */
  const boxes = [];
  if (job.start_s > job.arrival_s)
    boxes.push({
      first_s: job.arrival_s,
      last_s: job.start_s,
      role: "waits",
      words: `${job.name} waits`,
      event: place,
      lane: 0,
    });
  boxes.push({ first_s: job.start_s, last_s: job.end_s, role: "runs", words, event: place, lane: 0 });
  return { name: job.name, lanes: 1, boxes };
}

/** @param {SharedRun} run */
function jobTable(run) {
  const shares = run.jobs.some((job) => job.shared_with.length);
  return h(
    "details",
    { class: "behind" },
    h("summary", {}, "Every job, as a table"),
    table({
      caption: `Jobs, ${run.title}`,
      tall: true,
      columns: [
        { head: "Job" },
        ...["Ranks", "Iterations", "Iteration", "Arrival", "Start", "End", "Completion", "Slowdown"].map(right),
        { head: "GPUs" },
        ...(shares ? [{ head: "Shared with", words: true }] : []),
      ],
      rows: run.jobs.map((job) => ({
        cells: [
          job.name,
          String(job.ranks),
          String(job.iterations),
          time(job.iteration_s),
          time(job.arrival_s),
          time(job.start_s),
          time(job.end_s),
          time(job.completion_s),
          times(job.slowdown),
          ranges(job.gpus),
          ...(shares ? [job.shared_with.join(", ") || "–"] : []),
        ],
      })),
    }),
  );
}

/**
 * `0–1, 4–5`: numbers of GPUs in rising order.
 *
 * @param {number[]} gpus
 */
function ranges(gpus) {
  /** @type {[first: number, last: number][]} */
  const found = [];
  for (const gpu of gpus) {
    const open = found.at(-1);
    if (open && gpu === open[1] + 1) open[1] = gpu;
    else found.push([gpu, gpu]);
  }
  return found.map(([first, last]) => (first === last ? String(first) : `${first}–${last}`)).join(", ");
}

/** @param {string} head */
const right = (head) => ({ head, right: true });

/**
 * @param {Placements} placed
 * @param {Body} body
 */
function files(placed, body) {
  const of = { of: "jobs", ...body };
  return downloads([
    json("lightloom-jobs.json", () => placed),
    fromServer("CSV", "lightloom-jobs.csv", "/api/table", () => ({ ...of, format: "csv" })),
    fromServer("SVG", "lightloom-jobs.svg", "/api/picture", () => ({ ...of, format: "svg" })),
    fromServer("PNG", "lightloom-jobs.png", "/api/picture", () => ({ ...of, format: "png" })),
  ]);
}
