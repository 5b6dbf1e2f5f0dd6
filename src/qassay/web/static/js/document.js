// The document of an answer beside it: plain text, the string marked and scrolled to.
import { ApiError, get } from "./api.js";
import { fill, h } from "./dom.js";
import { REACHED } from "./outbox.js";

/** @typedef {{id: string, title: string | null, text: string, marks: [number, number][], begins: number, length: number, found: string | null}} DocumentView */

/** @type {Map<string, Promise<DocumentView>>} */
const fetched = new Map();
const KEPT = 40;

const HOW = /** @type {Record<string, string>} */ ({
  exact: "",
  similar: "Found with other spaces, punctuation or capitals.",
  words: "Exact text not found; its words are marked.",
  none: "Text not found in this document.",
});

/**
 * @param {string} doc
 * @param {{find?: string, start?: number, length?: number}} mark
 * @returns {Promise<DocumentView>}
 */
export function fetchDocument(doc, mark) {
  const query = new URLSearchParams({ id: doc });
  // An address has its limits; the beginning of a long string finds it as well.
  if (mark.find) query.set("find", mark.find.slice(0, 2000));
  if (mark.start !== undefined) query.set("start", String(mark.start));
  if (mark.length !== undefined) query.set("length", String(mark.length));
  const address = `/document?${query}`;
  let request = fetched.get(address);
  if (!request) {
    request = get(address);
    request.catch(() => fetched.delete(address));
    fetched.set(address, request);
    if (fetched.size > KEPT) fetched.delete(String(fetched.keys().next().value));
  }
  return request;
}

/**
 * The panel for the document of an item.
 * @param {boolean} hasCollection
 * @param {{body: Record<string, any>}} view
 */
export function documentPanel(hasCollection, view) {
  const { doc, text, start, length } = view.body;
  const body = h("div", { class: "document-text", tabindex: "0", role: "region", "aria-label": `Document ${doc}`, dir: "auto" });
  const remark = h("p", { class: "faint" });
  const title = h("h2", null, h("bdi", null, doc ?? "No document"));
  const panel = h("section", { class: "document" }, title, remark, body);
  if (!doc || !hasCollection) {
    remark.textContent = doc ? "The evaluation has no collection, so the document cannot be shown." : "";
    body.hidden = true;
    return panel;
  }
  const mark = start === undefined || start === null ? { find: text } : { start, length };
  const load = async () => {
    remark.textContent = "Loading…";
    try {
      const shown = await fetchDocument(doc, mark);
      const cut = shown.text.length < shown.length ? ` Shown from character ${shown.begins + 1} of ${shown.length}.` : "";
      if (shown.title && shown.title !== doc) fill(title, h("bdi", null, shown.title), " ", h("small", { class: "faint" }, h("bdi", null, doc)));
      remark.textContent = shown.length === 0 ? "This document is empty." : (HOW[shown.found ?? (text ? "none" : "exact")] ?? "") + cut;
      body.hidden = shown.length === 0;
      fill(body, marked(shown));
      reveal(body);
    } catch (error) {
      body.hidden = true;
      remark.textContent = error instanceof ApiError ? error.message : "The document cannot be loaded.";
      if (error instanceof ApiError && error.away) addEventListener(REACHED, () => panel.isConnected && void load(), { once: true });
    }
  };
  void load();
  return panel;
}

/**
 * The answer with its document beside it; where there is no room, the document comes before the less important part.
 * @param {HTMLElement} answer
 * @param {HTMLElement} panel
 * @param {HTMLElement} rest
 */
export function besideDocument(answer, panel, rest) {
  return h("div", { class: "judge-columns beside" }, answer, panel, rest);
}

/**
 * The text with its marks.
 * @param {{text: string, marks: [number, number][]}} view
 * @returns {(string | Node)[]}
 */
export function marked(view) {
  /** @type {(string | Node)[]} */
  const pieces = [];
  // Offsets count code points, as Python's strings do; JavaScript's count otherwise beyond the basic plane.
  const points = /[\ud800-\udbff]/.test(view.text) ? Array.from(view.text) : null;
  const cut = (/** @type {number} */ from, /** @type {number} */ to) =>
    points ? points.slice(from, to).join("") : view.text.slice(from, to);
  let at = 0;
  for (const [from, to] of view.marks) {
    if (from < at) continue;
    pieces.push(cut(at, from), h("mark", null, cut(from, to)));
    at = to;
  }
  pieces.push(cut(at, points ? points.length : view.text.length));
  return pieces;
}

/**
 * Scroll the first mark to the middle of its box, and nothing else.
 * @param {HTMLElement} box
 */
export function reveal(box) {
  requestAnimationFrame(() => {
    const mark = box.querySelector("mark");
    if (mark) box.scrollTop += mark.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
  });
}
