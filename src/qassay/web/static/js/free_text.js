// Free-text answers: the answer, the gold answers of the question and the contexts, with one key for each label.
import { besideDocument } from "./document.js";
import { fill, h, textBox } from "./dom.js";
import { isFree, keyFor, register } from "./keys.js";
import { verdictButton } from "./labels.js";
import { NoteField } from "./notes.js";
import { documentName } from "./titles.js";
import { Workbench } from "./workbench.js";

/** @typedef {import("./workbench.js").ItemView} ItemView */
/** @typedef {{text: string, doc?: string}} Passage */

/**
 * A screen on which each item takes one label.
 * @param {string} screen  Begins the names of its shortcuts.
 * @param {{gold: boolean}} shows  Whether the gold answers are shown.
 */
export function freeTextScreen(screen, { gold }) {
  const bench = new Workbench({ draw });
  const { field, labels } = bench.sheet.choices ?? { field: "judgment", labels: [] };
  const notes = new NoteField(bench, { on: "this answer" });
  for (const { label, name, key } of labels) {
    register(shortcut(label), isFree(key) ? key : spareKey(), name, () => decide(label));
  }

  /** @param {string} label */
  function shortcut(label) {
    return `${screen}.label.${label}`;
  }

  /** The key of a label whose own key something else on the page has: the first number that no label asks for. */
  function spareKey() {
    return [..."123456789"].find((key) => isFree(key) && labels.every((choice) => choice.key !== key)) ?? "";
  }

  /** @param {string} label */
  function decide(label) {
    if (!bench.view || bench.moving || bench.isLocked()) return;
    bench.decide("", { [field]: label, ...notes.taken() }, { advance: true, message: label });
  }

  /**
   * @param {Workbench} here
   * @param {ItemView} view
   */
  function draw(here, view) {
    const { verdict } = view.parts[0];
    const buttons = labels.map((choice) =>
      verdictButton(choice, { key: keyFor(shortcut(choice.label)), pressed: verdict?.[field] === choice.label, choose: () => decide(choice.label) }));
    const answer = h("div", { class: "judge-answer" },
      h("h2", null, "Answer"),
      answerText(view.body.text),
      h("div", { class: "decisions labels", role: "group", "aria-label": "Decision" }, buttons),
      gold ? goldAnswers(here.sheet.question) : null);
    notes.show(view, view.parts[0]);
    const note = h("div", { class: "judge-answer" }, notes.element);
    const contexts = contextList(view.body.contexts ?? []);
    // Where other answers have contexts, one without is said to have none.
    const none = here.sheet.stages.some((stage) => stage.screen === "contexts") ? h("p", { class: "faint" }, "This answer came without contexts.") : null;
    fill(here.stage, contexts ? besideDocument(answer, contexts, note) : [answer, none, note]);
  }

  void bench.start();
}

/**
 * An answer; a long one is scrolled by keys too.
 * @param {string} text
 */
export function answerText(text) {
  return textBox(text, "Answer text", "free-text");
}

/**
 * The gold answers of a question; nothing where it has none.
 * @param {Record<string, any>} question
 */
export function goldAnswers(question) {
  const answers = /** @type {string[]} */ (question.gold ?? []);
  if (!answers.length) return null;
  return h("section", { class: "gold", "aria-label": "Gold answers" },
    h("h2", null, answers.length === 1 ? "Gold answer" : "Gold answers"),
    h("ul", null, answers.map((answer) => h("li", { dir: "auto" }, answer))));
}

/**
 * The contexts of an answer; nothing where it has none.
 * @param {Passage[]} contexts
 */
export function contextList(contexts) {
  if (!contexts.length) return null;
  return h("section", { class: "document contexts" },
    h("h2", null, contexts.length === 1 ? "Context" : `Contexts (${contexts.length})`),
    h("ol", { class: "strings document-text", tabindex: "0", "aria-label": "Contexts" }, contexts.map(({ text, doc }) =>
      h("li", null, doc ? h("p", { class: "faint" }, documentName(doc)) : null, h("p", { class: "context", dir: "auto" }, text)))));
}
