// Training: one iteration of a training job, its policies compared, its course in time.

import { ask, Refusal } from "../api.js";
import { onRedraw } from "../charts/axes.js";
import { announce, h, replace } from "../dom.js";
import { downloads, fromServer, json } from "../downloads.js";
import { bodyOf, optionsOf, startOf } from "../options.js";
import { counted, isKnown, time } from "../quantities.js";
import { breakEvenCard } from "./break-even.js";
import { topologyNames } from "./plan-names.js";
import { Scaffold } from "./scaffold.js";
import { changesWithin, iterationOf } from "./training-iteration.js";
import { onwardCard } from "./training-onward.js";
import { FIXED } from "./training-verdict.js";
import { workloadFields } from "./training-workload.js";

/** @import { Query } from "../address.js" */
/** @import { Body, Training } from "../types.js" */
/** @import { JobFields } from "./training-workload.js" */

const FIRST = ["ranks", "reconfiguration-delay", "ports", "bandwidth", "policy"];
/**
 * Makes the view.
 *
 * @param {HTMLElement} root
 */
export function mount(root) {
  let end = () => {};
  // Whether another job was chosen, for which the number of ranks may not do.
  let isOther = false;
  const extras = workloadFields((change) => {
    isOther = change.isOther ?? false;
    const ranks = frame.query().get("ranks");
    if (change.isOwn && ranks) {
      extras.leftOut(`${ranks} ranks are left out: a workload says how many it has.`);
      frame.form.set(without(frame.query(), "ranks"));
    }
    frame.changed(change);
  });
  const frame = new Scaffold({
    root,
    view: "training",
    verb: "train",
    title: "Training",
    first: FIRST,
    presets: ["train"],
    extras,
    start: (given) => (given.has("model") ? new Map() : startOf("train")),
    options: optionsOf("train").filter((option) => !extras.names.includes(option.name)),
    lead: "One iteration of a training job: all its collectives planned together, and when its circuits change.",
    code: (query) => [["train", bodyFor(query, extras)]],
    async compute(query, signal) {
      const body = bodyFor(query, extras);
      /** @type {Training} */
      let training;
      try {
        training = await ask("/api/train", { ...body, timeline: true }, { signal });
      } catch (error) {
        if (!isOther || !(error instanceof Refusal) || error.field !== "ranks") throw error;
        isOther = false;
        extras.leftOut(`${query.get("ranks")} ranks are left out. ${error.message}`);
        frame.instead(without(query, "ranks"));
        return;
      }
      isOther = false;
      end();
      extras.planned(training.workload, query.has("ranks"));
      end = draw(frame.result, training, body, query);
      tellNames(frame.result.querySelector(".names-of"), training, body, signal);
      announce(
        `An iteration takes ${time(training.total_s)}, with ${counted(training.reconfigurations + changesWithin(training), "reconfiguration")}.`,
      );
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
 * Explains the circuits that never change, once they are known; the iteration is shown without.
 *
 * @param {Element | null} place
 * @param {Training} training
 * @param {Body} body
 * @param {AbortSignal} signal
 */
async function tellNames(place, training, body, signal) {
  if (!place || !isKnown(training.policies[FIXED])) return;
  try {
    replace(place, topologyNames(await ask("/api/explain", { ...body, policy: FIXED }, { signal })));
  } catch {
    // The next change of the form asks anew.
  }
}

/** @type {(query: Query, left: string) => Query} */
const without = (query, left) => new Map([...query].filter(([name]) => name !== left));

/**
 * The request to the server: a model by its name, or the workload that was pasted.
 *
 * @param {Query} query
 * @param {JobFields} extras
 * @returns {Body}
 */
function bodyFor(query, extras) {
  const options = bodyOf("train", new Map([...query].filter(([name]) => !extras.names.includes(name))));
  return { ...extras.workload(), ...options };
}

/**
 * Shows an iteration; returns a function that cancels pending work.
 *
 * @param {HTMLElement} result
 * @param {Training} training
 * @param {Body} body
 * @param {Query} query
 */
function draw(result, training, body, query) {
  const iteration = iterationOf(training);
  const breakEven = breakEvenCard(body);
  replace(
    result,
    iteration.elements,
    breakEven.element,
    onwardCard(training, body, query),
    h("div", { class: "card" }, files(training, body)),
  );
  const redraw = () => {
    iteration.redraw();
    breakEven.redraw();
  };
  redraw();
  const still = onRedraw(iteration.measured, redraw);
  return () => {
    still();
    breakEven.leave();
  };
}

/**
 * @param {Training} training
 * @param {Body} body
 */
function files(training, body) {
  const { timeline: _, ...told } = training;
  const of = { of: "train", ...body };
  return downloads([
    json("lightloom-training.json", () => told),
    fromServer("CSV", "lightloom-training.csv", "/api/table", () => ({ ...of, format: "csv" })),
    fromServer("SVG", "lightloom-training.svg", "/api/picture", () => ({ ...of, format: "svg" })),
    fromServer("PNG", "lightloom-training.png", "/api/picture", () => ({ ...of, format: "png" })),
  ]);
}
