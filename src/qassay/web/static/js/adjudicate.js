// Ruling on disagreements: one key accepts a verdict, another gives a new one. Rulings go through the outbox, like decisions.
import { announce, byId, fill, h, notify, pageData, plural, textBox } from "./dom.js";
import { besideDocument, documentPanel } from "./document.js";
import { answerText, contextList, goldAnswers } from "./free_text.js";
import { isFree, keyFor, register } from "./keys.js";
import { limitMoves, offerMoves } from "./moves.js";
import { confirmAgainstKnown, knownAnswerList } from "./known_answers.js";
import { verdictButton, verdictInWords, verdictShortly } from "./labels.js";
import { howListsDiffer, nuggetComparison } from "./nugget_comparison.js";
import { Outbox } from "./outbox.js";
import { recall, remember } from "./remembered.js";
import { cameIntoView, ignoreSecondPresses } from "./second_press.js";
import { keepQuestionInView, showLast, showState } from "./surroundings.js";
import { learnTitles } from "./titles.js";

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
const nuggets = new Map(page.nuggets.map((/** @type {any} */ nugget) => [nugget.nugget, nugget.text]));
/** @type {{index: number, before: number, ruling: Verdict | null}[]} */
const steps = [];
let leaving = false;
let at = Math.max(0, all.findIndex((disagreement) => disagreement.left));

const ADOPT = "/api/adjudication/adopt";
// Where the last ruling is remembered from one question to the next.
const LAST = `qassay-ruling-${page.assessor}`;
// Notes that no ruling has taken yet.
const NOTES = `qassay-ruling-notes-${page.assessor}`;
const outbox = new Outbox(`${page.assessor}-rulings`, {
  state: showState,
  delivered: ({ url }) => {
    if (url === ADOPT) location.reload();
  },
  refused: ({ url }, status, answer) => {
    const ruled = status === 409 && url !== ADOPT;
    complain(ruled ? "Another adjudicator decided this in the meantime; the page is reloaded." : (answer?.message ?? "Refused."));
    setTimeout(() => location.reload(), 2500);
    return true;
  },
});

// The keys of labels are letters of their own, those of accepting are numbers.
const LETTERS = /** @type {Record<string, string>} */ ({ UNKNOWN: "k", none: "o" });
/** @type {Record<string, import("./labels.js").Choices>} What a ruling chooses from, by the kind of judgment. */
const choices = page.choices;

const most = Math.max(2, ...all.map((disagreement) => disagreement.verdicts.length));
for (let place = 0; place < Math.min(most, 9); place += 1) {
  register(`adjudicate.accept${place + 1}`, String(place + 1), `Accept verdict ${letter(place)}`, () => accept(place));
}
register("adjudicate.next", "ArrowRight", "Next disagreement", () => go(at + 1));
register("adjudicate.previous", "ArrowLeft", "Previous disagreement", () => go(at - 1));
register("adjudicate.undo", "z", "Undo the last ruling", undo);
if (all.some((disagreement) => disagreement.kind !== "lists")) {
  register("adjudicate.note", "m", "Write a note on your ruling", () => document.getElementById("note")?.focus());
}
offerMoves({ undo: "adjudicate.undo", previous: "adjudicate.previous", next: "adjudicate.next" });
register("adjudicate.onward", "g", page.next === null ? "Back to all questions" : "Go on with the next question", () => void leave());

// A label that several kinds of judgment have is one shortcut. Its own key is used where that is a letter.
for (const { label, name, key: own } of new Map(Object.values(choices).flatMap(({ labels }) => labels.map((choice) => [choice.label, choice]))).values()) {
  const key = [LETTERS[label], own, ...label.toLowerCase()].find((character) => character && /^\p{L}$/u.test(character) && isFree(character));
  register(`adjudicate.${label}`, key ?? "", `Rule: ${name}${label.length === 1 ? ` (${label})` : ""}`, () => rule(label));
}

/** @param {number} place */
function letter(place) {
  return String.fromCharCode(65 + place);
}

/** @param {number} place */
function accept(place) {
  const disagreement = all[at];
  const verdict = disagreement?.verdicts[place];
  if (!disagreement || !verdict) return;
  if (disagreement.kind === "lists") {
    outbox.post(ADOPT, { question: page.question.id, list: verdict.name, seen: disagreement.seen });
    disagreement.left = false;
    return;
  }
  const { note, settled, ...bare } = verdict;
  save(disagreement, bare);
}

/** @param {string} label  Nothing happens where the kind of judgment does not have it. */
function rule(label) {
  const disagreement = all[at];
  if (!disagreement || disagreement.kind === "lists") return;
  const { field, labels } = choices[disagreement.kind];
  if (!labels.some((offered) => offered.label === label)) return;
  /** @type {Verdict} */
  const verdict = { [field]: label };
  if (disagreement.kind === "list" && label === "R") {
    const known = disagreement.verdicts.find((other) => other.answer)?.answer ?? disagreement.shown.text;
    const input = document.getElementById("class");
    verdict.answer = input instanceof HTMLInputElement && input.value.trim() ? input.value.trim() : known;
  }
  save(disagreement, verdict);
}

/**
 * @param {Disagreement} disagreement
 * @param {Verdict} verdict
 * @param {{stay?: boolean}} [options]  `stay`: what is shown stays.
 */
async function save(disagreement, verdict, { stay = false } = {}) {
  if (verdict.judgment === "W" && !(await confirmAgainstKnown(`${disagreement.item}/${disagreement.part}`, disagreement.shown.text, page.known))) return;
  if (all[at] !== disagreement) return;
  const field = document.getElementById("note");
  const note = field instanceof HTMLTextAreaElement ? field.value.trim() : "";
  const ruling = note ? { ...verdict, note } : verdict;
  keepNote(disagreement, null);
  if (isSame(disagreement.ruling, ruling)) return stay ? undefined : goOn(); // it says so already
  steps.push({ index: at, before: disagreement.version, ruling: disagreement.ruling });
  remember(LAST, [{ question: page.question.id, item: disagreement.item, part: disagreement.part, version: disagreement.version + 1, before: disagreement.version }], { tab: true });
  outbox.post("/api/adjudication/rulings", {
    question: page.question.id,
    item: disagreement.item,
    part: disagreement.part,
    expected: disagreement.version,
    verdict: ruling,
  });
  disagreement.ruling = ruling;
  disagreement.version += 1;
  disagreement.left = false;
  announce(`Ruled: ${verdictInWords(verdict)}`);
  if (!stay) goOn();
}

/**
 * Keep a note in the browser until a ruling takes it.
 * @param {Disagreement} disagreement
 * @param {string | null} note
 */
function keepNote(disagreement, note) {
  const others = recall(NOTES).filter((/** @type {any} */ draft) => draft.question !== page.question.id || draft.item !== disagreement.item || draft.part !== disagreement.part);
  remember(NOTES, note === null ? others : [...others, { question: page.question.id, item: disagreement.item, part: disagreement.part, note }].slice(-500));
}

/**
 * The field of a note: it is kept while it is typed, and saved on leaving where there is a ruling already.
 * @param {Disagreement} disagreement
 */
function noteField(disagreement) {
  const stored = recall(NOTES).find((/** @type {any} */ draft) => draft.question === page.question.id && draft.item === disagreement.item && draft.part === disagreement.part);
  const field = h("textarea", { id: "note", rows: "2", maxlength: "2000", dir: "auto", value: stored?.note ?? disagreement.ruling?.note ?? "" });
  field.addEventListener("input", () => keepNote(disagreement, field.value));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) stage.focus({ preventScroll: true });
  });
  field.addEventListener("blur", () => {
    if (disagreement.ruling === null || disagreement.ruling.settled || field.value.trim() === (disagreement.ruling.note ?? "")) return;
    const { note, ...verdict } = disagreement.ruling;
    void save(disagreement, verdict, { stay: true });
  });
  return field;
}

/**
 * @param {Verdict | null} ruling
 * @param {Verdict} verdict
 */
function isSame(ruling, verdict) {
  if (ruling === null || ruling.settled) return false;
  const bare = (/** @type {Verdict} */ values) =>
    JSON.stringify(Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "").sort());
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
  const disagreement = step && all[step.index];
  if (!step || !disagreement) {
    undoBefore();
    return;
  }
  outbox.post("/api/adjudication/undo", {
    question: page.question.id,
    item: disagreement.item,
    part: disagreement.part,
    expected: disagreement.version,
    to: step.before,
  });
  disagreement.version += 1;
  disagreement.ruling = step.ruling;
  disagreement.left = step.ruling === null;
  leaving = false;
  go(step.index);
  notify("Undone.");
}

/** @param {number} index */
function go(index) {
  if (index < 0 || index >= all.length) return;
  at = index;
  draw();
  cameIntoView();
  stage.focus({ preventScroll: true });
}

/** @param {string} message */
function complain(message) {
  const shown = byId("complaint");
  shown.hidden = message === "";
  shown.textContent = message;
}

function draw() {
  const disagreement = all[at];
  const left = all.filter((other) => other.left).length;
  byId("position").textContent = disagreement ? `Disagreement ${at + 1} of ${all.length}, ${left} left` : "No disagreements";
  for (const move of ["previous", "next"]) byId(`move-${move}`).hidden = !disagreement;
  const bar = byId("progress", HTMLProgressElement);
  bar.hidden = all.length === 0;
  bar.max = Math.max(all.length, 1);
  bar.value = all.length - left;
  const last = all[steps.at(-1)?.index ?? -1];
  showLast(last?.ruling ? { label: words(last, last.ruling), about: last.shown.text ?? "" } : undefined);
  limitMoves(at, at + 1 < all.length ? all.length : 0);
  if (!disagreement) {
    fill(stage, onward("The assessors agree on everything here; it is settled automatically."));
    return;
  }
  const more = disagreement.kind === "lists" ? nuggetComparison(disagreement.rows, letter) : newRuling(disagreement);
  const answer = h("div", { class: "judge-answer" }, judgedPart(disagreement), knownAnswers(), verdicts(disagreement));
  const rest = h("div", { class: "judge-answer" }, more, onward());
  const panel = disagreement.shown.doc ? documentPanel(page.has_collection, { body: disagreement.shown }) : contextList(disagreement.shown.contexts ?? []);
  fill(stage, panel ? besideDocument(answer, panel, rest) : [answer, rest]);
}

/** @param {Disagreement} disagreement */
function judgedPart(disagreement) {
  if (disagreement.kind === "lists") return h("p", null, `${howListsDiffer(disagreement.rows)} Adopt one of the lists, with what was matched with it.`);
  if (disagreement.kind === "pair") return textBox(page.question.text, "Text", "free-text");
  if (disagreement.shown.elements) {
    const strings = disagreement.shown.elements.map((/** @type {any} */ element) => h("li", null, h("span", { class: "sentence", dir: "auto" }, element.text || "(empty)")));
    const nugget = disagreement.part.startsWith("nugget:") ? nuggets.get(disagreement.part.slice(7)) : null;
    return h("div", null, h("ol", { class: "strings response", tabindex: "0", "aria-label": "Response" }, strings), nugget ? h("p", null, "Nugget: ", h("strong", { dir: "auto" }, nugget)) : null);
  }
  if (disagreement.shown.contexts) return [answerText(disagreement.shown.text), disagreement.kind === "label" ? goldAnswers(page.question) : null];
  return textBox(disagreement.shown.text ?? "The marked passage", "Answer string");
}

/** @param {Disagreement} disagreement */
function verdicts(disagreement) {
  const same = (/** @type {Verdict} */ verdict, /** @type {number} */ place) =>
    disagreement.ruling !== null && (disagreement.kind === "lists" ? disagreement.ruling.adopted === place : words(disagreement, verdict) === words(disagreement, disagreement.ruling));
  return h("ul", { class: "verdicts", "aria-label": "Verdicts" }, disagreement.verdicts.map((verdict, place) =>
    h("li", null,
      h("button", { type: "button", class: `verdict ${toneOf(disagreement, verdict)}`, dataset: { label: labelOf(disagreement, verdict) }, "aria-pressed": String(same(verdict, place)), onclick: () => accept(place) },
        h("span", { class: "faint" }, h("kbd", null, keyFor(`adjudicate.accept${place + 1}`)), ` Assessor ${letter(place)}`),
        h("span", { class: "said", dir: "auto" }, disagreement.kind === "lists" ? counted(verdict.list) + (same(verdict, place) ? ", adopted" : "") : words(disagreement, verdict)),
        verdict.note ? h("span", { class: "why", dir: "auto" }, verdict.note) : null))));
}

/**
 * The label of a verdict, for its colour; nothing where it has none.
 * @param {Disagreement} disagreement
 * @param {Verdict} verdict
 */
function labelOf(disagreement, verdict) {
  return String(verdict[choices[disagreement.kind]?.field] ?? "");
}

/**
 * The colour of a verdict; nothing where it has no label.
 * @param {Disagreement} disagreement
 * @param {Verdict} verdict
 */
function toneOf(disagreement, verdict) {
  const label = labelOf(disagreement, verdict);
  return choices[disagreement.kind]?.labels.find((choice) => choice.label === label)?.tone ?? "";
}

/** The known answers of the question, with their documents. */
function knownAnswers() {
  return knownAnswerList(page.known);
}

/** @param {{vital: boolean}[]} list */
function counted(list) {
  return `${plural(list.length, "nugget")}, ${list.filter((nugget) => nugget.vital).length} vital`;
}

/**
 * @param {Disagreement} disagreement
 * @param {Verdict} verdict
 */
function words(disagreement, verdict) {
  if (disagreement.kind === "match") return verdict.nuggets.length ? verdict.nuggets.map((/** @type {string} */ id) => nuggets.get(id) ?? id).join("; ") : "no nugget";
  const { note, settled, ...bare } = verdict;
  // R, X, U and W are shown with their letters, and the class of a list item; other labels by their names.
  return "judgment" in bare && disagreement.kind !== "label" ? verdictInWords(bare) : verdictShortly(bare, choices[disagreement.kind]);
}

/** @param {Disagreement} disagreement */
function newRuling(disagreement) {
  const parts = [];
  const { labels } = choices[disagreement.kind];
  if (labels.length) {
    parts.push(h("div", { class: "decisions", role: "group", "aria-label": "Another ruling" }, labels.map((choice) =>
      verdictButton({ ...choice, meaning: "" }, {
        key: keyFor(`adjudicate.${choice.label}`),
        pressed: disagreement.ruling !== null && labelOf(disagreement, disagreement.ruling) === choice.label,
        choose: () => rule(choice.label),
      }))));
    if (disagreement.kind === "list") {
      const known = [...new Set(disagreement.verdicts.map((verdict) => verdict.answer).filter(Boolean)), disagreement.shown.text];
      parts.push(h("label", null, "Answer, if correct", h("input", { id: "class", type: "text", maxlength: "500", value: known[0], list: "classes" }),
        h("datalist", { id: "classes" }, known.map((name) => h("option", { value: name })))));
    }
  } else if (disagreement.kind === "holistic") {
    parts.push(...holisticFields(disagreement));
  } else if (disagreement.kind === "match") {
    parts.push(nuggetChoices(disagreement));
  }
  return h("fieldset", null, h("legend", null, "Another ruling"),
    h("div", { class: "own-ruling" }, parts.flat()),
    h("label", { class: "note" }, "Note ", h("kbd", null, keyFor("adjudicate.note")), h("span", { class: "faint" }, " (saved automatically)"), noteField(disagreement)));
}

/** @param {Disagreement} disagreement */
function holisticFields(disagreement) {
  const field = (/** @type {string} */ name) => h("input", { type: "number", min: "0", max: "10", required: true, value: disagreement.ruling?.[name] ?? disagreement.verdicts[0]?.[name] ?? "" });
  const content = field("content");
  const organization = field("organization");
  return [
    h("label", null, "Content", content),
    h("label", null, "Organization", organization),
    h("button", { type: "button", onclick: () => save(disagreement, { content: Number(content.value), organization: Number(organization.value) }) }, "Save decision"),
  ];
}

/** @param {Disagreement} disagreement */
function nuggetChoices(disagreement) {
  const chosen = new Set(disagreement.ruling?.nuggets ?? disagreement.verdicts.flatMap((verdict) => verdict.nuggets));
  const boxes = [...nuggets].map(([id, name]) => h("input", { type: "checkbox", value: id, checked: chosen.has(id), "aria-label": name }));
  return h("div", null,
    h("ul", { class: "nugget-choices" }, boxes.map((box) => h("li", null, h("label", null, box, " ", h("span", { dir: "auto" }, nuggets.get(box.value) ?? ""))))),
    h("button", { type: "button", onclick: () => save(disagreement, { nuggets: boxes.filter((box) => box.checked).map((box) => box.value) }) }, "Save decision"));
}

function following() {
  return page.next === null ? "/adjudication" : `/adjudication/question?id=${encodeURIComponent(page.next)}`;
}

/** Go on once everything is saved: the next page shows what is left. An undo meanwhile stays here. */
async function leave() {
  leaving = true;
  await outbox.emptied();
  if (leaving) location.assign(following());
}

/**
 * The link to the next question: a notice when nothing is left here, else a way to skip this question.
 * @param {string} [settled]  Why nothing is left.
 */
function onward(settled = "You have decided everything here.") {
  const done = !all.some((disagreement) => disagreement.left);
  const link = h("a", { href: following(), id: done ? "onward" : "skip" }, page.next === null ? "Back to all questions" : `Go on with ${page.next}`);
  return h("p", { class: done ? "notice good" : "faint" }, done ? `${settled} ` : null, link, " ", h("kbd", null, keyFor("adjudicate.onward")));
}

learnTitles(page.titles);
ignoreSecondPresses(stage);
keepQuestionInView();
outbox.tell();
void outbox.send();
draw();
stage.focus({ preventScroll: true });
