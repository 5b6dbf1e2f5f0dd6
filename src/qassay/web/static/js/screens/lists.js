// Judging lists: one run's whole list, one decision for each element, and for right ones the class of equal answers.
import { announce, fill, h, notify } from "../dom.js";
import { Choices } from "../choices.js";
import { classChooser, likely } from "../class_chooser.js";
import { documentPanel } from "../document.js";
import { keyFor, register } from "../keys.js";
import { confirmAgainstKnown } from "../known_answers.js";
import { KnownClasses } from "../known_classes.js";
import { verdictButton } from "../labels.js";
import { NoteField } from "../notes.js";
import { takeBack } from "../steps.js";
import { Workbench } from "../workbench.js";

/** @typedef {import("../workbench.js").ItemView} ItemView */

/** @type {ItemView | null} The list that is drawn. */
let drawn = null;
/** @type {(Record<string, any> | null)[]} The verdicts that its lines show. */
let verdicts = [];

const box = new Choices("Elements of the list", { current: () => turn() });
const answer = h("p", { class: "answer-string", dir: "auto", tabindex: "0", role: "group", "aria-label": "Answer string" });
const remark = h("p", { class: "faint small verdict" });
const chooserPlace = h("div", { class: "chooser-place" });
const documentPlace = h("div", { class: "document-place" });

const bench = new Workbench({ draw, begin });
const notes = new NoteField(bench, { on: "this element", folded: true });
const known = new KnownClasses(bench, {
  changed: async (message) => {
    answer.dataset.shown = "";
    await bench.reload();
    announce(message);
  },
  left: () => box.focus(),
});
const refused = bench.refused.bind(bench);
bench.refused = (/** @type {Parameters<typeof refused>} */ ...refusal) => {
  // What was counted here did not happen.
  void known.refresh();
  return refused(...refusal);
};
const decisions = bench.sheet.choices?.labels ?? [];
for (const decision of decisions) register(`lists.${decision.label}`, decision.key, `${decision.name} (${decision.label})`, () => void decide(decision.label));
register("lists.down", "ArrowDown", "Next element", () => box.move(1));
register("lists.up", "ArrowUp", "Previous element", () => box.move(-1));
register("lists.classes", "c", "Rename or merge known answers", () => {
  const first = known.element.querySelector("button");
  if (first) first.focus();
  else notify("You can rename and merge the answers that you add here. There are none yet.");
});
register("judge.undo", "z", "Undo the last decision", () => void undo());
const buttons = decisions.map((decision) => verdictButton(decision, { key: keyFor(`lists.${decision.label}`), choose: () => void decide(decision.label) }));

function begin() {
  known.show([]);
  void known.refresh();
}

/**
 * @param {Workbench} here
 * @param {ItemView} view
 */
function draw(here, view) {
  if (drawn !== view) {
    const same = drawn?.id === view.id;
    drawn = view;
    if (!same) box.at = Math.max(0, view.parts.findIndex((part) => part.verdict === null));
    fill(here.stage, layout());
    box.show(view.parts.map((_, index) => line(view, index)));
    verdicts = view.parts.map((part) => part.verdict);
    box.reveal();
    // The workbench puts the focus on the stage; the list is where it belongs.
    queueMicrotask(() => box.focus());
  }
  view.parts.forEach((part, index) => {
    if (verdicts[index] === part.verdict) return;
    verdicts[index] = part.verdict;
    box.replace(index, line(view, index));
  });
  turn();
}

function layout() {
  return h(
    "div",
    { class: "judge-columns lists" },
    h("div", { class: "list-side" }, h("h2", null, "The list"), box.element),
    h(
      "div",
      { class: "judge-answer" },
      h("h2", { class: "visually-hidden" }, "Element"),
      answer,
      h("div", { class: "decisions", role: "group", "aria-label": "Decision" }, buttons),
      chooserPlace,
      remark,
      notes.element,
      documentPlace,
    ),
    known.element,
  );
}

/**
 * @param {ItemView} view
 * @param {number} index
 */
function line(view, index) {
  const { text } = view.body.elements[index];
  const verdict = view.parts[index].verdict;
  const decision = decisions.find((candidate) => candidate.label === verdict?.judgment);
  return h(
    "li",
    null,
    h("span", { class: "line-number faint" }, `${index + 1}`),
    h("span", { class: "line-text", dir: "auto" }, text || "(empty)"),
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
  fill(remark, verdict?.answer ? `Answer: ${verdict.answer}` : "");
  notes.show(drawn, drawn.parts[box.at]);
  if (answer.dataset.shown === shown) return;
  answer.dataset.shown = shown;
  fill(answer, element.text || "(empty)");
  fill(documentPlace, documentPanel(bench.sheet.has_collection, { body: element }));
}

/** @param {string} label */
async function decide(label) {
  if (!drawn) return;
  if (label !== "R") {
    const [view, index] = [drawn, box.at];
    if (label === "W" && !(await confirmAgainstKnown(`${view.id}/${index}`, view.body.elements[index].text, bench.sheet.known))) return box.focus();
    return drawn === view && box.at === index ? save(label, null) : undefined;
  }
  const { text } = drawn.body.elements[box.at];
  const { verdict } = drawn.parts[box.at];
  const chooser = classChooser({
    label: "Correct: which answer is it?",
    text: text || "(empty)",
    chosen: verdict?.answer ?? likely(text, known.classes),
    classes: known.classes,
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
  if (!view || bench.isLocked()) return;
  const index = box.at;
  const before = view.parts[index].verdict;
  const complete = view.complete;
  closeChooser();
  answer.dataset.shown = "";
  bench.decide(
    String(index),
    { judgment: label, ...(name === null ? {} : { answer: name }), ...notes.taken() },
    { advance: !complete, message: label },
  );
  known.count(before?.judgment === "R" ? before.answer ?? view.body.elements[index].text : null, name);
  if (view.complete && !complete) return; // the workbench goes on to the next list
  const open = view.parts.findIndex((part) => part.verdict === null);
  box.go(index + 1 < view.parts.length ? index + 1 : open < 0 ? index : open);
  box.focus();
}

async function undo() {
  if (await known.undo()) return;
  await takeBack(bench);
  await known.refresh();
}

void bench.start();
