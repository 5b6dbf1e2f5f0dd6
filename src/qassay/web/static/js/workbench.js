// The workbench: what every judging screen shares. It walks through the items of a question and on to the next question,
// hands decisions to the outbox, and undoes them. A screen only draws an item and says which key means which verdict.
// A decision shows at once and names its item, part and version: a late answer can never land elsewhere.

import { asked, go, show, watch } from "./address.js";
import { ApiError } from "./api.js";
import { askWhich } from "./conflict.js";
import { offerFlags, showFlag } from "./flags.js";
import { verdictShortly } from "./labels.js";
import { announce, byId, notify, pageData } from "./dom.js";
import { walkThrough } from "./moves.js";
import { after, firstOpen, isComplete, openStage } from "./order.js";
import { Outbox, REACHED, UNSAVED } from "./outbox.js";
import { recall, remember } from "./remembered.js";
import { cameIntoView, ignoreSecondPresses } from "./second_press.js";
import { Steps } from "./steps.js";
import { Supply } from "./supply.js";
import { keepQuestionInView, showComplaint, showEnd, showLast, showLock, showProgress, showQuestion, showState } from "./surroundings.js";
import { learnTitles } from "./titles.js";

/**
 * @typedef {import("./supply.js").Verdict} Verdict
 * @typedef {import("./supply.js").PartView} PartView
 * @typedef {import("./supply.js").ItemView} ItemView
 * @typedef {import("./supply.js").Sheet} Sheet
 * @typedef {import("./outbox.js").PendingSave} PendingSave
 * @typedef {object} Screen
 * @property {(bench: Workbench, view: ItemView) => void} draw  Draw an item into `bench.stage`; again after each decision.
 * @property {(bench: Workbench) => void} [begin]  Called for every question, before its first item is drawn.
 * @property {(part: string) => string} [about]  What a part of the item shown is about, where it is not one of its strings.
 */

// The question that ended on the page before.
const ENDED = "qassay-question-ended";

export class Workbench {
  /** @param {Screen} screen */
  constructor(screen) {
    this.screen = screen;
    /** @type {Sheet} */
    this.sheet = pageData();
    this.stage = byId("stage");
    /** @type {ItemView | null} */
    this.view = null;
    // The item shown last: the next one is looked for from there.
    this.current = 0;
    this.wanted = 0; // the item asked for last: another that comes then is late
    this.supply = new Supply(this.sheet, () => this.outbox.letters());
    this.steps = new Steps(String(this.sheet.assessor.id));
    // The last decision in words, until its outcome is known.
    this.message = "";
    // While the assessor chooses between two decisions, the page is not left.
    this.asking = false;
    // While the next item is on its way, a key does not decide on the one before it.
    this.moving = false;
    this.shown = Date.now();
    // Counts what the assessor goes to: an undo or another decision ends a way to the next question or page.
    this.way = 0;
    /** @type {(() => void) | undefined} What could not be done, to be tried again. */
    this.again = undefined;
    addEventListener(REACHED, () => this.again?.());
    this.outbox = new Outbox(String(this.sheet.assessor.id), {
      state: (state, waiting) => {
        showState(state, waiting);
        if (state === "waiting" || state === "signed-out") this.speak(UNSAVED);
      },
      delivered: (letter, answer) => this.delivered(letter, answer),
      refused: (letter, status, answer) => this.refused(letter, status, answer),
    });
    ignoreSecondPresses(this.stage);
    walkThrough(this);
    offerFlags(this);
    keepQuestionInView();
    watch();
  }

  /** Begin with the item of the address, or the first open one. */
  async start() {
    if (this.outbox.overtookPage()) this.sheet = await this.supply.again(this.sheet);
    const underWay = this.supply.underWay();
    this.begin();
    // Decisions that were made before the page was loaded, and are not on the server yet, are not asked for again.
    await this.supply.countUnderWay(this.sheet, underWay);
    const wanted = asked();
    const first = this.sheet.items.find((item) => item.id === wanted) ?? firstOpen(this.sheet) ?? this.sheet.items[0];
    void this.outbox.send();
    this.outbox.tell();
    if (first) await this.open(first.id);
    else this.finished();
    this.markEnd(recall(ENDED, { tab: true })[0]);
  }

  /** @param {string | undefined} question  One that is finished: the assessor learns that another one begins. */
  markEnd(question) {
    remember(ENDED, [], { tab: true });
    if (question !== undefined && this.view) notify(`Question ${question} is finished. This is question ${this.sheet.question.id}.`);
  }

  begin() {
    this.supply.begin(this.sheet);
    learnTitles(this.sheet.titles);
    showQuestion(this.sheet);
    showLock(this.sheet);
    this.screen.begin?.(this);
    this.tellProgress();
  }

  /** @param {Sheet} sheet  Another question, for the screen that is open. */
  turnTo(sheet) {
    // It may have been fetched before the last decisions.
    sheet.job.done = this.sheet.job.done;
    this.sheet = sheet;
    this.begin();
  }

  /**
   * Show an item.
   * @param {number} id
   */
  async open(id) {
    this.wanted = id;
    this.setOut();
    let view;
    try {
      view = await this.supply.item(id);
    } catch (error) {
      if (this.wanted !== id) return;
      if (this.view) this.draw(); // as it was decided
      return this.complain(`The next item cannot be loaded. ${inWords(error)}`, () => void this.open(id));
    }
    if (this.wanted !== id) return; // the assessor was faster
    learnTitles(view.titles);
    this.view = view;
    this.current = id;
    this.moving = false;
    this.shown = Date.now();
    show(this.sheet.assignment, id);
    this.draw();
    cameIntoView();
    this.stage.focus({ preventScroll: true });
    void this.supply.prepare(after(this.sheet, this.current));
  }

  draw() {
    if (!this.view) return;
    const focused = document.activeElement;
    const within = this.stage.contains(focused);
    this.complain("");
    this.screen.draw(this, this.view);
    this.tellProgress();
    // What is drawn again may have had the focus: a note goes on, and in place of a button that is gone, the stage has it.
    if (within && document.activeElement !== focused) {
      (focused instanceof HTMLElement && focused.isConnected ? focused : this.stage).focus({ preventScroll: true });
    }
  }

  /** Begin a way to another item, question or page: the one before is given up. */
  setOut() {
    this.way += 1;
    return this.way;
  }

  /** @param {number} by */
  async step(by) {
    const here = this.sheet.items.findIndex((item) => item.id === this.current);
    // At the end nothing is shown: the one before is the last.
    const at = this.view || by > 0 ? here + by : here;
    if (at >= 0 && at < this.sheet.items.length) await this.open(this.sheet.items[at].id);
    else if (by > 0) await this.advance();
  }

  /** Go on to the next item without a decision, here or in the next question. */
  async advance() {
    const open = after(this.sheet, this.current).find((item) => !item.complete);
    if (open) return this.open(open.id);
    const stage = openStage(this.sheet, this.sheet.screen);
    if (stage) return this.leave(`/judge/${this.sheet.assignment}?stage=${stage.screen}`);
    return this.nextQuestion();
  }

  /** Go on to the next question that has something open; what was fetched ahead may have been finished meanwhile. */
  async nextQuestion() {
    const way = this.setOut();
    const seen = new Set([this.sheet.assignment]);
    const { question: before, items } = this.sheet;
    const ended = items.every((item) => item.complete) ? before.id : undefined;
    let number = this.sheet.next;
    while (number !== null && !seen.has(number)) {
      seen.add(number);
      const sheet = await this.supply.next(number).catch((error) => error);
      if (this.way !== way) return;
      if (sheet instanceof Error) {
        if (this.view) this.draw();
        return this.complain(`The next question cannot be loaded. ${inWords(sheet)}`, () => void this.nextQuestion());
      }
      const open = openStage(sheet);
      if (open && sheet.screen !== this.sheet.screen) {
        remember(ENDED, ended === undefined ? [] : [ended], { tab: true });
        return this.leave(`/judge/${sheet.assignment}`);
      }
      const first = firstOpen(sheet);
      if (open && first) {
        this.turnTo(sheet);
        await this.open(first.id);
        return this.markEnd(ended);
      }
      number = sheet.next;
    }
    return this.finished();
  }

  /**
   * Go to another page once everything is saved: it reads the saved judgments.
   * @param {string} address
   */
  async leave(address) {
    const way = this.setOut();
    await this.outbox.emptied();
    if (this.way !== way) return;
    if (this.asking) this.moving = false;
    else go(address);
  }

  finished() {
    this.moving = false;
    this.view = null; // a key that comes now decides on nothing
    this.wanted = 0;
    this.complain("");
    showEnd(this.stage, this.sheet);
    cameIntoView();
    this.tellProgress();
    this.stage.focus({ preventScroll: true });
  }

  /** @param {string} part */
  part(part) {
    const partView = this.view?.parts.find((candidate) => candidate.part === part);
    if (!partView) throw new Error(`this item has no part ${part}`);
    return partView;
  }

  /**
   * Decide on a part of the item shown.
   * @param {string} part
   * @param {Verdict} verdict
   * @param {{advance?: boolean, message?: string}} [options]  `message`: the decision in words.
   */
  decide(part, verdict, options = {}) {
    if (!this.view || this.moving || this.isLocked()) return;
    const view = this.view;
    this.setOut();
    this.message = options.message ?? "";
    if (!this.isUnderWay(view.id, part, verdict)) this.decideOn(view, this.part(part), verdict);
    if (options.advance && view.complete) {
      this.moving = true;
      this.supply.trim();
      void this.advance();
    } else this.draw();
  }

  /**
   * Whether a verdict waits to be sent already: where the next item cannot be loaded, its key may be pressed again.
   * @param {number} item
   * @param {string} part
   * @param {Verdict} verdict
   */
  isUnderWay(item, part, verdict) {
    const last = this.outbox.letters().findLast(({ body }) => body.item === item && body.part === part);
    return last !== undefined && JSON.stringify(last.body.verdict) === JSON.stringify(verdict);
  }

  /**
   * Have a verdict on an item saved, whatever is shown.
   * @param {ItemView} view
   * @param {PartView} partView
   * @param {Verdict} verdict
   */
  decideOn(view, partView, verdict) {
    const { assignment, screen, question: { id: question } } = this.sheet;
    const { part } = partView;
    const about = this.aboutItem(view.id, part);
    this.steps.push({ assignment, screen, question, item: view.id, part, before: partView.version, verdict: partView.verdict, about, label: verdictShortly(verdict, this.sheet.choices, part) });
    const body = { item: view.id, part, expected: partView.version, verdict, seconds: Math.round((Date.now() - this.shown) / 1000) };
    this.outbox.post(`/api/judge/${assignment}/decisions`, body, question);
    this.shown = Date.now();
    this.put(view, partView, verdict, partView.version + 1);
  }

  /**
   * How people call an item: its string, or its place.
   * @param {number} id
   * @param {string} [part]
   */
  aboutItem(id, part = "") {
    const at = this.sheet.items.findIndex((item) => item.id === id);
    const label = this.sheet.items[at]?.label;
    const body = this.view?.id === id ? this.view.body : null;
    // Parts of lists and of responses are numbered like their strings.
    const element = /^\d+$/.test(part) ? body?.elements?.[Number(part)]?.text : null;
    return (body && this.screen.about?.(part)) || element || label || body?.text || body?.justification || `item ${at + 1}`;
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
    view.complete = isComplete(view);
    this.supply.count(view);
    this.tellProgress();
  }

  /** Whether the question takes no decisions; a message says so. */
  isLocked() {
    if (this.sheet.locked) notify("Not saved: this question is locked.");
    return this.sheet.locked;
  }

  /** @param {string} outcome  What came of the last decision; it is read out once. */
  speak(outcome) {
    if (this.message) announce(`${this.message} ${outcome}`);
    this.message = "";
  }

  /**
   * @param {PendingSave} letter
   * @param {any} answer
   */
  delivered(letter, answer) {
    if (this.outbox.letters().length === 0) this.speak("saved");
    if (letter.url.endsWith("/flags")) return;
    const here = letter.url.startsWith(`/api/judge/${this.sheet.assignment}/`);
    if (!here || !answer) return;
    this.sheet.closed = answer.closed;
    if (this.outbox.letters().length === 0) {
      this.sheet.job.done += answer.done - this.sheet.done;
      this.sheet.done = answer.done;
      this.sheet.total = answer.total;
    }
    this.tellProgress();
  }

  /**
   * The server said no: show the saved judgment next to the one made here, and let the assessor choose.
   * @param {PendingSave} letter
   * @param {number} status
   * @param {any} answer
   * @returns {boolean} Whether the assessor is asked.
   */
  refused(letter, status, answer) {
    const item = Number(letter.body.item);
    if (letter.url.endsWith("/flags")) return false;
    this.message = "";
    this.supply.forget(item);
    this.steps.forget(item);
    void this.lookAgain(item);
    if ([404, 423].includes(status) && letter.url.startsWith(`/api/judge/${this.sheet.assignment}/`)) void this.askAgain();
    if (status !== 409 || answer?.standing === undefined) return false;
    this.asking = true;
    askWhich({
      about: `${letter.about ?? this.sheet.question.id}: “${this.aboutItem(item, String(letter.body.part ?? "")).slice(0, 120)}”`,
      saved: answer.standing,
      mine: /** @type {Verdict | null} */ (letter.body.verdict ?? null),
      insist: () => this.outbox.post(letter.url, { ...letter.body, expected: answer.version }, letter.about),
      closed: () => void this.reload(item),
    });
    return true;
  }

  /** Learn whether the question takes decisions: it may be another person's now, or decided by an adjudicator. */
  async askAgain() {
    const { assignment, question } = this.sheet;
    const sheet = await this.supply.question(assignment).catch((error) => error);
    if (assignment !== this.sheet.assignment) return;
    if (!(sheet instanceof Error)) {
      this.sheet.locked = sheet.locked;
      return showLock(this.sheet);
    }
    if (!(sheet instanceof ApiError) || sheet.status !== 404) return;
    await this.nextQuestion();
    notify(`Question ${question.id} is not assigned to you any more.`, "warn");
  }

  /** @param {number} item  An item whose decision was not saved; if it is still open, it is shown again. */
  async lookAgain(item) {
    if (this.view?.id === item && !this.moving) await this.open(item);
    if (!this.sheet.items.some((place) => place.id === item)) return;
    await this.supply.item(item).then((view) => this.supply.count(view), () => null);
    this.tellProgress();
  }

  /** Fetch an item of this question again, the one shown if no other is named, and show it. */
  async reload(id = this.view?.id) {
    this.asking = false;
    if (id === undefined || !this.sheet.items.some((item) => item.id === id)) return;
    this.supply.forget(id);
    await this.open(id);
  }

  tellProgress() {
    showProgress(this.sheet, this.current, this.view);
    showLast(this.steps.last);
    showFlag(this.sheet, this.view?.id);
  }

  /**
   * Show what is wrong until it is fixed; without a message, nothing is wrong.
   * @param {string} message
   * @param {() => void} [again]
   */
  complain(message, again) {
    if (message !== "") this.moving = false;
    this.again = again;
    showComplaint(message, again);
  }
}

/** @param {unknown} error */
function inWords(error) {
  return error instanceof Error ? error.message : String(error);
}
