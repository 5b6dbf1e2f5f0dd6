// Notes: kept in the browser while they are typed, saved with the decision, and where there is one already, on leaving
// the field. A note on an item that is not judged yet waits here, also over a reload, until it is.

import { h } from "./dom.js";
import { keyFor, register } from "./keys.js";
import { recall, remember } from "./remembered.js";

/**
 * @typedef {import("./supply.js").ItemView} ItemView
 * @typedef {import("./supply.js").PartView} PartView
 * @typedef {{item: number, part: string, note: string}} Draft
 */

const KEPT = 500;

export class NoteField {
  /**
   * @param {import("./workbench.js").Workbench} bench
   * @param {{on?: string, folded?: boolean}} [options]  `on`: what a note is on; `folded`: shown as a line until it is wanted.
   */
  constructor(bench, { on = "this item", folded = false } = {}) {
    this.bench = bench;
    this.place = `qassay-notes-${bench.sheet.assessor.id}`;
    /** @type {{view: ItemView, part: PartView} | null} */
    this.of = null;
    this.field = h("textarea", { id: "note", rows: "2", maxlength: "2000", dir: "auto", "aria-label": "Note" });
    this.shortcut = `${bench.sheet.screen}.note`;
    register(this.shortcut, "m", `Write a note on ${on}`, () => this.focus());
    this.key = h("kbd", null, keyFor(this.shortcut));
    const saved = h("span", { class: "faint" }, "(saved automatically)");
    this.element = folded
      ? h("details", { class: "note" }, h("summary", null, "Note ", this.key, " ", saved), this.field)
      : h("label", { class: "note" }, "Note ", this.key, " ", saved, this.field);
    this.field.addEventListener("input", () => this.keep());
    this.field.addEventListener("blur", () => this.save());
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.isComposing) return;
      event.preventDefault();
      this.bench.stage.focus({ preventScroll: true }); // the note is saved on leaving; keys decide again
    });
    addEventListener("pagehide", () => this.save());
  }

  focus() {
    this.unfold(true);
    this.field.focus();
  }

  /** @param {boolean} open */
  unfold(open) {
    if (this.element instanceof HTMLDetailsElement) this.element.open = open;
  }

  /**
   * Show the note on a part of an item; the one before is saved first.
   * @param {ItemView} view
   * @param {PartView} part
   */
  show(view, part) {
    const same = this.of?.view.id === view.id && this.of.part.part === part.part;
    if (!same) this.save();
    this.of = { view, part };
    this.key.textContent = keyFor(this.shortcut);
    this.field.value = this.draft(view, part) ?? part.verdict?.note ?? "";
    if (!same) this.unfold(this.field.value !== "");
  }

  /**
   * The note that goes with a decision: it is a draft no longer.
   * @returns {{note?: string}}
   */
  taken() {
    const note = this.field.value.trim();
    this.forget();
    return note ? { note } : {};
  }

  /** Save the note of an item that is judged, as its verdict with another note. */
  save() {
    if (!this.of) return;
    const { view, part } = this.of;
    const note = this.field.value.trim();
    if (part.verdict === null || this.bench.sheet.locked) return;
    if (note === (part.verdict.note ?? "")) return this.forget();
    this.forget();
    const { note: _, ...verdict } = part.verdict;
    this.bench.decideOn(view, part, { ...verdict, ...(note ? { note } : {}) });
  }

  keep() {
    if (!this.of) return;
    const { view, part } = this.of;
    const others = this.others(view, part);
    remember(this.place, [...others, { item: view.id, part: part.part, note: this.field.value }].slice(-KEPT));
  }

  forget() {
    if (this.of) remember(this.place, this.others(this.of.view, this.of.part));
  }

  /**
   * @param {ItemView} view
   * @param {PartView} part
   * @returns {string | undefined}
   */
  draft(view, part) {
    return recall(this.place).find((/** @type {Draft} */ draft) => draft.item === view.id && draft.part === part.part)?.note;
  }

  /**
   * @param {ItemView} view
   * @param {PartView} part
   * @returns {Draft[]}
   */
  others(view, part) {
    return recall(this.place).filter((/** @type {Draft} */ draft) => draft.item !== view.id || draft.part !== part.part);
  }
}
