// Training: the way from an iteration to its circuits on switches, what their names mean, and advice on switches.

import { addressOf } from "../address.js";
import { ask } from "../api.js";
import { h } from "../dom.js";
import { downloads, json } from "../downloads.js";
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
  const { model } = body;
  const job = typeof model === "string" ? jobText(model, training.workload.ranks, query) : null;
  const address =
    job &&
    addressOf(
      "advice",
      new Map([
        ["job", job],
        ["switches", "all"],
      ]),
    );
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
    address ? h("p", {}, h("a", { href: address }, "Which switch does this job need?")) : null,
  );
}
