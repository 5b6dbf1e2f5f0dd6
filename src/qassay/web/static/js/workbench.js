// The workbench: what every judging screen shares. It walks through the items of a question and on to the next question,
// keeps the coming items at hand, hands decisions to the outbox, and takes them back. A screen only draws an item and says
// which key means which verdict.
//
// A decision shows at once and names its item, part and version: a late answer can never land elsewhere.

import { asked, go, show, watch } from "./address.js";
import { get } from "./api.js";
import { announce, byId, fill, h, pageData } from "./dom.js";
import { register } from "./keys.js";
import { named } from "./labels.js";
import { Outbox, STATES } from "./outbox.js";

/**
 * @typedef {Record<string, any>} Verdict
 * @typedef {{part: string, kind: string, verdict: Verdict | null, version: number, required: boolean}} PartView
 * @typedef {{id: number, kind: string, body: Record<string, any>, parts: PartView[], complete: boolean}} ItemView
 * @typedef {{id: number, complete: boolean, kind: string, label: string}} Place
 * @typedef {object} Sheet
 * @property {number} assignment
 * @property {string} screen
 * @property {{screen: string, title: string, done: number, total: number, open: boolean}[]} stages
 * @property {{id: string, type: string, text: string}[]} earlier
 * @property {boolean} has_collection
 * @property {Record<string, any>} question
 * @property {string[]} labels
 * @property {Place[]} items
 * @property {number} total
 * @property {number} done
 * @property {boolean} closed
 * @property {number | null} next  The assignment after this one that has open work.
 * @property {{id: number, name: string}} assessor
 * @typedef {object} Screen
 * @property {(bench: Workbench, view: ItemView) => void} draw  Draw an item into `bench.stage`; again after each decision.
 * @property {(bench: Workbench) => void} [begin]  Called for every question, before its first item is drawn.
 * @property {(bench: Workbench, view: ItemView) => boolean} [complete]  Whether an item needs nothing more.
 * @typedef {{assignment: number, item: number, part: string, before: number, verdict: Verdict | null}} Step
 */

const AHEAD = 4;
const KEPT = 60;

export class Workbench {
  /** @param {Screen} screen */
  constructor(screen) {
    this.screen = screen;
    /** @type {Sheet} */
    this.sheet = pageData();
    this.stage = byId("stage");
    /** @type {ItemView | null} */
    this.view = null;
    // The item shown last: where the next one is looked for, also when none is shown any more.
    this.current = 0;
    /** @type {Map<number, Promise<ItemView>>} */
    this.ahead = new Map();
    /** @type {Promise<Sheet> | null} */
    this.following = null;
    /** @type {Step[]} */
    this.steps = [];
    // While the next item is on its way, a key does not decide on the one before it.
    this.moving = false;
    this.shown = Date.now();
    this.outbox = new Outbox(String(this.sheet.assessor.id), {
      state: (state, waiting) => this.tellState(state, waiting),
      delivered: (letter, answer) => this.delivered(letter, answer),
      refused: (letter, status, answer) => this.refused(letter, status, answer),
    });
    register("judge.undo", "z", "Take back the last decision", () => this.undo());
    register("judge.next", "ArrowRight", "Next item", () => this.step(1));
    register("judge.previous", "ArrowLeft", "Previous item", () => this.step(-1));
    register("judge.open", "n", "Next item without a decision", () => this.advance());
    watch();
  }

  /** Begin with the item of the address, or the first open one. */
  async start() {
    this.begin();
    const wanted = asked();
    const first = this.sheet.items.find((one) => one.id === wanted) ?? this.firstOpen() ?? this.sheet.items[0];
    void this.outbox.send();
    this.outbox.tell();
    if (first) await this.open(first.id);
    else this.finished();
  }

  begin() {
    this.following = null;
    this.tellQuestion();
    this.screen.begin?.(this);
    this.tellProgress();
  }

  /** Put the question above what is judged, with the stages of its judging. */
  tellQuestion() {
    const { question, stages, assignment, screen } = this.sheet;
    byId("question-id").textContent = question.id;
    byId("question-text").textContent = question.text || question.target || question.id;
    const target = question.text && question.target;
    fill(byId("question-more"), target ? h("p", null, "Target: ", h("strong", { dir: "auto" }, question.target)) : null);
    const tabs = document.querySelector(".judge-stages");
    if (!tabs) return;
    fill(tabs, stages.map((one) => {
      const current = one.screen === screen ? "page" : null;
      const address = `/judge/${assignment}?stage=${one.screen}`;
      return one.open ? h("a", { href: address, "aria-current": current }, one.title) : h("span", { class: "faint" }, one.title);
    }));
  }

  firstOpen() {
    return this.sheet.items.find((one) => !one.complete);
  }

  /**
   * @param {number} id
   * @param {number} assignment
   */
  fetch(id, assignment = this.sheet.assignment) {
    let view = this.ahead.get(id);
    if (!view) {
      view = get(`/judge/${assignment}/items/${id}`);
      view.catch(() => this.ahead.delete(id));
      this.ahead.set(id, view);
    }
    return view;
  }

  /**
   * Show an item.
   * @param {number} id
   */
  async open(id) {
    let view;
    try {
      view = await this.fetch(id);
    } catch (error) {
      this.complain(`This item cannot be loaded: ${error instanceof Error ? error.message : error}`, () => this.open(id));
      return;
    }
    this.view = view;
    this.current = id;
    this.moving = false;
    this.shown = Date.now();
    show(this.sheet.assignment, id);
    this.draw();
    this.stage.focus({ preventScroll: true });
    void this.prepare();
  }

  draw() {
    if (!this.view) return;
    this.complain("");
    this.screen.draw(this, this.view);
    this.tellProgress();
  }

  /** Fetch what comes next while the assessor reads. */
  async prepare() {
    const open = this.after().filter((one) => !one.complete).slice(0, AHEAD);
    for (const one of open) await this.fetch(one.id).catch(() => null);
    if (open.length < AHEAD && this.sheet.next !== null && !this.following) {
      const following = get(`/judge/${this.sheet.next}`);
      this.following = following;
      following.then(
        (sheet) => {
          const first = sheet.items.find((/** @type {Place} */ one) => !one.complete);
          if (first && sheet.screen === this.sheet.screen) void this.fetch(first.id, sheet.assignment).catch(() => null);
        },
        () => (this.following = null),
      );
    }
  }

  /** The items after the one shown, then those before it. */
  after() {
    const at = this.sheet.items.findIndex((one) => one.id === this.current);
    return [...this.sheet.items.slice(at + 1), ...this.sheet.items.slice(0, Math.max(at, 0))];
  }

  /** @param {number} by */
  async step(by) {
    const at = this.sheet.items.findIndex((one) => one.id === this.current) + by;
    if (at >= 0 && at < this.sheet.items.length) await this.open(this.sheet.items[at].id);
    else if (by > 0) await this.advance();
  }

  /** Go on to the next item without a decision, here or in the next question. */
  async advance() {
    const open = this.after().find((one) => !one.complete);
    if (open) return this.open(open.id);
    const stage = this.sheet.stages.find((one) => one.screen !== this.sheet.screen && one.open && one.done < one.total);
    if (stage) return this.leave(`/judge/${this.sheet.assignment}?stage=${stage.screen}`);
    return this.nextQuestion();
  }

  /** Go on to the next question that has something open; what was fetched ahead may have been finished meanwhile. */
  async nextQuestion() {
    const seen = new Set([this.sheet.assignment]);
    let number = this.sheet.next;
    while (number !== null && !seen.has(number)) {
      seen.add(number);
      const sheet = await this.sheetOf(number).catch(() => null);
      if (!sheet) return this.complain("The next question cannot be loaded.", () => this.advance());
      const open = sheet.stages.some((one) => one.open && one.done < one.total);
      if (open && sheet.screen !== this.sheet.screen) return this.leave(`/judge/${sheet.assignment}`);
      const first = sheet.items.find((one) => !one.complete);
      if (open && first) {
        this.sheet = sheet;
        this.begin();
        return this.open(first.id);
      }
      number = sheet.next;
    }
    return this.finished();
  }

  /**
   * @param {number} number
   * @returns {Promise<Sheet>}
   */
  sheetOf(number) {
    return this.following && number === this.sheet.next ? this.following : get(`/judge/${number}`);
  }

  /**
   * Go to another page once everything is saved: it reads what stands.
   * @param {string} address
   */
  async leave(address) {
    await this.outbox.emptied();
    go(address);
  }

  finished() {
    this.moving = false;
    this.view = null; // a key that comes now decides on nothing
    const all = this.sheet.items.every((one) => one.complete);
    fill(this.stage,
      h("div", { class: "notice notice-done" },
        h("h2", {}, all ? "This question is finished" : "Nothing more to show"),
        h("p", {}, "You can still go back to any item. ",
          h("a", { href: "/work" }, "See all your work"))),
    );
    this.stage.focus({ preventScroll: true });
  }

  /** Let go of the oldest items that were fetched. */
  trim() {
    for (const id of this.ahead.keys()) {
      if (this.ahead.size <= KEPT) return;
      this.ahead.delete(id);
    }
  }

  /** @param {string} part */
  part(part) {
    const found = this.view?.parts.find((one) => one.part === part);
    if (!found) throw new Error(`this item has no part ${part}`);
    return found;
  }

  /**
   * Decide on a part of the item shown.
   * @param {string} part
   * @param {Verdict} verdict
   * @param {{advance?: boolean}} [options]
   */
  decide(part, verdict, options = {}) {
    if (!this.view || this.moving) return;
    const { assignment } = this.sheet;
    const one = this.part(part);
    const view = this.view;
    this.steps.push({ assignment, item: view.id, part, before: one.version, verdict: one.verdict });
    this.outbox.post(`/api/judge/${assignment}/decisions`, {
      item: view.id,
      part,
      expected: one.version,
      verdict,
      seconds: Math.round((Date.now() - this.shown) / 1000),
    });
    this.shown = Date.now();
    this.put(view, one, verdict, one.version + 1);
    if (options.advance && view.complete) {
      this.moving = true;
      this.trim();
      void this.advance();
    } else this.draw();
  }

  /**
   * @param {ItemView} view
   * @param {PartView} part
   * @param {Verdict | null} verdict
   * @param {number} version
   */
  put(view, part, verdict, version) {
    part.verdict = verdict;
    part.version = version;
    view.complete = this.screen.complete?.(this, view) ?? view.parts.every((one) => !one.required || one.verdict !== null);
    const place = this.sheet.items.find((one) => one.id === view.id);
    if (place && place.complete !== view.complete) {
      place.complete = view.complete;
      this.sheet.done += view.complete ? 1 : -1;
    }
    this.tellProgress();
  }

  /** Take back the last decision, wherever it was; that too is kept. */
  async undo() {
    const step = this.steps.pop();
    if (!step) return this.say("There is nothing to take back.");
    if (step.assignment !== this.sheet.assignment) {
      this.sheet = await get(`/judge/${step.assignment}`);
      this.begin();
    }
    const view = await this.fetch(step.item);
    const part = view.parts.find((one) => one.part === step.part);
    if (!part) return;
    this.outbox.post(`/api/judge/${step.assignment}/undo`, {
      item: step.item,
      part: step.part,
      expected: part.version,
      to: step.before,
    });
    this.put(view, part, step.verdict, part.version + 1);
    await this.open(step.item);
    this.say("Taken back.");
  }

  /**
   * @param {import("./outbox.js").Letter} letter
   * @param {any} answer
   */
  delivered(letter, answer) {
    const here = letter.url.startsWith(`/api/judge/${this.sheet.assignment}/`);
    if (!here || !answer) return;
    this.sheet.closed = answer.closed;
    if (this.outbox.letters().length === 0) {
      this.sheet.done = answer.done;
      this.sheet.total = answer.total;
    }
    this.tellProgress();
  }

  /**
   * The server said no: show what stands, beside what was decided here, and let the assessor choose.
   * @param {import("./outbox.js").Letter} letter
   * @param {number} status
   * @param {any} answer
   */
  refused(letter, status, answer) {
    const item = Number(letter.body.item);
    this.ahead.delete(item);
    this.steps = this.steps.filter((one) => one.item !== item);
    if (status === 409 && answer?.standing !== undefined) this.showConflict(letter, answer);
    else this.complain(answer?.message ?? `The server refused a decision (${status}).`);
    if (this.view?.id === item) void this.open(item);
  }

  /**
   * @param {import("./outbox.js").Letter} letter
   * @param {any} answer
   */
  showConflict(letter, answer) {
    const mine = letter.body.verdict ?? null;
    const again = () => {
      this.outbox.post(letter.url, { ...letter.body, expected: answer.version });
      dialog.close();
    };
    const dialog = h("dialog", { class: "dialog", "aria-labelledby": "conflict-title" },
      h("h2", { id: "conflict-title" }, "Judged elsewhere in the meantime"),
      h("dl", { class: "facts" },
        h("dt", {}, "What stands"), h("dd", {}, said(answer.standing)),
        h("dt", {}, "Your decision here"), h("dd", {}, said(mine))),
      h("div", { class: "row end" },
        h("button", { type: "button", onclick: () => dialog.close() }, "Keep what stands"),
        mine ? h("button", { type: "button", class: "primary", onclick: again }, "Use my decision") : null));
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (this.view) void this.reload();
    });
    document.body.append(dialog);
    dialog.showModal();
  }

  /** Fetch the item shown anew. */
  async reload() {
    if (!this.view) return;
    this.ahead.delete(this.view.id);
    await this.open(this.view.id);
  }

  tellProgress() {
    const { items, done, total } = this.sheet;
    const at = items.findIndex((one) => one.id === this.current);
    byId("position").textContent = at < 0 ? "" : `Item ${at + 1} of ${items.length}`;
    const bar = byId("progress", HTMLProgressElement);
    bar.max = Math.max(total, 1);
    bar.value = done;
    byId("progress-text").textContent = `${done} of ${total} judged`;
  }

  /**
   * @param {import("./outbox.js").OutboxState} state
   * @param {number} waiting
   */
  tellState(state, waiting) {
    const shown = byId("save-state");
    shown.dataset.state = state;
    const more = state === "waiting" && waiting > 1 ? ` (${waiting} waiting)` : "";
    if (shown.textContent !== STATES[state] + more) shown.textContent = STATES[state] + more;
  }

  /**
   * Tell in passing; screen readers hear it.
   * @param {string} message
   */
  say(message) {
    announce(message);
  }

  /**
   * Tell what is wrong until it is mended; without a message, nothing is.
   * @param {string} message
   * @param {() => void} [again]
   */
  complain(message, again) {
    if (message !== "") this.moving = false;
    const shown = byId("complaint");
    shown.hidden = message === "";
    fill(shown, message, " ", again ? h("button", { type: "button", onclick: again }, "Try again") : null);
  }
}

/**
 * A verdict in words.
 * @param {Verdict | null} verdict
 */
export function said(verdict) {
  if (!verdict) return "nothing";
  return Object.entries(verdict)
    .filter(([name, value]) => name !== "settled" && value !== null)
    .map(([name, value]) => (name === "judgment" ? named(String(value)) : `${name}: ${Array.isArray(value) ? value.join(", ") : value}`))
    .join("; ");
}
