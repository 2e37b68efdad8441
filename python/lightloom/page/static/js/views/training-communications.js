// Training: the kinds of communication of an iteration, thousands of events in few rows.

import { h } from "../dom.js";
import { counted, size, time } from "../quantities.js";
import { table } from "../tables.js";

/** @import { Plan, Training, WorkloadNode } from "../types.js" */

// Names of labels in a cell, and of groups in a label.
const [MOST_LABELS, MOST_GROUPS] = [2, 3];
// Ranks of a message.
const PAIR = 2;

/**
 * Events that are alike. plan: null of messages. labels: the axes or groups whose ranks communicate.
 *
 * @typedef {{
 *   plan: Plan | null, bytes: number, labels: Set<string>, count: number, total: number, exposed: number,
 * }} Kind
 */

/** @param {Training} training */
export function communicationTable(training) {
  const rows = kindsOf(training).map(({ plan, bytes, labels, count, total, exposed }) => ({
    cells: [
      plan?.collective ?? "send",
      some([...labels]),
      String(plan?.gpus ?? PAIR),
      size(bytes),
      plan?.algorithm ?? "–",
      count.toLocaleString("en"),
      time(total / count),
      time(total),
      exposed ? time(exposed) : "–",
    ],
  }));
  /** @param {string} head */
  const right = (head) => ({ head, right: true });
  return h(
    "details",
    { class: "behind" },
    h("summary", {}, `${counted(rows.length, "kind")} of communication, as a table`),
    table({
      caption: "Kinds of communication",
      tall: true,
      rows,
      columns: [
        { head: "Collective" },
        { head: "Of" },
        right("Ranks"),
        right("Size"),
        { head: "Algorithm" },
        right("Times"),
        right("Each"),
        right("In all"),
        right("Waited for circuits"),
      ],
    }),
  );
}

/**
 * Collectives of one plan and size, and messages of one size; those that take most time in all first.
 *
 * @param {Training} training
 */
function kindsOf(training) {
  const nodes = new Map(training.workload.nodes.map((node) => [node.id, node]));
  /** @type {Map<string, Kind>} */
  const kinds = new Map();
  for (const event of training.events) {
    const node = nodes.get(event.node);
    if (node?.size_bytes === undefined) continue;
    const bytes = node.size_bytes;
    const key = `${event.plan} ${bytes}`;
    const kind = kinds.get(key) ?? newKind(event.plan === null ? null : training.plans[event.plan], bytes);
    kind.labels.add(labelOf(node));
    kind.count += 1;
    kind.total += event.end_s - event.start_s;
    kind.exposed += event.reconfiguration_exposed_s;
    kinds.set(key, kind);
  }
  return [...kinds.values()].sort((one, other) => other.total - one.total);
}

/** @type {(plan: Plan | null, bytes: number) => Kind} */
const newKind = (plan, bytes) => ({ plan, bytes, labels: new Set(), count: 0, total: 0, exposed: 0 });

/**
 * The axis or the groups of a collective; `sends` of messages.
 *
 * @param {WorkloadNode} node
 */
function labelOf({ axis, group }) {
  const names = [axis ?? group ?? "sends"].flat();
  return names.slice(0, MOST_GROUPS).join(", ") + (names.length > MOST_GROUPS ? ", …" : "");
}

/** @param {string[]} labels */
function some(labels) {
  const more = labels.length > MOST_LABELS ? ` and ${labels.length - MOST_LABELS} more` : "";
  return labels.slice(0, MOST_LABELS).join(", ") + more;
}
