// Compare: every planner on one problem, with the lower bound, as they finish.

import { addressOf } from "../address.js";
import { followOn, Refusal } from "../api.js";
import { onResize, widthOf } from "../charts/axes.js";
import { bars } from "../charts/bars.js";
import { headOf, legend, shownTerms, termOf } from "../charts/terms.js";
import { announce, h, replace, withCode, withoutCode } from "../dom.js";
import { downloads, fromServer, json, ofDrawing } from "../downloads.js";
import { bodyOf, kept } from "../options.js";
import { aboveBound, counted, time, times } from "../quantities.js";
import { registry } from "../registries.js";
import { card, cardWith, table } from "../tables.js";
import { partNotice } from "../work.js";
import { planOfFixed } from "./plan-worth.js";
import { Scaffold } from "./scaffold.js";

/** @import { Query } from "../address.js" */
/** @import { Head } from "../picture-head.js" */
/** @import { Body, Comparison, ComparisonRow, Plan, Progress } from "../types.js" */

const FIRST = ["collective", "size", "gpus", "reconfiguration-delay", "ports", "bandwidth"];
const MOST_ROWS = 400;

/**
 * Makes the view.
 *
 * @param {HTMLElement} root
 */
export function mount(root) {
  let end = () => {};
  const frame = new Scaffold({
    root,
    view: "compare",
    verb: "compare",
    title: "Compare",
    first: FIRST,
    presets: ["plan", "compare"],
    lead: "Every planner and baseline on the same problem, compared with a time that no plan can beat.",
    async compute(query, signal) {
      const body = bodyOf("compare", query);
      const view = new Found(frame.result, query, body);
      end();
      end = () => view.leave();
      let found = 0;
      const whole = await followOn(
        "/api/compare",
        body,
        {
          row(row) {
            found += 1;
            view.add(row);
          },
          progress: (said) => view.progress(said),
        },
        { signal },
      );
      if (whole instanceof Refusal) {
        frame.result.prepend(partNotice(whole));
        return found;
      }
      view.finish(whole);
      await view.besideFixed(() => planOfFixed(bodyOf("plan", kept("plan", query)), signal));
      announce(withoutCode(view.sentence()));
      return found;
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
 * Best row of every planner, fastest first.
 *
 * @param {ComparisonRow[]} rows
 */
export function bestOfEach(rows) {
  /** @type {Map<string, ComparisonRow>} */
  const best = new Map();
  for (const row of rows) {
    if (row.total_s === null || row.total_s === undefined) continue;
    const other = best.get(row.planner);
    if (!other || row.total_s < other.total_s) best.set(row.planner, row);
  }
  return [...best.values()].sort((one, other) => one.total_s - other.total_s);
}

/** What is found, as it is found. */
class Found {
  /** @type {ComparisonRow[]} */
  #rows = [];
  /** The server's whole answer, and the plan whose circuits never change, once they are there. */
  #whole = /** @type {Comparison | null} */ (null);
  #fixed = /** @type {Plan | null} */ (null);
  /** @type {number | null} */
  #waiting = null;
  #isFirst = true;
  #chart = h("div", {});
  #words = h("p", { class: "sentence" });
  #state = h("span", { class: "quiet" });
  #tables = h("div", { class: "result" });
  #colours = legend();
  /** @type {SVGSVGElement | null} */
  #drawn = null;

  /**
   * @param {HTMLElement} result
   * @param {Query} query
   * @param {Body} body
   */
  constructor(result, query, body) {
    this.result = result;
    this.query = query;
    this.body = body;
    this.still = onResize(result, () => this.#drawn && this.#draw());
  }

  #begin() {
    this.#isFirst = false;
    this.result.classList.remove("outdated");
    replace(
      this.result,
      h("div", { class: "card" }, this.#words),
      cardWith("Best of each planner", [this.#state, this.#colours], this.#chart),
      this.#tables,
    );
  }

  #draw() {
    this.#waiting = null;
    if (this.#isFirst) this.#begin();
    const best = bestOfEach(this.#rows);
    if (!best.length) return;
    const rows = best.map((row) => ({
      ...row,
      name: row.planner,
      detail: row.algorithm === row.planner ? "" : row.algorithm,
      chosen: row === best[0],
    }));
    this.#drawn = bars({
      rows,
      width: widthOf(this.#chart),
      bound: this.#whole?.lower_bound_s ?? 0,
      best: best[0].total_s,
      label: withoutCode(this.sentence()),
    });
    replace(this.#chart, this.#drawn);
    replace(this.#words, withCode(this.sentence()));
  }

  /** The result in words, names between backticks. */
  sentence() {
    const [first, second] = bestOfEach(this.#rows);
    if (!first) return this.#whole ? "No planner takes this problem." : "";
    const least = this.#whole?.lower_bound_s;
    const bound = least
      ? ` The lower bound is ${time(least)}: ${aboveBound(first.total_s, least, "the fastest")}.`
      : "";
    const ratio = second ? times(second.total_s / first.total_s) : "";
    const others = second
      ? ` Next is \`${second.planner}\`, which takes ${ratio === times(1) ? "as long" : `${ratio} as long`}.`
      : "";
    const still = this.#fixed
      ? ` Circuits that never change take at best ${time(this.#fixed.total_s)} (\`${this.#fixed.algorithm}\`).`
      : "";
    const takes = `${time(first.total_s)} and ${counted(first.reconfigurations, "reconfiguration")}`;
    const algorithm = first.algorithm === first.planner ? "" : ` with \`${first.algorithm}\``;
    return `\`${first.planner}\`${algorithm} is fastest: ${takes}.${others}${still}${bound}`;
  }

  /** Cancels pending drawing. */
  leave() {
    this.still();
    this.#forget();
  }

  #forget() {
    if (this.#waiting !== null) cancelAnimationFrame(this.#waiting);
  }

  /**
   * Adds a row.
   *
   * @param {ComparisonRow} row
   */
  add(row) {
    this.#rows.push(row);
    replace(this.#state, `${this.#rows.length} found …`);
    this.#waiting ??= requestAnimationFrame(() => this.#draw());
  }

  /**
   * Says too what circuits that never change take, where the fastest plan changes them.
   *
   * @param {() => Promise<Plan | null>} planned
   */
  async besideFixed(planned) {
    if (!bestOfEach(this.#rows)[0]?.reconfigurations) return;
    try {
      this.#fixed = await planned();
    } catch (error) {
      // A comparison is shown without.
      if (!(error instanceof Refusal)) throw error;
    }
    replace(this.#words, withCode(this.sentence()));
  }

  /**
   * Says how far it is.
   *
   * @param {Progress} said
   */
  progress({ done, of }) {
    replace(this.#state, `${done} of ${of} …`);
  }

  /**
   * Shows the whole answer.
   *
   * @param {Comparison} whole
   */
  finish(whole) {
    this.#forget();
    this.#whole = whole;
    this.#rows.splice(0, this.#rows.length, ...(whole.rows ?? this.#rows));
    this.#colours.replaceChildren(...legend(shownTerms(this.#rows)).children);
    this.#draw();
    replace(this.#state);
    const drawing = () => this.#drawn;
    const head = () => ({ title: titleOf(this.body, whole), legend: this.#colours });
    replace(this.#tables, rowTable(this.#rows, this.query), refused(whole), files(whole, this.body, drawing, head));
  }
}

/**
 * @param {ComparisonRow[]} rows
 * @param {Query} query
 */
function rowTable(rows, query) {
  /** @param {string} head */
  const right = (head) => ({ head, right: true });
  const sorted = rows.filter((row) => Number.isFinite(row.total_s)).sort((one, other) => one.total_s - other.total_s);
  const problem = kept("compare", query);
  const terms = shownTerms(sorted);
  const lines = sorted.slice(0, MOST_ROWS).map((row, place) => {
    const link = h("a", { href: addressOf("plan", kept("plan", asked(problem, row))) }, row.planner);
    return {
      chosen: place === 0,
      cells: [
        link,
        row.algorithm,
        row.topology || "–",
        time(row.total_s),
        times(row.total_s / sorted[0].total_s),
        String(row.reconfigurations),
        ...terms.map((term) => (termOf(row, term) ? time(termOf(row, term)) : "–")),
      ],
    };
  });
  return card(
    "All that were found",
    table({
      caption: "Every planner with every algorithm, fastest first",
      tall: true,
      rows: lines,
      columns: [
        { head: "Planner" },
        { head: "Algorithm" },
        { head: "Topology" },
        right("Time"),
        right("Over the best"),
        right("Reconf."),
        ...terms.map((term) => right(headOf(term))),
      ],
    }),
  );
}

/**
 * The options of a row's plan. A composition of a planner has a name that is not an algorithm's.
 *
 * @param {Query} problem
 * @param {ComparisonRow} row
 * @returns {Query}
 */
function asked(problem, row) {
  const options = new Map([...problem, ["planner", row.planner]]);
  if (registry("algorithms").some(({ name }) => name === row.algorithm)) options.set("algorithm", row.algorithm);
  if (row.topology) options.set("topology", row.topology);
  return options;
}

/** @param {Comparison} whole */
function refused(whole) {
  const entries = whole.not_applicable ?? [];
  if (!entries.length) return null;
  /** @type {Map<string, {planner: string, reason: string}>} */
  const by = new Map();
  for (const { planner, reason } of entries) by.set(`${planner}\n${reason}`, { planner, reason });
  return h(
    "details",
    { class: "behind card" },
    h("summary", {}, `${counted(entries.length, "combination")} without a time`),
    table({
      caption: "Planners that cannot serve this problem, or are slower and were left out",
      tall: true,
      columns: [{ head: "Planner" }, { head: "Why" }],
      rows: [...by.values()].map(({ planner, reason }) => ({ cells: [planner, reason] })),
    }),
  );
}

/**
 * `Best plan of each planner: all-reduce of 1MiB on 64 GPUs`.
 *
 * @param {Body} body
 * @param {Comparison} whole
 */
function titleOf({ collective, size, gpus }, whole) {
  const problem = [collective, size && `of ${size}`, gpus && `on ${gpus} GPUs`].filter(Boolean).join(" ");
  const bound = whole.bound_class ? `; the bound holds for ${whole.bound_class}` : "";
  return `Best plan of each planner: ${problem}${bound}`;
}

/**
 * @param {Comparison} whole
 * @param {Body} body
 * @param {() => SVGSVGElement | null} drawing
 * @param {() => Head} head
 */
function files(whole, body, drawing, head) {
  return h(
    "div",
    { class: "card" },
    downloads([
      json("lightloom-compare.json", () => whole),
      fromServer("CSV", "lightloom-compare.csv", "/api/table", () => ({ of: "compare", ...body, format: "csv" })),
      ...ofDrawing("lightloom-compare", drawing, head),
    ]),
  );
}
