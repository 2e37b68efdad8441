// A problem in a line, for where its form is folded.

import { defaultOf, labelOf, optionsOf } from "../options.js";

/** @import { Query } from "../address.js" */

const NAMED = ["model", "collective", "size"];
const COUNTED = [
  ["gpus", "GPUs"],
  ["ranks", "ranks"],
];
const FIRST = [...NAMED, ...COUNTED.map(([name]) => name)];
const MOST = 3;

/**
 * `64 GPUs · all-reduce · 1MiB · ports 2 · …`: the first options of a query for a verb, and as many others as have
 * room.
 *
 * @param {string} verb
 * @param {Query} query
 */
export function problemWords(verb, query) {
  const known = new Map(optionsOf(verb).map((option) => [option.name, option]));
  const counted = COUNTED.filter(([name]) => query.get(name)).map(([name, words]) => `${query.get(name)} ${words}`);
  const job = query.get("job");
  const named = [...NAMED.map((name) => query.get(name)), job && jobName(job)].filter(Boolean);
  const more = [...query].flatMap(([name, value]) => {
    const option = known.get(name);
    if (!option || FIRST.includes(name) || value === "" || value === defaultOf(option, query.get("fabric"))) return [];
    return [`${lower(labelOf(option))} ${short(value)}`];
  });
  const [x, y] = [query.get("x"), query.get("y")];
  const axes = x !== undefined && y !== undefined ? [`${words(y)} by ${words(x)}`] : [];
  // What the second of two fabrics has instead.
  const others = [...query].filter(([name, value]) => name.startsWith("other-") && value);
  const second = others.map(([name, value]) => `or ${words(name.slice("other-".length))} ${short(value)}`);
  return [...counted, ...named, ...axes, ...second, ...more.slice(0, MOST), ...(more.length > MOST ? ["…"] : [])].join(
    " · ",
  );
}

/**
 * The name of a job of TOML.
 *
 * @param {string} text
 */
const jobName = (text) => short(/^\s*name\s*=\s*"([^"\n]*)"/m.exec(text)?.[1] || "a job");
/** @param {string} name */
const words = (name) => name.replaceAll("-", " ");
/** @param {string} label */
const lower = (label) => (label === "GPUs" ? label : label[0].toLowerCase() + label.slice(1));
/** @param {string} value */
const short = (value) => (value.length > 24 ? `${value.slice(0, 23)}…` : value);
