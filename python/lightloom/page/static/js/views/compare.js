// Compare: every planner on one problem, beside the lower bound, as they finish.

import { addressOf } from "../address.js";
import { follow, Refusal } from "../api.js";
import { onResize, widthOf } from "../charts/axes.js";
import { bars } from "../charts/bars.js";
import { legend, TERMS } from "../charts/terms.js";
import { announce, h, replace } from "../dom.js";
import { downloads, fromServer, json, ofDrawing } from "../downloads.js";
import { bodyOf, kept, registry } from "../options.js";
import { aboveBound, counted, time, times } from "../quantities.js";
import { card, cardWith, table } from "../tables.js";
import { planOfFixed, taking } from "./plan-worth.js";
import { scaffold } from "./scaffold.js";

const FIRST = ["collective", "size", "gpus", "reconfiguration-delay", "ports", "bandwidth"];
const MOST_ROWS = 400;

/** Makes the view. */
export function mount(root) {
  let end = () => {};
  const frame = scaffold({
    root, view: "compare", verb: "compare", title: "Compare", first: FIRST, presets: ["plan", "compare"],
    lead: "Every planner and baseline on the same problem, beside the time that none can beat.",
    async compute(query, signal) {
      const body = bodyOf("compare", query);
      const view = live(frame.result, query, body);
      end();
      end = view.leave;
      let found = 0;
      const whole = await follow("/api/compare", body, {
        row(row) {
          found += 1;
          view.add(row);
        },
        progress: view.progress,
      }, { signal });
      view.finish(whole);
      await view.besideFixed(() => planOfFixed(bodyOf("plan", kept("plan", query)), signal));
      announce(view.sentence());
      return found;
    },
  });
  return {
    show: frame.show,
    leave() {
      end();
      frame.leave();
    },
  };
}

/** Best row of every planner, fastest first. */
export function bestOfEach(rows) {
  const best = new Map();
  for (const row of rows) {
    if (row.total_s === null || row.total_s === undefined) continue;
    if (!best.has(row.planner) || row.total_s < best.get(row.planner).total_s) best.set(row.planner, row);
  }
  return [...best.values()].sort((one, other) => one.total_s - other.total_s);
}

function live(result, query, body) {
  const rows = [];
  let whole = null;
  let fixed = null;
  let waiting = null;
  let isFirst = true;
  const chart = h("div", {});
  const words = h("p", { class: "sentence" });
  const state = h("span", { class: "quiet" });
  const tables = h("div", { class: "result" });
  const colours = legend();
  let drawn = null;

  function begin() {
    isFirst = false;
    result.classList.remove("outdated");
    replace(result, h("div", { class: "card" }, words), cardWith("Best of each planner", [state, colours], chart), tables);
  }

  function draw() {
    waiting = null;
    if (isFirst) begin();
    const best = bestOfEach(rows);
    if (!best.length) return;
    const fastest = best[0].total_s;
    drawn = bars({
      rows: best.map((row) => ({ ...row, name: row.planner, detail: row.algorithm === row.planner ? "" : row.algorithm, chosen: row === best[0] })),
      width: widthOf(chart), bound: whole?.lower_bound_s ?? 0, best: fastest, label: sentence(),
    });
    replace(chart, drawn);
    replace(words, sentence());
  }

  function sentence() {
    const best = bestOfEach(rows);
    if (!best.length) return whole ? "No planner takes this problem." : "";
    const [first, second] = best;
    const bound = whole?.lower_bound_s ? ` The lower bound is ${time(whole.lower_bound_s)}: ${aboveBound(first.total_s, whole.lower_bound_s, "the fastest")}.` : "";
    const ratio = second ? times(second.total_s / first.total_s) : "";
    const others = second ? ` Next is ${second.planner}, ${ratio === times(1) ? "as fast" : `${ratio} as long`}.` : "";
    const still = fixed ? ` Circuits that never change take at best ${taking(fixed)}.` : "";
    return `${first.planner} with ${first.algorithm} is fastest: ${time(first.total_s)} and ${counted(first.reconfigurations, "reconfiguration")}.${others}${still}${bound}`;
  }

  function later() {
    if (waiting === null) waiting = requestAnimationFrame(draw);
  }

  const still = onResize(result, () => drawn && draw());
  return {
    sentence,
    leave() {
      still();
      if (waiting !== null) cancelAnimationFrame(waiting);
    },
    add(row) {
      rows.push(row);
      replace(state, `${rows.length} found …`);
      later();
    },
    /** Says too what circuits that never change take, where the fastest plan changes them. */
    async besideFixed(planned) {
      if (!bestOfEach(rows)[0]?.reconfigurations) return;
      try {
        fixed = await planned();
      } catch (error) {
        // A comparison is shown without.
        if (!(error instanceof Refusal)) throw error;
      }
      replace(words, sentence());
    },
    progress: ({ done, of }) => replace(state, `${done} of ${of} …`),
    finish(answer) {
      if (waiting !== null) cancelAnimationFrame(waiting);
      whole = answer;
      rows.splice(0, rows.length, ...(answer.rows ?? rows));
      draw();
      replace(state);
      replace(tables, rowTable(rows, query), refused(whole), files(whole, body, () => drawn, () => ({ title: titleOf(body, whole), legend: colours })));
    },
  };
}

function rowTable(rows, query) {
  const right = (head) => ({ head, right: true });
  const sorted = rows.filter((row) => Number.isFinite(row.total_s)).sort((one, other) => one.total_s - other.total_s);
  const problem = kept("compare", query);
  const lines = sorted.slice(0, MOST_ROWS).map((row, place) => {
    const link = h("a", { href: addressOf("plan", kept("plan", asked(problem, row))) }, row.planner);
    return {
      chosen: place === 0,
      cells: [
        link, row.algorithm, row.topology || "–", time(row.total_s), times(row.total_s / sorted[0].total_s), String(row.reconfigurations),
        ...TERMS.map((term) => (row[`${term}_s`] ? time(row[`${term}_s`]) : "–")),
      ],
    };
  });
  return card(
    "All that were found",
    table({
      caption: "Every planner with every algorithm, fastest first", tall: true, rows: lines,
      columns: [{ head: "Planner" }, { head: "Algorithm" }, { head: "Topology" }, right("Time"), right("Over the best"), right("Reconf."), ...["Startup", "Propagation", "Transmission", "Reconfig."].map(right)],
    }),
  );
}

/** The options of a row's plan. What a planner composes has a name that is none of an algorithm. */
function asked(problem, row) {
  const options = new Map([...problem, ["planner", row.planner]]);
  if (registry("algorithms").some(({ name }) => name === row.algorithm)) options.set("algorithm", row.algorithm);
  if (row.topology) options.set("topology", row.topology);
  return options;
}

function refused(whole) {
  const entries = whole.not_applicable ?? [];
  if (!entries.length) return null;
  const by = new Map();
  for (const { planner, reason } of entries) by.set(`${planner}\n${reason}`, { planner, reason });
  return h(
    "details", { class: "behind card" }, h("summary", {}, `${counted(entries.length, "combination")} without a time`),
    table({ caption: "Planners that cannot serve this problem, or are slower and were left out", tall: true, columns: [{ head: "Planner" }, { head: "Why" }], rows: [...by.values()].map(({ planner, reason }) => ({ cells: [planner, reason] })) }),
  );
}

/** `Best plan of each planner: all-reduce of 1MiB on 64 GPUs`. */
const titleOf = ({ collective, size, gpus }, whole) =>
  `Best plan of each planner: ${[collective, size && `of ${size}`, gpus && `on ${gpus} GPUs`].filter(Boolean).join(" ")}${whole.bound_class ? `; the bound holds for ${whole.bound_class}` : ""}`;

function files(whole, body, drawing, head) {
  return h("div", { class: "card" }, downloads([
    json("lightloom-compare.json", () => whole),
    fromServer("CSV", "lightloom-compare.csv", "/api/table", () => ({ of: "compare", ...body, format: "csv" })),
    ...ofDrawing("lightloom-compare", drawing, head),
  ]));
}
