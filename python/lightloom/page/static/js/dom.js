// Elements made from data; text is always set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element. attributes: `on…` are listeners, `class`, `data-…`; false and null are left out.
 *
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, any>} [attributes]
 * @param {...any} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function h(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/**
 * An SVG element.
 *
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, any>} [attributes]
 * @param {...any} children
 * @returns {SVGElementTagNameMap[Name]}
 */
export function s(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" && "value" in element) element.value = value;
    else if (name === "checked") element.checked = Boolean(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/** Adds children: elements, texts, lists of these; null and false are left out. */
export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** The element of the page with this id, which its HTML has. */
export function part(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element ${id}`);
  return element;
}

/** Replaces the content of an element. */
export function replace(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

/** The parts of a text, what stands between backticks as code. */
export const withCode = (text) => text.split("`").map((part, at) => (at % 2 ? h("code", {}, part) : part));

/**
 * Sets a select. A value that it does not offer is shown all the same, so that the server can report it.
 */
export function choose(select, value) {
  if (![...select.options].some((option) => option.value === value)) select.append(h("option", { value }, value));
  select.value = value;
}

let made = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let announcing;

/** An id that no other element has. */
export function freshId(stem) {
  made += 1;
  return `${stem}-${made}`;
}

/** Says something to screen readers, once it has settled. */
export function announce(words) {
  clearTimeout(announcing);
  announcing = setTimeout(() => {
    part("status").textContent = words;
  }, 350);
}

export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
