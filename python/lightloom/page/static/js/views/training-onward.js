// Training: the way from an iteration to its circuits on switches, what their names mean, and advice on switches.

import { addressOf } from "../address.js";
import { ask } from "../api.js";
import { h } from "../dom.js";
import { downloads, json } from "../downloads.js";
import { MOST_PACKED } from "../packed.js";
import { card } from "../tables.js";
import { jobText } from "./advice-job.js";

/** @import { Query } from "../address.js" */
/** @import { Body, Training } from "../types.js" */

/**
 * A card of the configuration of switches, and of advice for the same job.
 *
 * @param {Training} training
 * @param {Body} body
 * @param {Query} query
 */
export function onwardCard(training, body, query) {
  const { model, workload } = body;
  const job = typeof model === "string" ? model : Object(workload);
  const asked = new Map([
    ["job", jobText(job, training.workload.ranks, query)],
    ["switches", "all"],
  ]);
  const address = addressOf("advice", asked);
  return card(
    "For switches",
    h("p", {}, "Which port each switch joins to which, configuration by configuration of the iteration:"),
    downloads([json("lightloom-training-circuits.json", () => ask("/api/circuits", body))]),
    h(
      "p",
      { class: "quiet" },
      "On other switches, such as one for each port: add ",
      h("code", {}, "--output iteration.json"),
      " to the command below, then ",
      h("code", {}, "lightloom circuits iteration.json --optics parallel"),
      ".",
    ),
    address.length <= MOST_PACKED
      ? h("p", {}, h("a", { href: address }, "Which switch does this job need?"))
      : h("p", { class: "quiet" }, "For advice on switches, this workload is too long to be passed on by a link."),
  );
}
