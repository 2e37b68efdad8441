// A plan taken along: the program of its switches, and files of other tools.

import { ask } from "../api.js";
import { h, replace } from "../dom.js";
import { downloads, fromServer, json } from "../downloads.js";
import { registry } from "../registries.js";
import { isDemo } from "../site.js";
import { card } from "../tables.js";

/** @import { Body, Entry, Fabric, Plan } from "../types.js" */

/**
 * A card of downloads for a plan. body: the options that it was planned with.
 *
 * @param {Plan} plan
 * @param {Body} body
 * @param {string} stem
 */
export function exportsOf(plan, body, stem) {
  return card(
    "For switches and other tools",
    h("p", {}, "Which port each switch joins to which, configuration by configuration:"),
    downloads([json(`${stem}-circuits.json`, () => ask("/api/circuits", body))]),
    h("p", { class: "quiet numbering" }),
    archives(body, stem, plan.fabric),
  );
}

/**
 * Whether a format has what differs in a fabric: rates of ports, or of pairs of GPUs.
 *
 * @param {Entry} format
 * @param {Fabric} fabric
 */
function hasRates(format, fabric) {
  const alike = format["one rate for all"] ?? "";
  const isByPort = Array.isArray(fabric.bandwidth_bps);
  return !(fabric.pair_rates && alike.includes("pairs")) && !(isByPort && alike.includes("ports"));
}

/**
 * Files of other tools, one format at a time: of those that have the rates of the fabric.
 *
 * @param {Body} body
 * @param {string} stem
 * @param {Fabric} fabric
 */
function archives(body, stem, fabric) {
  const formats = registry("formats").filter((format) => format.written !== "no" && hasRates(format, fabric));
  const select = h(
    "select",
    { id: "format" },
    formats.map(({ name, summary }) => h("option", { value: name }, `${name}: ${summary}`)),
  );
  const lost = h("p", { class: "quiet" });
  const file = h("div", {});
  const follow = () => {
    const format = formats.find(({ name }) => name === select.value);
    if (!format) return;
    replace(lost, format["cannot say"] ? `It cannot say: ${format["cannot say"]}.` : "");
    replace(
      file,
      isDemo
        ? ""
        : downloads([
            fromServer("Archive", `${stem}-${format.name}.zip`, "/api/export", () => ({ ...body, to: format.name })),
          ]),
    );
  };
  select.addEventListener("change", follow);
  follow();
  return [
    h("div", { class: "format" }, h("label", { for: "format" }, "Files of another tool"), select, file),
    lost,
    isDemo ? h("p", { class: "quiet" }, "Archives are made by a server, not by this demo.") : "",
  ];
}
