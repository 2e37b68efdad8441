// Elements made from data; text is always set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Content of an element: elements, texts, lists of these; null, undefined and false are left out.
 *
 * @typedef {Node | string | number | false | null | undefined} Single
 * @typedef {Single | readonly Child[]} Child
 */

/**
 * Attributes by name: `on…` are listeners; null, undefined and false are left out.
 *
 * @typedef {string | number | boolean | null | undefined | ((event: Event) => void)} Attribute
 * @typedef {Record<string, Attribute>} Attributes
 */

/**
 * An HTML element. attributes: `on…` are listeners, `class`, `data-…`; false and null are left out.
 *
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes]
 * @param {...Child} children
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
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[Name]}
 */
export function s(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/**
 * @template {HTMLElement | SVGElement} Filled
 * @param {Filled} element
 * @param {Attributes} attributes
 * @param {readonly Child[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), /** @type {(event: Event) => void} */ (value));
    else if (name === "value" && "value" in element) element.value = value;
    else if (name === "checked" && "checked" in element) element.checked = Boolean(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/**
 * Adds children: elements, texts, lists of these; null and false are left out.
 *
 * @template {ParentNode} Filled
 * @param {Filled} element
 * @param {readonly Child[]} children
 */
export function append(element, children) {
  // The type of lists of any depth is more than the checker follows.
  const single = /** @type {Single[]} */ (/** @type {readonly unknown[]} */ (children).flat(Infinity));
  for (const child of single) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/**
 * The element of the page with this id, which its HTML has.
 *
 * @param {string} id
 */
export function part(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element ${id}`);
  return element;
}

/**
 * The links of the header to the views. `data-view`: a view's name. `data-verb`: the verb whose options it has, none of
 * a view that has no form. `data-own`: options whose values other views do not share, for they are of other problems.
 *
 * @returns {HTMLElement[]}
 */
export const viewLinks = () => [...document.querySelectorAll(".views a")].filter((link) => link instanceof HTMLElement);

/**
 * Replaces the content of an element.
 *
 * @template {ParentNode} Filled
 * @param {Filled} element
 * @param {...Child} children
 */
export function replace(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

/**
 * The parts of a text, what stands between backticks as code.
 *
 * @param {string} text
 */
export const withCode = (text) => text.split("`").map((part, at) => (at % 2 ? h("code", {}, part) : part));

/**
 * A text whose code is not marked, for those who hear it.
 *
 * @param {string} text
 */
export const withoutCode = (text) => text.replaceAll("`", "");

/**
 * Sets a select. A value that it does not offer is shown all the same, so that the server can report it.
 *
 * @param {HTMLSelectElement} select
 * @param {string} value
 */
export function choose(select, value) {
  if (![...select.options].some((option) => option.value === value)) select.append(h("option", { value }, value));
  select.value = value;
}

let made = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let announcing;

/**
 * An id that no other element has.
 *
 * @param {string} stem
 */
export function freshId(stem) {
  made += 1;
  return `${stem}-${made}`;
}

/**
 * Says something to screen readers, once it has settled; nothing in a notebook, which has no place for it.
 *
 * @param {string} words
 */
export function announce(words) {
  clearTimeout(announcing);
  announcing = setTimeout(() => {
    const status = document.getElementById("status");
    if (status) status.textContent = words;
  }, 350);
}

export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
