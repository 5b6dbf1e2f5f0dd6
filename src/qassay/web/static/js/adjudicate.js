// Ruling on disagreements: one key accepts a verdict, another gives a new one. Rulings go through the outbox, like decisions.
import { announce, byId, fill, h, notify, pageData, plural } from "./dom.js";
import { besideDocument, documentPanel } from "./document.js";
import { answerText, contextList, goldAnswers } from "./free_text.js";
import { isFree, keyFor, register } from "./keys.js";
import { limitMoves, offerMoves } from "./moves.js";
import { confirmAgainstKnown, knownAnswerList } from "./known_answers.js";
import { said, verdictButton } from "./labels.js";
import { howListsDiffer, nuggetComparison } from "./nugget_comparison.js";
import { Outbox } from "./outbox.js";
import { recall, remember } from "./remembered.js";
import { showLast } from "./surroundings.js";

/**
 * @typedef {Record<string, any>} Verdict
 * @typedef {object} Disagreement
 * @property {number | null} item
 * @property {string} part
 * @property {string} kind
 * @property {boolean} left
 * @property {Verdict[]} verdicts
 * @property {Verdict | null} ruling
 * @property {number} version
 * @property {string} seen
 * @property {Record<string, any>} shown
 * @property {import("./nugget_comparison.js").Row[]} rows
 */

const page = pageData();
/** @type {Disagreement[]} */
const all = page.disagreements;
const stage = byId("stage");
/** @type {Map<string, string>} */
const nuggets = new Map(page.nuggets.map((/** @type {any} */ one) => [one.nugget, one.text]));
/** @type {{index: number, before: number, ruling: Verdict | null}[]} */
const steps = [];
let at = Math.max(0, all.findIndex((one) => one.left));

const ADOPT = "/api/adjudication/adopt";
// Where the last ruling is remembered from one question to the next.
const LAST = `qassay-ruling-${page.assessor}`;
// Notes that no ruling has taken yet.
const NOTES = `qassay-ruling-notes-${page.assessor}`;
const STATES = /** @type {Record<string, string>} */ ({
  saved: "Saved",
  saving: "Saving…",
  waiting: "Not saved: the server cannot be reached. Your rulings are kept here and sent later.",
  "signed-out": "Not saved: you are signed out. Sign in again in another tab; your rulings are kept here.",
});
const outbox = new Outbox(`${page.assessor}-rulings`, {
  state: (state) => {
    const shown = byId("save-state");
    shown.dataset.state = state;
    shown.textContent = STATES[state] ?? "";
  },
  delivered: ({ url }) => {
    if (url === ADOPT) location.reload();
  },
  refused: ({ url }, status, answer) => {
    const ruled = status === 409 && url !== ADOPT;
    complain(ruled ? "Somebody else ruled on this in the meantime; the page is reloaded." : (answer?.message ?? "Refused."));
    setTimeout(() => location.reload(), 2500);
    return true;
  },
});

// The keys of labels are letters of their own, those of accepting are numbers.
const LETTERS = /** @type {Record<string, string>} */ ({ UNKNOWN: "k", none: "o" });
/** @type {Record<string, import("./labels.js").Choices>} What a ruling chooses from, by the kind of judgment. */
const choices = page.choices;

const most = Math.max(2, ...all.map((one) => one.verdicts.length));
for (let place = 0; place < Math.min(most, 9); place += 1) {
  register(`adjudicate.accept${place + 1}`, String(place + 1), `Accept verdict ${letter(place)}`, () => accept(place));
}
register("adjudicate.next", "ArrowRight", "Next disagreement", () => go(at + 1));
register("adjudicate.previous", "ArrowLeft", "Previous disagreement", () => go(at - 1));
register("adjudicate.undo", "z", "Undo the last ruling", undo);
offerMoves({ undo: "adjudicate.undo", previous: "adjudicate.previous", next: "adjudicate.next" });
register("adjudicate.onward", "g", page.next === null ? "Back to all questions" : "Go on with the next question", () => void leave());

// A label that several kinds of judgment have is one shortcut. Its own key is used where that is a letter.
for (const [label, own] of new Map(Object.values(choices).flatMap(({ labels }) => labels.map((one) => [one.label, one.key])))) {
  const key = [LETTERS[label], own, ...label.toLowerCase()].find((character) => character && /^\p{L}$/u.test(character) && isFree(character));
  register(`adjudicate.${label}`, key ?? "", `Rule ${label}`, () => rule(label));
}

/** @param {number} place */
function letter(place) {
  return String.fromCharCode(65 + place);
}

/** @param {number} place */
function accept(place) {
  const one = all[at];
  const verdict = one?.verdicts[place];
  if (!one || !verdict) return;
  if (one.kind === "lists") {
    outbox.post(ADOPT, { question: page.question.id, list: verdict.name, seen: one.seen });
    one.left = false;
    return;
  }
  const { note, settled, ...bare } = verdict;
  save(one, bare);
}

/** @param {string} label  Nothing happens where the kind of judgment does not have it. */
function rule(label) {
  const one = all[at];
  if (!one || one.kind === "lists") return;
  const { field, labels } = choices[one.kind];
  if (!labels.some((offered) => offered.label === label)) return;
  /** @type {Verdict} */
  const verdict = { [field]: label };
  if (one.kind === "list" && label === "R") {
    const known = one.verdicts.find((other) => other.answer)?.answer ?? one.shown.text;
    const input = document.getElementById("class");
    verdict.answer = input instanceof HTMLInputElement && input.value.trim() ? input.value.trim() : known;
  }
  save(one, verdict);
}

/**
 * @param {Disagreement} one
 * @param {Verdict} verdict
 * @param {{stay?: boolean}} [options]  `stay`: what is shown stays.
 */
async function save(one, verdict, { stay = false } = {}) {
  if (verdict.judgment === "W" && !(await confirmAgainstKnown(`${one.item}/${one.part}`, one.shown.text, page.known))) return;
  if (all[at] !== one) return;
  const field = document.getElementById("note");
  const note = field instanceof HTMLTextAreaElement ? field.value.trim() : "";
  const said_ = note ? { ...verdict, note } : verdict;
  keepNote(one, null);
  if (isSame(one.ruling, said_)) return stay ? undefined : goOn(); // it says so already
  steps.push({ index: at, before: one.version, ruling: one.ruling });
  remember(LAST, [{ question: page.question.id, item: one.item, part: one.part, version: one.version + 1, before: one.version }], { tab: true });
  outbox.post("/api/adjudication/rulings", {
    question: page.question.id,
    item: one.item,
    part: one.part,
    expected: one.version,
    verdict: said_,
  });
  one.ruling = said_;
  one.version += 1;
  one.left = false;
  announce(`Ruled: ${said(verdict)}`);
  if (!stay) goOn();
}

/**
 * Keep a note in the browser until a ruling takes it.
 * @param {Disagreement} one
 * @param {string | null} note
 */
function keepNote(one, note) {
  const others = recall(NOTES).filter((/** @type {any} */ kept) => kept.question !== page.question.id || kept.item !== one.item || kept.part !== one.part);
  remember(NOTES, note === null ? others : [...others, { question: page.question.id, item: one.item, part: one.part, note }].slice(-500));
}

/**
 * The field of a note: it is kept while it is typed, and saved on leaving where there is a ruling already.
 * @param {Disagreement} one
 */
function noteField(one) {
  const kept = recall(NOTES).find((/** @type {any} */ draft) => draft.question === page.question.id && draft.item === one.item && draft.part === one.part);
  const field = h("textarea", { id: "note", rows: "2", maxlength: "2000", dir: "auto", value: kept?.note ?? one.ruling?.note ?? "" });
  field.addEventListener("input", () => keepNote(one, field.value));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) stage.focus({ preventScroll: true });
  });
  field.addEventListener("blur", () => {
    if (one.ruling === null || one.ruling.settled || field.value.trim() === (one.ruling.note ?? "")) return;
    const { note, ...verdict } = one.ruling;
    void save(one, verdict, { stay: true });
  });
  return field;
}

/**
 * @param {Verdict | null} ruling
 * @param {Verdict} verdict
 */
function isSame(ruling, verdict) {
  if (ruling === null || ruling.settled) return false;
  const bare = (/** @type {Verdict} */ given) =>
    JSON.stringify(Object.entries(given).filter(([, value]) => value !== null && value !== undefined && value !== "").sort());
  return bare(ruling) === bare(verdict);
}

/** On to what is left: here, else in the next question. */
function goOn() {
  const next = all.findIndex((other, index) => other.left && index > at);
  const first = all.findIndex((other) => other.left);
  if (next >= 0 || first >= 0) go(next >= 0 ? next : first);
  else if (page.next !== null) void leave();
  else go(at);
}

/** Undo the ruling that led from the question before to this one. */
function undoBefore() {
  const [last] = recall(LAST, { tab: true });
  if (!last || last.question === page.question.id) return notify("Nothing to undo.");
  remember(LAST, [], { tab: true });
  const { question, item, part, version, before } = last;
  outbox.post("/api/adjudication/undo", { question, item, part, expected: version, to: before });
  void outbox.emptied().then(() => location.assign(`/adjudication/question?id=${encodeURIComponent(question)}`));
}

function undo() {
  const step = steps.pop();
  const one = step && all[step.index];
  if (!step || !one) {
    undoBefore();
    return;
  }
  outbox.post("/api/adjudication/undo", {
    question: page.question.id,
    item: one.item,
    part: one.part,
    expected: one.version,
    to: step.before,
  });
  one.version += 1;
  one.ruling = step.ruling;
  one.left = step.ruling === null;
  go(step.index);
  announce("Undone.");
}

/** @param {number} index */
function go(index) {
  if (index < 0 || index >= all.length) return;
  at = index;
  draw();
  stage.focus({ preventScroll: true });
}

/** @param {string} message */
function complain(message) {
  const shown = byId("complaint");
  shown.hidden = message === "";
  shown.textContent = message;
}

function draw() {
  const one = all[at];
  const left = all.filter((other) => other.left).length;
  byId("position").textContent = one ? `Disagreement ${at + 1} of ${all.length}, ${left} left` : "";
  const bar = byId("progress", HTMLProgressElement);
  bar.hidden = all.length === 0;
  bar.max = Math.max(all.length, 1);
  bar.value = all.length - left;
  const last = all[steps.at(-1)?.index ?? -1];
  showLast(last?.ruling ? { said: words(last, last.ruling), about: last.shown.text ?? "" } : undefined);
  limitMoves(at, at + 1 < all.length ? all.length : 0);
  if (!one) {
    fill(stage, h("p", { class: "notice good" }, "The assessors agree on everything here; it is settled automatically."), onward());
    return;
  }
  const more = one.kind === "lists" ? nuggetComparison(one.rows, letter) : newRuling(one);
  const answer = h("div", { class: "judge-answer" }, what(one), knownAnswers(), verdicts(one));
  const rest = h("div", { class: "judge-answer" }, more, onward());
  const panel = one.shown.doc ? documentPanel(page.has_collection, { body: one.shown }) : contextList(one.shown.contexts ?? []);
  fill(stage, panel ? besideDocument(answer, panel, rest) : [answer, rest]);
}

/** @param {Disagreement} one */
function what(one) {
  if (one.kind === "lists") return h("p", null, `${howListsDiffer(one.rows)} Adopt one of the lists, with what was matched with it.`);
  if (one.kind === "pair") return h("p", { class: "answer-string", dir: "auto" }, page.question.text);
  if (one.shown.elements) {
    const strings = one.shown.elements.map((/** @type {any} */ element) => h("li", { dir: "auto" }, element.text));
    const nugget = one.part.startsWith("nugget:") ? nuggets.get(one.part.slice(7)) : null;
    return h("div", null, h("ol", { class: "strings" }, strings), nugget ? h("p", null, "Nugget: ", h("strong", { dir: "auto" }, nugget)) : null);
  }
  if (one.shown.contexts) return [answerText(one.shown.text), one.kind === "label" ? goldAnswers(page.question) : null];
  return h("p", { class: "answer-string", dir: "auto" }, one.shown.text ?? "The marked passage");
}

/** @param {Disagreement} one */
function verdicts(one) {
  const same = (/** @type {Verdict} */ verdict, /** @type {number} */ place) =>
    one.ruling !== null && (one.kind === "lists" ? one.ruling.adopted === place : words(one, verdict) === words(one, one.ruling));
  return h("ul", { class: "verdicts", "aria-label": "Verdicts" }, one.verdicts.map((verdict, place) =>
    h("li", null,
      h("button", { type: "button", class: "verdict", dataset: { label: labelOf(one, verdict) }, "aria-pressed": String(same(verdict, place)), onclick: () => accept(place) },
        h("span", { class: "faint" }, h("kbd", null, keyFor(`adjudicate.accept${place + 1}`)), ` Assessor ${letter(place)}`),
        h("span", { class: "said" }, one.kind === "lists" ? counted(verdict.list) + (same(verdict, place) ? ", adopted" : "") : words(one, verdict)),
        verdict.note ? h("span", { class: "why", dir: "auto" }, verdict.note) : null))));
}

/**
 * The label of a verdict, for its colour; nothing where it has none.
 * @param {Disagreement} one
 * @param {Verdict} verdict
 */
function labelOf(one, verdict) {
  return String(verdict[choices[one.kind]?.field] ?? "");
}

/** The known answers of the question, with their documents. */
function knownAnswers() {
  return knownAnswerList(page.known);
}

/** @param {{vital: boolean}[]} list */
function counted(list) {
  return `${plural(list.length, "nugget")}, ${list.filter((one) => one.vital).length} vital`;
}

/**
 * @param {Disagreement} one
 * @param {Verdict} verdict
 */
function words(one, verdict) {
  if (one.kind === "match") return verdict.nuggets.length ? verdict.nuggets.map((/** @type {string} */ id) => nuggets.get(id) ?? id).join("; ") : "no nugget";
  const { note, settled, ...bare } = verdict;
  if (one.kind === "context") return bare.support;
  return said(bare);
}

/** @param {Disagreement} one */
function newRuling(one) {
  const parts = [];
  const { labels } = choices[one.kind];
  if (labels.length) {
    parts.push(h("div", { class: "decisions", role: "group", "aria-label": "Another ruling" }, labels.map((own) =>
      verdictButton({ ...own, meaning: "" }, {
        key: keyFor(`adjudicate.${own.label}`),
        pressed: one.ruling !== null && labelOf(one, one.ruling) === own.label,
        choose: () => rule(own.label),
      }))));
    if (one.kind === "list") {
      const known = [...new Set(one.verdicts.map((verdict) => verdict.answer).filter(Boolean)), one.shown.text];
      parts.push(h("label", null, "Answer, if correct", h("input", { id: "class", type: "text", maxlength: "500", value: known[0], list: "classes" }),
        h("datalist", { id: "classes" }, known.map((name) => h("option", { value: name })))));
    }
  } else if (one.kind === "holistic") {
    parts.push(...holisticFields(one));
  } else if (one.kind === "match") {
    parts.push(nuggetChoices(one));
  }
  return h("fieldset", null, h("legend", null, "Another ruling"),
    h("div", { class: "own-ruling" }, parts.flat()),
    h("label", { class: "note" }, "Note (optional)", noteField(one)));
}

/** @param {Disagreement} one */
function holisticFields(one) {
  const field = (/** @type {string} */ name) => h("input", { type: "number", min: "0", max: "10", required: true, value: one.ruling?.[name] ?? one.verdicts[0]?.[name] ?? "" });
  const content = field("content");
  const organization = field("organization");
  return [
    h("label", null, "Content", content),
    h("label", null, "Organization", organization),
    h("button", { type: "button", onclick: () => save(one, { content: Number(content.value), organization: Number(organization.value) }) }, "Rule"),
  ];
}

/** @param {Disagreement} one */
function nuggetChoices(one) {
  const chosen = new Set(one.ruling?.nuggets ?? one.verdicts.flatMap((verdict) => verdict.nuggets));
  const boxes = [...nuggets].map(([id, name]) => h("input", { type: "checkbox", value: id, checked: chosen.has(id), "aria-label": name }));
  return h("div", null,
    h("ul", { class: "nugget-choices" }, boxes.map((box) => h("li", null, h("label", null, box, " ", h("span", { dir: "auto" }, nuggets.get(box.value) ?? ""))))),
    h("button", { type: "button", onclick: () => save(one, { nuggets: boxes.filter((box) => box.checked).map((box) => box.value) }) }, "Rule"));
}

function following() {
  return page.next === null ? "/adjudication" : `/adjudication/question?id=${encodeURIComponent(page.next)}`;
}

/** Go on once everything is saved: the next page tells what is left. */
async function leave() {
  await outbox.emptied();
  location.assign(following());
}

/** The way to the next question: said plainly when nothing is left here, and always there to skip a question. */
function onward() {
  const done = !all.some((one) => one.left);
  const link = h("a", { href: following(), id: done ? "onward" : "skip" }, page.next === null ? "Back to all questions" : `Go on with ${page.next}`);
  return h("p", { class: done ? "notice good" : "faint" }, done ? "You have ruled on everything here. " : null, link, " ", h("kbd", null, keyFor("adjudicate.onward")));
}

outbox.tell();
void outbox.send();
draw();
