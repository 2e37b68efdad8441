// Advice: which switch a mix of collectives and models needs.

import { followOn, Refusal } from "../api.js";
import { onResize, widthOf } from "../charts/axes.js";
import { bars } from "../charts/bars.js";
import { announce, h, replace } from "../dom.js";
import { downloads, fromServer, json } from "../downloads.js";
import { bodyOf, optionsOf, startOf } from "../options.js";
import { counted, isKnown, shortTime, time, times } from "../quantities.js";
import { card, table } from "../tables.js";
import { partNotice } from "../work.js";
import { jobFields } from "./advice-job.js";
import { Scaffold } from "./scaffold.js";

/** @import { Query } from "../address.js" */
/** @import { AdvisedFields } from "./advice-job.js" */
/** @import { Advice, AdviceRow, Body } from "../types.js" */

/**
 * Makes the view.
 *
 * @param {HTMLElement} root
 */
export function mount(root) {
  let end = () => {};
  const extras = jobFields((change) => frame.changed(change));
  const frame = new Scaffold({
    root,
    view: "advice",
    verb: "advise",
    title: "Advice",
    first: ["ports"],
    presets: ["advise"],
    extras,
    start: (given) => (given.has("job") ? new Map() : startOf("advise")),
    options: optionsOf("advise"),
    lead: "Which optical circuit switch a job needs: its mix of collectives and models, planned on every switch.",
    code: (query) => [["advise", bodyFor(query, extras)]],
    async compute(query, signal) {
      const body = bodyFor(query, extras);
      /** @type {AdviceRow[]} */
      const rows = [];
      /** @param {AdviceRow} row */
      function add(row) {
        rows.push(row);
        end();
        end = drawFound(frame.result, rows);
      }
      const advice = await followOn("/api/advise", body, { row: add }, { signal });
      if (advice instanceof Refusal) {
        frame.result.prepend(partNotice(advice));
        return rows.length;
      }
      end();
      end = draw(frame.result, advice, body);
      announce(advice.reasons[0]);
      return rows.length;
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
 * The request to the server.
 *
 * @param {Query} query
 * @param {AdvisedFields} extras
 * @returns {Body}
 */
function bodyFor(query, extras) {
  const options = bodyOf("advise", new Map([...query].filter(([name]) => !extras.names.includes(name))));
  return { ...extras.asked(), ...options };
}

/**
 * Shows the advice; returns a function that cancels pending work.
 *
 * @param {HTMLElement} result
 * @param {Advice} advice
 * @param {Body} body
 */
function draw(result, advice, body) {
  const [first, ...others] = advice.reasons;
  const byPorts = cardsByPorts(advice.rows, advice);
  replace(
    result,
    h(
      "div",
      { class: "card" },
      isExample(body)
        ? h("p", { class: "quiet" }, `This is for the example job “${advice.job}”, not for a job of yours.`)
        : null,
      h("p", { class: "sentence" }, first),
      h(
        "ul",
        {},
        others.map((words) => h("li", {}, words)),
      ),
    ),
    byPorts.elements,
    inputsCard(advice),
    h("div", { class: "card" }, files(advice, body)),
  );
  byPorts.redraw();
  return onResize(result, byPorts.redraw);
}

/**
 * Shows the rows that are found so far; returns a function that cancels pending work.
 *
 * @param {HTMLElement} result
 * @param {AdviceRow[]} rows
 */
function drawFound(result, rows) {
  const byPorts = cardsByPorts(rows, NOT_YET);
  const words = `${counted(rows.length, "row")} found so far; what is recommended follows when all are known.`;
  result.classList.remove("outdated");
  replace(result, h("div", { class: "card" }, h("p", { class: "quiet" }, words)), byPorts.elements);
  byPorts.redraw();
  return onResize(result, byPorts.redraw);
}

/**
 * A card for each number of ports, with a function that draws their bars.
 *
 * @param {AdviceRow[]} all
 * @param {Chosen} chosen
 */
function cardsByPorts(all, chosen) {
  const parts = [...new Set(all.map(({ ports }) => ports))].map((ports) => {
    const rows = all.filter((row) => row.ports === ports);
    return { rows, chart: h("div", {}), title: `${counted(ports, "port")} of every GPU` };
  });
  return {
    elements: parts.map(({ rows, chart, title }) => card(title, chart, rowTable(rows, chosen, title))),
    redraw() {
      for (const { rows, chart, title } of parts) replace(chart, rowBars(rows, chosen, widthOf(chart), title));
    },
  };
}

/**
 * Whether the job is the one that the view begins with.
 *
 * @param {Body} body
 */
const isExample = ({ job }) => String(job).trim() === startOf("advise").get("job")?.trim();

/** @typedef {Pick<Advice, "recommended" | "recommended_ports">} Chosen */

/** @type {Chosen} */
const NOT_YET = { recommended: null, recommended_ports: null };

/**
 * @param {AdviceRow} row
 * @param {Chosen} advice
 */
const isChosen = (row, advice) => row.switch === advice.recommended && row.ports === advice.recommended_ports;

/**
 * @param {AdviceRow[]} rows
 * @param {Chosen} advice
 * @param {number} width
 * @param {string} title
 */
function rowBars(rows, advice, width, title) {
  const timed = rows.flatMap((row) => {
    const { total_s: total, reconfiguration_delay_s: delay } = row;
    if (!isKnown(total)) return [];
    const detail = isKnown(delay) ? shortTime(delay) : "";
    const chosen = isChosen(row, advice);
    return [{ name: row.switch, detail, total_s: total, transmission_s: total, chosen }];
  });
  return bars({
    rows: timed,
    width,
    bound: rows[0].packet_switch_s,
    boundWords: "ideal packet switch",
    terms: ["transmission"],
    best: Math.min(...timed.map((row) => row.total_s)),
    label: `Time of the mix with ${title}: ${timed.map((row) => `${row.name} ${time(row.total_s)}`).join(", ")}`,
  });
}

/**
 * @param {AdviceRow[]} rows
 * @param {Chosen} advice
 * @param {string} title
 */
function rowTable(rows, advice, title) {
  /** @param {string} head */
  const right = (head) => ({ head, right: true });
  return h(
    "details",
    { class: "behind" },
    h("summary", {}, "As a table, with sources"),
    table({
      caption: `Every switch with ${title}`,
      tall: true,
      columns: [
        { head: "Switch" },
        right("Delay"),
        right("Time"),
        right("Gain over fixed circuits"),
        right("Over a packet switch"),
        right("Radix"),
        { head: "Remark", words: true },
        { head: "Source", words: true },
      ],
      rows: rows.map((row) => ({
        chosen: isChosen(row, advice),
        cells: [
          row.switch,
          isKnown(row.reconfiguration_delay_s) ? shortTime(row.reconfiguration_delay_s) : "–",
          isKnown(row.total_s) ? time(row.total_s) : "–",
          isKnown(row.total_s) && isKnown(row.never_change_s) ? times(row.never_change_s / row.total_s) : "–",
          isKnown(row.total_s) ? times(row.total_s / row.packet_switch_s) : "–",
          isKnown(row.radix) ? String(row.radix) : "unknown",
          row.reason || "–",
          row.source ?? "–",
        ],
      })),
    }),
  );
}

/** @param {Advice} advice */
function inputsCard(advice) {
  const rows = advice.sensitivity.map((one) => ({
    chosen: one.changes,
    cells: [one.input, one.switch ?? "–", isKnown(one.ports) ? String(one.ports) : "–", one.changes ? "yes" : "no"],
  }));
  return card(
    "What would change it",
    table({
      caption: "The recommendation with one input changed",
      columns: [{ head: "Input" }, { head: "Recommended" }, { head: "Ports", right: true }, { head: "Changes?" }],
      rows,
    }),
  );
}

/**
 * @param {Advice} advice
 * @param {Body} body
 */
function files(advice, body) {
  const of = { of: "advise", ...body };
  return downloads([
    json("lightloom-advice.json", () => advice),
    fromServer("CSV", "lightloom-advice.csv", "/api/table", () => ({ ...of, format: "csv" })),
    fromServer("SVG", "lightloom-advice.svg", "/api/picture", () => ({ ...of, format: "svg" })),
    fromServer("PNG", "lightloom-advice.png", "/api/picture", () => ({ ...of, format: "png" })),
  ]);
}
