// What is judged, fetched before it is wanted: the coming items of a question, and the question after it.

import { get } from "./api.js";
import { decisionsOn, firstOpen, isComplete } from "./order.js";

/**
 * @typedef {Record<string, any>} Verdict
 * @typedef {{part: string, kind: string, verdict: Verdict | null, version: number, required: boolean}} PartView
 * @typedef {{id: number, kind: string, body: Record<string, any>, parts: PartView[], complete: boolean, titles?: Record<string, string>}} ItemView
 * @typedef {{id: number, complete: boolean, made: number, kind: string, label: string, place: string | null, verdict: string | null}} Place
 * @typedef {object} Sheet
 * @property {number} assignment
 * @property {string} screen
 * @property {{screen: string, title: string, done: number, total: number, open: boolean}[]} stages
 * @property {{id: string, type: string, text: string}[]} earlier
 * @property {boolean} has_collection
 * @property {Record<string, any>} question
 * @property {string[]} labels
 * @property {import("./labels.js").Choices | null} choices  What a verdict on this screen chooses from.
 * @property {Place[]} items
 * @property {number} total
 * @property {number} done
 * @property {boolean} closed
 * @property {boolean} locked  An adjudicator has ruled on it: it takes no decisions.
 * @property {number | null} next  The assignment after this one that has open work.
 * @property {{id: number, name: string}} assessor
 * @property {{answer: string, doc: string | null}[]} known  Known answers of the question.
 * @property {Record<string, string>} titles  Of the documents of known answers, by their ids.
 * @property {{done: number, total: number, minutes_left: number | null}} job  All decisions that are assigned to the assessor.
 * @property {Record<number, string> | null} flags  Items that the assessor flagged, with their reasons.
 */

const AHEAD = 4;
const KEPT = 60;

/**
 * Count an item of a sheet again.
 * @param {Sheet} sheet
 * @param {Place} place
 * @param {ItemView} view  The item as it is now.
 */
function recount(sheet, place, view) {
  const { made } = decisionsOn(view);
  const field = sheet.choices?.field;
  sheet.done += made - place.made;
  sheet.job.done += made - place.made;
  const verdict = field && view.parts.length === 1 ? (view.parts[0].verdict?.[field] ?? null) : null;
  Object.assign(place, { complete: view.complete, made, verdict });
}

/**
 * An item as it will be when the decisions that are on their way have arrived: a page that is loaded again shows them.
 * @param {ItemView} view
 * @param {import("./outbox.js").PendingSave[]} letters  Those about this item, oldest first.
 */
function withLetters(view, letters) {
  for (const { body } of letters) {
    const part = view.parts.find((candidate) => candidate.part === body.part);
    if (!part || part.version !== body.expected) continue; // it has arrived, or will be refused
    if ("verdict" in body) part.verdict = /** @type {Verdict} */ (body.verdict);
    else if (body.to === 0) part.verdict = null;
    part.version += 1;
  }
  view.complete = isComplete(view);
  return view;
}

export class Supply {
  /**
   * @param {Sheet} sheet  The question that is shown.
   * @param {() => import("./outbox.js").PendingSave[]} letters  Decisions on their way to the server.
   */
  constructor(sheet, letters) {
    this.sheet = sheet;
    this.letters = letters;
    /** @type {Map<number, Promise<ItemView>>} */
    this.items = new Map();
    /** @type {Promise<Sheet> | null} */
    this.following = null;
  }

  /**
   * Another question is shown: what followed the one before does not follow it.
   * @param {Sheet} sheet
   */
  begin(sheet) {
    this.sheet = sheet;
    this.following = null;
  }

  /**
   * An item, fetched once, with the decisions on it that are on their way.
   * @param {number} id
   * @param {number} assignment
   * @returns {Promise<ItemView>}
   */
  item(id, assignment = this.sheet.assignment) {
    let view = this.items.get(id);
    if (!view) {
      const underWay = this.letters().filter(({ body }) => body.item === id);
      view = get(`/judge/${assignment}/items/${id}`).then((fetched) => withLetters(fetched, underWay));
      view.catch(() => this.items.delete(id));
      this.items.set(id, view);
    }
    return view;
  }

  /**
   * The sheet of a question that comes after the one shown.
   * @param {number} number
   */
  next(number) {
    return this.following && number === this.sheet.next ? this.following : this.question(number);
  }

  /**
   * Count an item of the question shown as it is.
   * @param {ItemView} view
   */
  count(view) {
    const place = this.sheet.items.find((item) => item.id === view.id);
    if (place) recount(this.sheet, place, view);
  }

  /**
   * The sheet of a question, with the decisions that are on their way as it is asked for. What has arrived the server
   * knows better: another tab may have undone it.
   * @param {number} number
   * @returns {Promise<Sheet>}
   */
  async question(number) {
    const underWay = this.underWay();
    /** @type {Sheet} */
    const sheet = await get(`/judge/${number}`);
    await this.countUnderWay(sheet, underWay);
    return sheet;
  }

  /**
   * A sheet as it is now; the same one where it cannot be had.
   * @param {Sheet} sheet
   * @returns {Promise<Sheet>}
   */
  async again(sheet) {
    return get(`/judge/${sheet.assignment}?stage=${sheet.screen}`).catch(() => sheet);
  }

  /** The items with decisions on their way. */
  underWay() {
    return new Set(this.letters().map(({ body }) => Number(body.item)));
  }

  /**
   * Count the items that were on their way when a sheet was made as they are here.
   * @param {Sheet} sheet
   * @param {Set<number>} underWay
   */
  async countUnderWay(sheet, underWay) {
    for (const place of sheet.items.filter(({ id }) => underWay.has(id))) {
      const view = await this.item(place.id, sheet.assignment).catch(() => null);
      if (view) recount(sheet, place, view);
    }
  }

  /**
   * Fetch what comes next while the assessor reads.
   * @param {Place[]} coming  The items after the one shown, in their order.
   */
  async prepare(coming) {
    const { sheet } = this;
    const open = coming.filter((item) => !item.complete).slice(0, AHEAD);
    for (const item of open) await this.item(item.id, sheet.assignment).catch(() => null);
    if (sheet !== this.sheet) return; // the assessor was faster
    if (open.length < AHEAD && sheet.next !== null && !this.following) this.prepareQuestion(sheet.next, sheet.screen);
  }

  /**
   * @param {number} number
   * @param {string} screen  The screen that is open: the items of another are fetched by that one.
   */
  prepareQuestion(number, screen) {
    const following = this.question(number);
    this.following = following;
    following.then(
      (next) => {
        const first = firstOpen(next);
        if (first && next.screen === screen) void this.item(first.id, next.assignment).catch(() => null);
      },
      () => (this.following = null),
    );
  }

  /** @param {number} id */
  forget(id) {
    this.items.delete(id);
  }

  /** What was fetched before is old. */
  clear() {
    this.items.clear();
  }

  /** Let go of the oldest items that were fetched. */
  trim() {
    for (const id of this.items.keys()) {
      if (this.items.size <= KEPT) return;
      this.items.delete(id);
    }
  }
}
