// The widget of a training iteration: its policies, and its course in time.

import { onRedraw } from "../charts/axes.js";
import { tellRegistries } from "../registries.js";
import { iterationOf } from "../views/training-iteration.js";
import { frameOf } from "./frame.js";

/** @import { Model } from "./model.js" */

/**
 * Shows the widget; returns a function that ends it.
 *
 * @param {{model: Model, el: HTMLElement, style: string}} told
 */
export function render({ model, el, style }) {
  tellRegistries(JSON.parse(model.get("_registries")));
  const iteration = iterationOf(JSON.parse(model.get("_training")));
  const frame = frameOf({ el, style });
  frame.show(iteration.elements);
  iteration.redraw();
  const still = onRedraw(iteration.measured, iteration.redraw);
  return () => {
    still();
    frame.leave();
  };
}
