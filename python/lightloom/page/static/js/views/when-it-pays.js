// When does it pay? A map of how much faster changing circuits is, over two axes.

import { followOn, isAborted, Refusal } from "../api.js";
import { LAYERS } from "../charts/map-layers.js";
import { announce, h } from "../dom.js";
import { axisBody, axisFields } from "../map-axes.js";
import { bodyOf, NEVER_CHANGE } from "../options.js";
import { registry } from "../registries.js";
import { notice, partNotice } from "../work.js";
import { PaysMap } from "./pays-map.js";
import { Scaffold } from "./scaffold.js";

/** @import { Query } from "../address.js" */
/** @import { Listeners } from "../api.js" */
/** @import { AskedAxis } from "../map-axes.js" */
/** @import { Extras } from "./scaffold.js" */
/** @import { Body } from "../types.js" */

/**
 * Body of a request for a map: options of the plans, two axes, and a planner to compare with.
 *
 * @typedef {{options: Body, x: AskedAxis, y: AskedAxis, against: string | undefined}} AskedMap
 */

const FIRST = ["collective", "size", "gpus", "reconfiguration-delay", "ports", "bandwidth"];

/**
 * Makes the view.
 *
 * @param {HTMLElement} root
 */
export function mount(root) {
  let end = () => {};
  const extras = withLayer(axisFields((change) => frame.changed(change), BASELINES()));
  const frame = new Scaffold({
    root,
    view: "when-it-pays",
    verb: "plan",
    title: "When does it pay?",
    first: FIRST,
    presets: ["map"],
    extras,
    lead: "The best plan over one that leaves the circuits as they are, on a map of two options of your choice.",
    code: (query) => [["map", bodyFor(query)]],
    async compute(query, signal) {
      const stop = new AbortController();
      const view = new PaysMap(frame.result, {
        query,
        problem: problemOf(query),
        layer: extras.layer(),
        onLayer(name) {
          extras.choose(name);
          frame.restated();
        },
        onStop: () => stop.abort(),
        signal,
      });
      const body = bodyFor(query);
      end();
      end = () => view.leave();
      /** @type {Required<Listeners<"/api/map">>} */
      const on = { row: (cell) => view.add(cell), progress: (said) => view.progress(said) };
      try {
        const whole = await followOn("/api/map", body, on, { signal: AbortSignal.any([signal, stop.signal]) });
        if (whole instanceof Refusal) {
          view.rest();
          frame.result.prepend(
            partNotice(
              whole,
              reachedWords(view.reached),
              onward(() => frame.again()),
            ),
          );
        } else view.finish(whole);
      } catch (error) {
        if (signal.aborted) throw error;
        view.rest();
        // A map of refused cells says so itself.
        if (!isAborted(error) && !view.isRefused) throw error;
        if (!view.isRefused) frame.result.prepend(stoppedNotice(view.reached, () => frame.again()));
      }
      announce(view.sentence());
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

// The baselines that the best plan is compared with: the best plan whose circuits never change, or another planner.
const BASELINES = () =>
  [...registry("planners")].sort(
    (one, other) => Number(other.name === NEVER_CHANGE) - Number(one.name === NEVER_CHANGE),
  );
const AXES = new Set(["x", "y", "x-from", "x-to", "x-points", "y-from", "y-to", "y-points", "against", "layer"]);

/**
 * The problem without the axes.
 *
 * @param {Query} query
 * @returns {Query}
 */
const problemOf = (query) => new Map([...query].filter(([name]) => !AXES.has(name)));

/**
 * @param {Query} query
 * @returns {AskedMap}
 */
function bodyFor(query) {
  return {
    options: bodyOf("plan", problemOf(query)),
    x: axisBody(query, "x"),
    y: axisBody(query, "y"),
    against: query.get("against"),
  };
}

/**
 * The fields of the axes, and the layer that is shown, which the map itself changes.
 *
 * @param {Extras} fields
 */
function withLayer(fields) {
  const [usual] = LAYERS.map(({ name }) => name);
  let layer = usual;
  /** @param {string | undefined} name */
  const isKnown = (name) => LAYERS.some((each) => each.name === name);
  return {
    ...fields,
    names: [...fields.names, "layer"],
    layer: () => layer,
    /** @param {string} name */
    choose(name) {
      layer = name;
    },
    /** @returns {[string, string][]} */
    values: () => [...fields.values(), ["layer", layer === usual ? "" : layer]],
    /** @param {Query} query */
    set(query) {
      fields.set(query);
      const told = query.get("layer") ?? usual;
      layer = isKnown(told) ? told : usual;
    },
    /** @param {Query} query */
    unknown(query) {
      const told = query.get("layer");
      const words = `layer=${told}: the map has no such layer, and ${LAYERS[0].words.toLowerCase()} is shown`;
      return [...(fields.unknown?.(query) ?? []), ...(told && !isKnown(told) ? [words] : [])];
    },
  };
}

/**
 * That the rest of a map was not wanted.
 *
 * @param {{done: number, of: number}} reached
 * @param {() => void} again
 */
const stoppedNotice = ({ done, of }, again) =>
  notice(
    "",
    `Stopped: ${done} of ${of} cells are computed, and the others look like their neighbours.`,
    h("button", { type: "button", class: "small", onclick: again }, "Compute on"),
  );

/** @param {() => void} again */
const onward = (again) => h("button", { type: "button", class: "small", onclick: again }, "Compute on");

/**
 * The number of cells of a map that the server ended, which keeps them.
 *
 * @param {{done: number, of: number}} reached
 */
const reachedWords = ({ done, of }) =>
  h(
    "span",
    {},
    `${done} of ${of} cells are computed, and the others look like their neighbours. Computing on begins with these.`,
  );
