// The decisions that can be undone, also those of the page before: moving on may load another screen.
import { notify } from "./dom.js";
import { recall, remember } from "./remembered.js";

/**
 * @typedef {object} Step
 * @property {number} assignment
 * @property {string} screen
 * @property {string} question
 * @property {number} item
 * @property {string} part
 * @property {number} before  The version before it.
 * @property {import("./supply.js").Verdict | null} verdict  The verdict before it.
 * @property {string} [about]  What was decided on, in words.
 * @property {string} [label]  What was decided, in words.
 * @property {boolean} [together]  It is undone together with the one before it.
 */

// The number of steps of earlier pages that are kept.
const KEPT = 100;

export class Steps {
  /** @param {string} owner  The account whose decisions these are. */
  constructor(owner) {
    this.place = `qassay-steps-${owner}`;
    /** @type {Step[]} */
    this.list = recall(this.place, { tab: true });
  }

  get length() {
    return this.list.length;
  }

  get last() {
    return this.list.at(-1);
  }

  /** The last two are one step to the assessor. */
  join() {
    const last = this.pop();
    if (last) this.push({ ...last, together: true });
  }

  /** @param {Step} step */
  push(step) {
    this.keep([...this.list, step]);
  }

  pop() {
    const last = this.last;
    this.keep(this.list.slice(0, -1));
    return last;
  }

  /** @param {number} item  An item whose decision was not saved. */
  forget(item) {
    this.keep(this.list.filter((step) => step.item !== item));
  }

  /** @param {Step[]} list */
  keep(list) {
    this.list = list;
    remember(this.place, list.slice(-KEPT), { tab: true });
  }
}

/**
 ** Undo the last decision, wherever it was; the history keeps both.
 * @param {import("./workbench.js").Workbench} bench
 */
export async function takeBack(bench) {
  bench.setOut();
  const step = bench.steps.pop();
  if (!step) return notify("Nothing to undo.");
  const { assignment, screen, item } = step;
  let sheet = bench.sheet;
  let view;
  try {
    if (assignment !== sheet.assignment) sheet = await bench.supply.question(assignment);
    view = await bench.supply.item(item, assignment);
  } catch (error) {
    bench.steps.push(step);
    return bench.complain(`This cannot be undone now: ${error instanceof Error ? error.message : error}`);
  }
  const part = view.parts.find((candidate) => candidate.part === step.part);
  if (!part) return;
  const body = { item, part: step.part, expected: part.version, to: step.before };
  bench.outbox.post(`/api/judge/${assignment}/undo`, body, step.question);
  // The screen that is open draws its own items; others are on their own page.
  if ([bench.sheet.screen, sheet.screen].some((name) => name !== screen)) {
    return bench.leave(`/judge/${assignment}?stage=${screen}&item=${item}`);
  }
  if (sheet !== bench.sheet) bench.turnTo(sheet);
  bench.put(view, part, step.verdict, part.version + 1);
  await bench.open(item);
  notify(step.label ? `Undone: ${step.label}${step.about ? ` “${step.about.slice(0, 60)}”` : ""}.` : "Undone.");
}
