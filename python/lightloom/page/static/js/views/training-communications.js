// Training: the kinds of communication of an iteration, thousands of events in few rows.

import { h } from "../dom.js";
import { counted, size, time } from "../quantities.js";
import { table } from "../tables.js";

/** @import { Plan, Training, WorkloadNode } from "../types.js" */

// Names of groups in a cell.
const MOST_NAMES = 2;

/**
 * Events that are alike. labels: the axes or groups whose ranks communicate.
 *
 * @typedef {{plan: Plan, bytes: number, labels: Set<string>, count: number, total: number, exposed: number}} Kind
 */

/** @param {Training} training */
export function communicationTable(training) {
  const rows = kindsOf(training).map(({ plan, bytes, labels, count, total, exposed }) => ({
    cells: [
      plan.collective,
      some([...labels]),
      String(plan.gpus),
      size(bytes),
      plan.algorithm,
      String(count),
      time(plan.total_s),
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
 * Collectives of one plan and size; those that take most time in all first.
 *
 * @param {Training} training
 */
function kindsOf(training) {
  const nodes = new Map(training.workload.nodes.map((node) => [node.id, node]));
  /** @type {Map<string, Kind>} */
  const kinds = new Map();
  for (const event of training.events) {
    const node = nodes.get(event.node);
    if (event.plan === null || !node) continue;
    const bytes = node.size_bytes ?? 0;
    const key = `${event.plan} ${bytes}`;
    const kind = kinds.get(key) ?? newKind(training.plans[event.plan], bytes);
    for (const label of labelsOf(node)) kind.labels.add(label);
    kind.count += 1;
    kind.total += event.end_s - event.start_s;
    kind.exposed += event.reconfiguration_exposed_s;
    kinds.set(key, kind);
  }
  return [...kinds.values()].sort((one, other) => other.total - one.total);
}

/** @type {(plan: Plan, bytes: number) => Kind} */
const newKind = (plan, bytes) => ({ plan, bytes, labels: new Set(), count: 0, total: 0, exposed: 0 });

/**
 * The axis or groups of a collective.
 *
 * @param {WorkloadNode} node
 */
const labelsOf = ({ axis, group }) => [axis ?? group ?? []].flat();

/** @param {string[]} names */
function some(names) {
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  return names.slice(0, MOST_NAMES).join(", ") + more;
}
