// A plan taken along: the program of its switches, and files of other tools.

import { ask } from "../api.js";
import { h, replace } from "../dom.js";
import { downloads, fromServer, json } from "../downloads.js";
import { hasOneRate } from "../quantities.js";
import { registry } from "../registries.js";
import { isDemo } from "../site.js";
import { card } from "../tables.js";

/** @import { Body, Plan } from "../types.js" */

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
    hasOneRate(plan.fabric)
      ? archives(body, stem)
      : h("p", { class: "quiet" }, "No format of another tool has circuits of different rates."),
  );
}

/**
 * Files of other tools, one format at a time.
 *
 * @param {Body} body
 * @param {string} stem
 */
function archives(body, stem) {
  const formats = registry("formats").filter(({ written }) => written !== "no");
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
