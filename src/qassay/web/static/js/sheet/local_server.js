// What the server does for a judging screen, done here: questions, items and documents out of the file, decisions kept.
import { ApiError } from "../api.js";
import { byId } from "../dom.js";
import { decisionsOn } from "../order.js";
import { data, decidedOn, flagged, keep, keepFlags, knownAnswers, now } from "./storage.js";

/**
 * @typedef {import("./storage.js").Verdict} Verdict
 * @typedef {import("./storage.js").Decided} Decided
 * @typedef {{part: string, kind: string, required: boolean}} PartData
 * @typedef {{id: number, kind: string, label: string, place: string | null, body: Record<string, any>, parts: PartData[]}} ItemData
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
 * @property {Record<string, string>} titles  Of the documents that are named, by their ids.
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
  let question = questions.get(number);
  if (!question) {
    if (!(number >= 1 && number <= data.questions.length)) throw new ApiError(404, "This sheet has no such question.");
    question = /** @type {QuestionData} */ (JSON.parse(byId(`question-${number}`).textContent ?? "null"));
    questions.set(number, question);
  }
  return question;
}

/**
 * How far a question is.
 * @param {number} number
 */
export function progressOf(number) {
  let counts = counted.get(number);
  if (!counts) {
    const { items } = questionOf(number);
    const decided = decidedOn(number);
    const all = items.map((item) => decisionsOn(withVerdicts(item, decided)));
    counts = { done: all.reduce((sum, own) => sum + own.made, 0), total: all.reduce((sum, own) => sum + own.needed, 0) };
    counted.set(number, counts);
  }
  return counts;
}

/** How far the whole sheet is. */
export function wholeProgress() {
  const all = data.questions.map((_, index) => progressOf(index + 1));
  return { done: all.reduce((sum, counts) => sum + counts.done, 0), total: all.reduce((sum, counts) => sum + counts.total, 0) };
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
    const { id, kind, label, place, parts } = item;
    const field = data.choices[data.screens[kind]]?.field;
    const own = parts.length === 1 && field ? decided[`${id}/${parts[0].part}`]?.at(-1)?.[0]?.[field] : null;
    const { made, needed } = decisionsOn(withVerdicts(item, decided));
    return { id, kind, label, place, complete: made === needed, made, verdict: own ?? null };
  });
  const added = knownAnswers().filter((known) => known.question === here.question.id).map(({ answer, doc }) => ({ answer, doc }));
  const stages = [...new Set(Object.values(data.screens))]
    .map((screen) => ({ screen, own: places.filter((place) => data.screens[place.kind] === screen) }))
    .filter(({ own }) => own.length > 0)
    .map(({ screen, own }) => ({ screen, title: data.titles[screen], done: own.filter((place) => place.complete).length, total: own.length, open: true }));
  const shown = stages.find((stage) => stage.screen === wanted) ?? stages.find((stage) => stage.done < stage.total) ?? stages[stages.length - 1];
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
    items: places.filter((place) => data.screens[place.kind] === shown.screen),
    total,
    done,
    closed: done === total,
    locked: false,
    next: nextOpen(number),
    assessor: { id: 0, name: data.assessor },
    has_collection: data.has_collection,
    known: [...here.known, ...added],
    titles: here.titles,
    job: { ...wholeProgress(), minutes_left: null },
    flags: Object.fromEntries(here.items.filter((item) => flags[item.id]?.reason).map((item) => [item.id, flags[item.id].reason])),
  };
}

/**
 * @param {number} number
 * @param {number} id
 * @returns {ItemData}
 */
export function itemOf(number, id) {
  const item = questionOf(number).items.find((candidate) => candidate.id === id);
  if (!item) throw new ApiError(404, "This question has no such item.");
  return item;
}

/**
 * An item with the current verdicts on its parts.
 * @param {number} number
 * @param {number} id
 */
export function viewOf(number, id) {
  const item = itemOf(number, id);
  const decided = decidedOn(number);
  current = number;
  return withVerdicts(item, decided);
}

/**
 * @param {ItemData} item
 * @param {Decided} decided
 */
function withVerdicts({ id, kind, body, parts: described }, decided) {
  const parts = described.map((part) => {
    const history = decided[`${id}/${part.part}`] ?? [];
    return { ...part, verdict: history.at(-1)?.[0] ?? null, version: history.length };
  });
  return { id, kind, body, parts, complete: parts.every((part) => !part.required || part.verdict !== null) };
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
      .filter((item) => flags[item.id]?.reason)
      .map((item) => ({ number: index + 1, question: question.id, item: item.id, label: item.label, place: item.place, reason: flags[item.id].reason })));
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
 * @param {(history: import("./storage.js").Entry[]) => Verdict | null} verdict
 */
function append(number, sent, verdict) {
  const item = itemOf(number, sent.item);
  if (!item.parts.some((part) => part.part === sent.part)) throw new ApiError(404, "This item has no such part.");
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
  const { complete } = withVerdicts(item, decided);
  return { item: sent.item, part: sent.part, version: history.length + 1, at, complete, done, total, closed: done === total };
}

/**
 * A document with what is looked for marked.
 * @param {URLSearchParams} query
 */
export function documentOf(query) {
  const key = JSON.stringify([query.get("id"), query.get("find"), query.get("start"), query.get("length")]);
  const here = questionOf(current).documents[key];
  const entry = here ?? [...questions.values()].find((question) => key in question.documents)?.documents[key];
  if (!entry) throw new ApiError(404, "This sheet does not contain the document.");
  const [text, marks, begins, length, how] = entry;
  return { ...JSON.parse(byId(`text-${text}`).textContent ?? "null"), marks, begins, length, found: how };
}
