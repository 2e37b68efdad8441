// A problem in a line, for where its form is folded.

import { defaultOf, labelOf, optionsOf } from "../options.js";

const NAMED = ["model", "collective", "size"];
const COUNTED = [
  ["gpus", "GPUs"],
  ["ranks", "ranks"],
];
const FIRST = [...NAMED, ...COUNTED.map(([name]) => name)];
const MOST = 3;

/** `64 GPUs · all-reduce · 1MiB · ports 2 · …`: the first options of a query, and as many others as have room. */
export function problemWords(query) {
  const known = new Map(["plan", "train"].flatMap(optionsOf).map((option) => [option.name, option]));
  const isSet = ([name, value]) =>
    !FIRST.includes(name) &&
    known.has(name) &&
    value !== "" &&
    value !== defaultOf(known.get(name), query.get("fabric"));
  const counted = COUNTED.filter(([name]) => query.get(name)).map(([name, words]) => `${query.get(name)} ${words}`);
  const named = NAMED.map((name) => query.get(name)).filter(Boolean);
  const more = [...query].filter(isSet).map(([name, value]) => `${lower(labelOf(known.get(name)))} ${short(value)}`);
  const axes = query.has("x") && query.has("y") ? [`${words(query.get("y"))} by ${words(query.get("x"))}`] : [];
  return [...counted, ...named, ...axes, ...more.slice(0, MOST), ...(more.length > MOST ? ["…"] : [])].join(" · ");
}

const words = (name) => name.replaceAll("-", " ");
const lower = (label) => (label === "GPUs" ? label : label[0].toLowerCase() + label.slice(1));
const short = (value) => (value.length > 24 ? `${value.slice(0, 23)}…` : value);
