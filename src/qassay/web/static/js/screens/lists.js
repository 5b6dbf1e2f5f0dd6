// Judging lists: one run's whole list, one decision for each element, and for right ones the class of equal answers.
import { freshKey, get, post } from "../api.js";
import { announce, byId, fill, h } from "../dom.js";
import { Choices } from "../choices.js";
import { classChooser, likely } from "../class_chooser.js";
import { documentPanel } from "../document.js";
import { keyFor, register } from "../keys.js";
import { Workbench } from "../workbench.js";

/** @typedef {import("../workbench.js").ItemView} ItemView */
/** @typedef {import("../class_chooser.js").KnownClass} KnownClass */

// In the order in which they are decided: METHOD 4.
const DECISIONS = [
  { label: "W", name: "Incorrect", tone: "" },
  { label: "U", name: "Not supported", tone: "warn" },
  { label: "X", name: "Not exact", tone: "warn" },
  { label: "R", name: "Correct", tone: "good" },
];

/** @type {KnownClass[]} */
let classes = [];
/** @type {ItemView | null} The list that is drawn. */
let drawn = null;
/** @type {{key: string, steps: number}[]} Renamings, each with the number of decisions before it. */
const renamings = [];

const box = new Choices("Elements of the list", { current: () => turn() });
const answer = h("p", { class: "answer-string", dir: "auto", tabindex: "0", role: "group", "aria-label": "Answer string" });
const remark = h("p", { class: "faint small verdict" });
const note = h("textarea", { id: "note", rows: "2", maxlength: "2000" });
const chooserPlace = h("div", { class: "chooser-place" });
const documentPlace = h("div", { class: "document-place" });
const knownPlace = h("section", { class: "known-classes", "aria-label": "Known answers" });

const bench = new Workbench({ draw, begin });
const decisions = DECISIONS.filter((one) => bench.sheet.labels.includes(one.label));
decisions.forEach((one, index) => {
  register(`lists.${one.label}`, String(index + 1), `${one.name} (${one.label})`, () => decide(one.label));
});
register("lists.down", "ArrowDown", "Next element", () => box.move(1));
register("lists.up", "ArrowUp", "Element before", () => box.move(-1));
register("lists.note", "m", "Write a note on this element", () => note.focus());
register("lists.classes", "c", "Rename or merge known answers", () => knownPlace.querySelector("button")?.focus());
register("judge.undo", "z", "Take back the last decision", () => void undo());
const buttons = decisions.map((one) =>
  h(
    "button",
    { type: "button", class: "decision", dataset: { label: one.label }, onclick: () => decide(one.label) },
    h("kbd", null, keyFor(`lists.${one.label}`)),
    h("span", null, one.name),
  ),
);

/** @param {Workbench} here */
function begin(here) {
  const { question } = here.sheet;
  byId("question-id").textContent = question.id;
  byId("question-text").textContent = question.text || question.target || question.id;
  fill(byId("question-more"), question.target ? h("p", null, "Target: ", h("strong", { dir: "auto" }, question.target)) : null);
  classes = [];
  void refreshClasses();
}

/** Ask the server for the classes: those of question development and the assessor's own. */
async function refreshClasses() {
  const { assignment } = bench.sheet;
  try {
    await bench.outbox.emptied();
    const found = await get(`/judge/${assignment}/classes`);
    if (assignment === bench.sheet.assignment) showClasses(found.classes);
  } catch (error) {
    bench.complain(`The known answers cannot be loaded. ${message(error)}`, () => void refreshClasses());
  }
}

/**
 * @param {Workbench} here
 * @param {ItemView} view
 */
function draw(here, view) {
  if (drawn !== view) {
    const same = drawn?.id === view.id;
    drawn = view;
    if (!same) box.at = Math.max(0, view.parts.findIndex((one) => one.verdict === null));
    fill(here.stage, layout());
    // The workbench puts the focus on the stage; the list is where it belongs.
    queueMicrotask(() => box.focus());
  }
  const { elements } = view.body;
  box.show(elements.map((/** @type {{text: string}} */ one, /** @type {number} */ index) => line(view, one.text, index)));
  turn();
}

function layout() {
  return h(
    "div",
    { class: "judge-columns lists" },
    h("div", { class: "list-side" }, h("h2", null, "The list"), box.element, knownPlace),
    h(
      "div",
      { class: "judge-answer" },
      h("h2", { class: "visually-hidden" }, "Element"),
      answer,
      h("div", { class: "decisions", role: "group", "aria-label": "Decision" }, buttons),
      chooserPlace,
      remark,
      h("details", { class: "note-box" }, h("summary", null, "Note"), h("label", { class: "note" }, "Saved with the decision", note)),
      documentPlace,
    ),
  );
}

/**
 * @param {ItemView} view
 * @param {string} text
 * @param {number} index
 */
function line(view, text, index) {
  const verdict = view.parts[index].verdict;
  const decision = DECISIONS.find((one) => one.label === verdict?.judgment);
  return h(
    "li",
    null,
    h("span", { class: "line-number faint" }, `${index + 1}`),
    h("span", { class: "line-text" }, h("bdi", null, text || "(empty)")),
    decision
      ? h("span", { class: `badge ${decision.tone}`, title: decision.name }, decision.label)
      : h("span", { class: "badge open", title: "not judged" }, "·"),
    verdict?.answer && verdict.answer !== text ? h("span", { class: "line-class faint small" }, "= ", h("bdi", null, verdict.answer)) : null,
  );
}

/** Show the current element: its string, its verdict, its document. */
function turn() {
  if (!drawn) return;
  const element = drawn.body.elements[box.at];
  const { verdict } = drawn.parts[box.at];
  closeChooser();
  const shown = `${drawn.id}:${box.at}`;
  buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.label === verdict?.judgment)));
  remark.textContent = verdict?.answer ? `Answer: ${verdict.answer}` : "";
  if (answer.dataset.shown === shown) return;
  answer.dataset.shown = shown;
  fill(answer, h("bdi", null, element.text || "(empty)"));
  note.value = verdict?.note ?? "";
  const open = note.closest("details");
  if (open) open.open = note.value !== "";
  fill(documentPlace, documentPanel(bench.sheet.has_collection, { body: element }));
}

/** @param {string} label */
function decide(label) {
  if (!drawn) return;
  if (label !== "R") return save(label, null);
  const { text } = drawn.body.elements[box.at];
  const { verdict } = drawn.parts[box.at];
  const chooser = classChooser({
    label: "Correct: which answer is it?",
    text: text || "(empty)",
    chosen: verdict?.answer ?? likely(text, classes),
    classes,
    fresh: "New answer",
    known: "Same as",
    choose: (name) => save("R", name),
    cancel: () => {
      closeChooser();
      box.focus();
    },
  });
  fill(chooserPlace, chooser.element);
  chooser.focus();
  chooserPlace.scrollIntoView({ block: "nearest" });
}

function closeChooser() {
  if (chooserPlace.firstChild) fill(chooserPlace);
}

/**
 * @param {string} label
 * @param {string | null} name
 */
function save(label, name) {
  const view = drawn;
  if (!view) return;
  const index = box.at;
  const before = view.parts[index].verdict;
  const complete = view.complete;
  const said = note.value.trim();
  closeChooser();
  answer.dataset.shown = "";
  bench.decide(
    String(index),
    { judgment: label, ...(name === null ? {} : { answer: name }), ...(said ? { note: said } : {}) },
    { advance: !complete },
  );
  count(before?.judgment === "R" ? before.answer ?? view.body.elements[index].text : null, name);
  announce(`${label} saved`);
  if (view.complete && !complete) return; // the workbench goes on to the next list
  const open = view.parts.findIndex((one) => one.verdict === null);
  box.go(index + 1 < view.parts.length ? index + 1 : open < 0 ? index : open);
  box.focus();
}

/**
 * Keep the known answers current without asking: one item leaves a class, one joins one.
 * @param {string | null} left
 * @param {string | null} joined
 */
function count(left, joined) {
  const changed = classes.map((one) => ({ ...one, items: one.items - Number(one.name === left) + Number(one.name === joined) }));
  if (joined !== null && !changed.some((one) => one.name === joined)) changed.push({ name: joined, developed: false, items: 1 });
  showClasses(changed.filter((one) => one.developed || one.items > 0));
}

/** @param {KnownClass[]} found */
function showClasses(found) {
  classes = found;
  fill(
    knownPlace,
    h("h2", null, "Known answers ", h("span", { class: "badge" }, String(classes.length))),
    classes.length === 0 ? h("p", { class: "faint" }, "None yet: each correct answer that you accept is added here.") : null,
    h("ul", { class: "class-list" }, classes.map(classLine)),
  );
}

/** @param {KnownClass} one */
function classLine(one) {
  return h(
    "li",
    null,
    h("bdi", null, one.name),
    one.developed
      ? h("span", { class: "badge accent", title: "Known from question development" }, "known")
      : h(
          "button",
          { type: "button", class: "quiet small", "aria-label": `Rename or merge ${one.name}`, onclick: () => rename(one.name) },
          "Rename or merge",
        ),
  );
}

/** @param {string} name */
function rename(name) {
  const dialog = h("dialog", { "aria-labelledby": "rename-title" });
  const chooser = classChooser({
    label: "New name, or the answer that it is the same as",
    text: name,
    chosen: null,
    classes: classes.filter((one) => one.name !== name),
    fresh: "Rename to",
    known: "Merge into",
    choose: (after) => {
      dialog.close();
      if (after !== name) void sendRenaming({ key: freshKey(), before: name, after });
    },
    cancel: () => dialog.close(),
  });
  dialog.append(
    h("h2", { id: "rename-title", class: "dialog-title" }, "Rename or merge ", h("bdi", null, `“${name}”`)),
    h("p", { class: "faint" }, "All your judgments of this question that name it will follow."),
    chooser.element,
    h("div", { class: "row end" }, h("button", { type: "button", onclick: () => dialog.close() }, "Cancel")),
  );
  dialog.addEventListener("close", () => {
    dialog.remove();
    box.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  chooser.focus();
}

/** @param {{key: string, before: string, after: string}} sent */
async function sendRenaming(sent) {
  const { assignment } = bench.sheet;
  try {
    await bench.outbox.emptied();
    const found = await post(`/judge/${assignment}/classes/rename`, sent);
    renamings.push({ key: sent.key, steps: bench.steps.length });
    await changed(found, `${found.changed} judgments changed.`);
  } catch (error) {
    const again = () => void sendRenaming(sent);
    bench.complain(message(error), error instanceof Error && "away" in error && error.away ? again : undefined);
    void refreshClasses();
  }
}

/**
 * Judgments have changed on the server: fetch them anew.
 * @param {{classes: KnownClass[]}} found
 * @param {string} said
 */
async function changed(found, said) {
  showClasses(found.classes);
  bench.ahead.clear();
  answer.dataset.shown = "";
  await bench.reload();
  announce(said);
}

async function undo() {
  const last = renamings.at(-1);
  if (last === undefined || last.steps < bench.steps.length) {
    await bench.undo();
    return refreshClasses();
  }
  try {
    const found = await post(`/judge/${bench.sheet.assignment}/classes/undo`, { key: freshKey(), of: last.key });
    renamings.pop();
    await changed(found, "Taken back.");
  } catch (error) {
    bench.complain(message(error));
  }
}

/** @param {unknown} error */
function message(error) {
  return error instanceof Error ? error.message : String(error);
}

void bench.start();
