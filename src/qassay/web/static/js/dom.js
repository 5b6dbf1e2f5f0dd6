// Building what a page shows. Text goes in as text, never as markup: answers and documents are other people's.

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {string | number | boolean | null | undefined | ((event: any) => void) | Record<string, string>} Value */

/**
 * An element. Attributes: `onclick` and the like take functions, `class`, `dataset` an object, booleans switch
 * attributes on and off, the properties `value`, `checked`, `disabled`, `selected` and `hidden` are set as such.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, Value> | null} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") {
      if (!name.startsWith("on")) throw new TypeError(`${name} takes no function`);
      element.addEventListener(name.slice(2), value);
    } else if (typeof value === "object" && value !== null) {
      Object.assign(element.dataset, value);
    } else if (name.startsWith("on") || name === "style" || name === "srcdoc") {
      throw new TypeError(`${name} is not set from text`);
    } else if (["value", "checked", "disabled", "selected", "hidden"].includes(name)) {
      Reflect.set(element, name, value);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...nodes(children));
  return element;
}

/**
 * Text as a node.
 *
 * @param {...(string | number)} parts
 * @returns {Text}
 */
export function text(...parts) {
  return document.createTextNode(parts.join(""));
}

/**
 * Put other children into an element.
 *
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
}

/**
 * The element with this id; an error where the page has none of this kind.
 *
 * @template {HTMLElement} [Kind=HTMLElement]
 * @param {string} id
 * @param {new () => Kind} [kind]
 * @returns {Kind}
 */
export function byId(id, kind) {
  const element = document.getElementById(id);
  if (!element || (kind && !(element instanceof kind))) throw new Error(`no element #${id}`);
  return /** @type {Kind} */ (element);
}

/**
 * The context of the page, for pages that are declared with data=True.
 *
 * @returns {any}
 */
export function pageData() {
  return JSON.parse(byId("page-data").textContent ?? "null");
}

/**
 * What every page knows: who is signed in, and their shortcuts.
 *
 * @returns {{account: {name: string, role: string} | null, shortcuts: Record<string, string>}}
 */
export function siteData() {
  return JSON.parse(byId("site-data").textContent ?? "null");
}

/**
 * Say something to screen readers, without showing it.
 *
 * @param {string} message
 */
export function announce(message) {
  let place = document.getElementById("announcements");
  if (!place) {
    place = h("div", { id: "announcements", class: "visually-hidden", role: "status", "aria-live": "polite" });
    document.body.append(place);
  }
  fill(place, message);
}

const NOTICED = 6000;

/**
 * Say something for a moment, to be seen (in the footer, where it covers no button) and read out.
 *
 * @param {string} message
 * @param {"" | "warn"} [tone]
 */
export function notify(message, tone = "") {
  document.getElementById("notified")?.remove();
  const shown = h("p", { id: "notified", class: `notice ${tone} toast`, "aria-hidden": "true" }, message);
  byId("save-state").after(shown);
  setTimeout(() => shown.remove(), NOTICED);
  announce(message);
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
  /** @type {(Node | string)[]} */
  const flat = [];
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    if (child instanceof Node) flat.push(child);
    else flat.push(...visible(String(child)));
  }
  return flat;
}

// Characters that turn text around without being seen: an answer with one of them reads otherwise than it is written.
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * A text in which characters that turn its direction are shown as marks, and have no effect.
 *
 * @param {string} shown
 * @returns {(Node | string)[]}
 */
function visible(shown) {
  /** @type {(Node | string)[]} */
  const pieces = [];
  let at = 0;
  for (const { 0: character, index } of shown.matchAll(TURNING)) {
    const code = `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    const mark = document.createElement("span");
    mark.className = "control";
    mark.title = `${code}, a character that changes the direction of text`;
    mark.textContent = code;
    pieces.push(shown.slice(at, index), mark);
    at = index + 1;
  }
  pieces.push(shown.slice(at));
  return pieces;
}

/**
 * A number with its noun.
 *
 * @param {number} count
 * @param {string} noun
 * @returns {string}
 */
export const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/**
 * A text that is judged, in a box; a long one is scrolled by keys too.
 * @param {string} text
 * @param {string} label
 * @param {string} [form]  Another class of the box.
 */
export function textBox(text, label, form = "") {
  return h("p", { class: `answer-string ${form}`.trim(), dir: "auto", tabindex: "0", role: "group", "aria-label": label }, text || "(empty)");
}
