// Nuggets that assessors wrote, side by side: what differs first, with the words that differ marked.
import { h, plural } from "./dom.js";

/**
 * @typedef {{place: number, words: {text: string, differs: boolean}[], vital: boolean, responses: number}} Cell
 * @typedef {{likeness: "same" | "differs" | "missing", cells: (Cell | null)[]}} Row
 */

const SECTIONS = /** @type {[Row["likeness"], string][]} */ ([
  ["differs", "Other words, or vital to some only"],
  ["missing", "Not on all lists"],
  ["same", "The same on all lists"],
]);

/**
 * @param {Row[]} rows
 * @returns {string}
 */
export function howListsDiffer(rows) {
  const alike = rows.every((row) => row.likeness === "same");
  return alike ? "The assessors' nuggets are the same; what was matched with them is not." : "The assessors wrote their own nuggets.";
}

/**
 * @param {Row[]} rows
 * @param {(place: number) => string} letter  How the list at a place is called.
 */
export function nuggetComparison(rows, letter) {
  const lists = rows[0]?.cells.length ?? 0;
  const names = Array.from({ length: lists }, (_, place) => `Assessor ${letter(place)}`);
  const bodies = SECTIONS.map(([likeness, title]) => {
    const some = rows.filter((row) => row.likeness === likeness);
    if (!some.length) return null;
    return h("tbody", { class: likeness },
      h("tr", null, h("th", { scope: "rowgroup", colspan: String(lists) }, `${title} (${some.length})`)),
      some.map((row) => h("tr", null, row.cells.map((cell, place) => shown(cell, names[place] ?? "", row)))));
  });
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Nuggets side by side" },
    h("table", { class: "side-by-side" },
      h("thead", null, h("tr", null, names.map((name) => h("th", { scope: "col" }, name)))),
      bodies));
}

/**
 * @param {Cell | null} cell
 * @param {string} name
 * @param {Row} row
 */
function shown(cell, name, row) {
  if (!cell) return h("td", { class: "none", dataset: { of: name } }, h("span", { class: "faint" }, "not on this list"));
  const differing = row.cells.find((other) => other && other.vital !== cell.vital);
  return h("td", { dataset: { of: name } },
    h("span", { dir: "auto" }, h("bdi", null, cell.words.flatMap(marked))), " ",
    h("span", { class: cell.vital ? "badge weight accent" : "badge weight" }, cell.vital ? "vital" : "okay", differing ? h("span", { class: "visually-hidden" }, " (others say otherwise)") : null), " ",
    h("span", { class: "faint small" }, `no. ${cell.place + 1}, in ${plural(cell.responses, "response")}`));
}

/** @param {{text: string, differs: boolean}} part */
function marked(part) {
  if (!part.differs) return [part.text];
  const text = part.text.trimEnd();
  return [h("mark", null, text), part.text.slice(text.length)];
}
