// What the server does for a judging screen, done here: questions, items and documents out of the file, decisions kept.
import { ApiError } from "../api.js";
import { byId } from "../dom.js";
import { data, decidedOn, flagged, keep, keepFlags, knownAnswers, now } from "./kept.js";

/**
 * @typedef {import("./kept.js").Verdict} Verdict
 * @typedef {import("./kept.js").Decided} Decided
 * @typedef {{part: string, kind: string, required: boolean}} PartData
 * @typedef {{id: number, kind: string, label: string, body: Record<string, any>, parts: PartData[]}} ItemData
 * @typedef {[number, [number, number][], number, number, string | null]} Shown
 *   Of a document: the number of its text, marks, where the text begins, how long the whole is, how the string was found.
 * @typedef {object} QuestionData
 * @property {Record<string, any>} question
 * @property {Record<string, any>[]} earlier
 * @property {ItemData[]} items
 * @property {{nugget: string, text: string, vital?: boolean}[]} nuggets
 * @property {string | null} reference
 * @property {string[]} answers
 * @property {{answer: string, doc: string | null}[]} known
 * @property {Record<string, Shown>} documents
 */

/** @type {Map<number, QuestionData>} */
const questions = new Map();
/** @type {Map<number, {done: number, total: number}>} */
const counted = new Map();
let current = 1;

addEventListener("sheet-changed", (event) => {
  if (event instanceof CustomEvent) counted.delete(event.detail);
});

/**
 * @param {number} number
 * @returns {QuestionData}
 */
export function questionOf(number) {
  let found = questions.get(number);
  if (!found) {
    if (!(number >= 1 && number <= data.questions.length)) throw new ApiError(404, "This sheet has no such question.");
    found = /** @type {QuestionData} */ (JSON.parse(byId(`question-${number}`).textContent ?? "null"));
    questions.set(number, found);
  }
  return found;
}

/**
 * How far a question is.
 * @param {number} number
 */
export function progressOf(number) {
  let found = counted.get(number);
  if (!found) {
    const { items } = questionOf(number);
    const decided = decidedOn(number);
    found = { done: items.filter((one) => isComplete(one, decided)).length, total: items.length };
    counted.set(number, found);
  }
  return found;
}

/** How far the whole sheet is. */
export function wholeProgress() {
  const all = data.questions.map((_, index) => progressOf(index + 1));
  return { done: all.reduce((sum, one) => sum + one.done, 0), total: all.reduce((sum, one) => sum + one.total, 0) };
}

/**
 * The next question with something open, going round.
 * @param {number} number
 * @returns {number | null}
 */
export function nextOpen(number) {
  const many = data.questions.length;
  for (let step = 1; step < many + (number < 1 ? 1 : 0); step += 1) {
    const other = ((number - 1 + step + many) % many) + 1;
    const { done, total } = progressOf(other);
    if (done < total) return other;
  }
  return null;
}

/**
 * A question's sheet, as the workbench takes it.
 * @param {number} number
 * @param {string | null} [wanted]  The stage asked for.
 */
export function sheetOf(number, wanted = null) {
  const here = questionOf(number);
  const decided = decidedOn(number);
  current = number;
  const places = here.items.map((item) => {
    const { id, kind, label, parts } = item;
    const field = data.choices[data.screens[kind]]?.field;
    const own = parts.length === 1 && field ? decided[`${id}/${parts[0].part}`]?.at(-1)?.[0]?.[field] : null;
    return { id, kind, label, complete: isComplete(item, decided), verdict: own ?? null };
  });
  const added = knownAnswers().filter((one) => one.question === here.question.id).map(({ answer, doc }) => ({ answer, doc }));
  const stages = [...new Set(Object.values(data.screens))]
    .map((screen) => ({ screen, own: places.filter((one) => data.screens[one.kind] === screen) }))
    .filter(({ own }) => own.length > 0)
    .map(({ screen, own }) => ({ screen, title: data.titles[screen], done: own.filter((one) => one.complete).length, total: own.length, open: true }));
  const shown = stages.find((one) => one.screen === wanted) ?? stages.find((one) => one.done < one.total) ?? stages[stages.length - 1];
  const { done, total } = progressOf(number);
  const flags = flagged();
  return {
    assignment: number,
    screen: shown.screen,
    stages,
    step: 2,
    question: here.question,
    earlier: here.earlier,
    labels: data.labels,
    choices: data.choices[shown.screen] ?? null,
    items: places.filter((one) => data.screens[one.kind] === shown.screen),
    total,
    done,
    closed: done === total,
    locked: false,
    next: nextOpen(number),
    assessor: { id: 0, name: data.assessor },
    has_collection: data.has_collection,
    known: [...here.known, ...added],
    job: { ...wholeProgress(), minutes_left: null },
    flags: Object.fromEntries(here.items.filter((one) => flags[one.id]?.reason).map((one) => [one.id, flags[one.id].reason])),
  };
}

/**
 * @param {number} number
 * @param {number} id
 * @returns {ItemData}
 */
export function itemOf(number, id) {
  const found = questionOf(number).items.find((one) => one.id === id);
  if (!found) throw new ApiError(404, "This question has no such item.");
  return found;
}

/**
 * An item with what stands for its parts.
 * @param {number} number
 * @param {number} id
 */
export function viewOf(number, id) {
  const item = itemOf(number, id);
  const decided = decidedOn(number);
  current = number;
  const parts = item.parts.map((one) => {
    const history = decided[`${id}/${one.part}`] ?? [];
    return { ...one, verdict: history.at(-1)?.[0] ?? null, version: history.length };
  });
  return { id, kind: item.kind, body: item.body, parts, complete: isComplete(item, decided) };
}

/**
 * Keep a verdict on a part of an item.
 * @param {number} number
 * @param {{item: number, part: string, expected: number, verdict: Verdict}} sent
 */
export function decide(number, sent) {
  return append(number, sent, () => sent.verdict);
}

/**
 * Keep a doubt about an item; one without a reason removes it.
 * @param {number} number
 * @param {{item: number, reason: string}} sent
 */
export function flag(number, { item, reason }) {
  itemOf(number, item);
  keepFlags({ ...flagged(), [item]: { reason, at: now() } }, number);
  return null;
}

/** The items that are flagged, each with its question and its reason. */
export function allFlags() {
  const flags = flagged();
  return data.questions.flatMap((question, index) =>
    questionOf(index + 1).items
      .filter((one) => flags[one.id]?.reason)
      .map((one) => ({ number: index + 1, question: question.id, item: one.id, label: one.label, reason: flags[one.id].reason })));
}

/**
 * Put back the judgment of an earlier version (0: nothing); the history keeps both.
 * @param {number} number
 * @param {{item: number, part: string, expected: number, to: number}} sent
 */
export function takeBack(number, sent) {
  return append(number, sent, (history) => (sent.to > 0 ? (history[sent.to - 1]?.[0] ?? null) : null));
}

/**
 * @param {number} number
 * @param {{item: number, part: string, expected: number}} sent
 * @param {(history: import("./kept.js").Entry[]) => Verdict | null} verdict
 */
function append(number, sent, verdict) {
  const item = itemOf(number, sent.item);
  if (!item.parts.some((one) => one.part === sent.part)) throw new ApiError(404, "This item has no such part.");
  const decided = decidedOn(number); // as it is now, also in another tab
  const history = decided[`${sent.item}/${sent.part}`] ?? [];
  if (history.length !== sent.expected) {
    const message = "This was judged in another tab in the meantime.";
    throw new ApiError(409, message, [], { message, standing: history.at(-1)?.[0] ?? null, version: history.length });
  }
  const at = now();
  decided[`${sent.item}/${sent.part}`] = [...history, [verdict(history), at]];
  keep(number, decided);
  const { done, total } = progressOf(number);
  const complete = isComplete(item, decided);
  return { item: sent.item, part: sent.part, version: history.length + 1, at, complete, done, total, closed: done === total };
}

/**
 * @param {ItemData} item
 * @param {Decided} decided
 */
function isComplete(item, decided) {
  return item.parts.every((one) => !one.required || Boolean(decided[`${item.id}/${one.part}`]?.at(-1)?.[0]));
}

/**
 * A document with what is looked for marked.
 * @param {URLSearchParams} query
 */
export function documentOf(query) {
  const key = JSON.stringify([query.get("id"), query.get("find"), query.get("start"), query.get("length")]);
  const here = questionOf(current).documents[key];
  const found = here ?? [...questions.values()].find((one) => key in one.documents)?.documents[key];
  if (!found) throw new ApiError(404, "This sheet does not contain the document.");
  const [text, marks, begins, length, how] = found;
  return { ...JSON.parse(byId(`text-${text}`).textContent ?? "null"), marks, begins, length, found: how };
}
