// Judging answers to factoid and passage questions: the string, its document, four decisions in their order.
import { post } from "../api.js";
import { announce, fill, h, textBox } from "../dom.js";
import { keyFor, register } from "../keys.js";
import { confirmAgainstKnown, knownAnswerList } from "../known_answers.js";
import { verdictButton } from "../labels.js";
import { besideDocument, documentPanel } from "../document.js";
import { NoteField } from "../notes.js";
import { learnTitles } from "../titles.js";
import { Workbench } from "../workbench.js";

/** @typedef {import("../workbench.js").ItemView} ItemView */

const bench = new Workbench({ draw });
const decisions = bench.sheet.choices?.labels ?? [];
const notes = new NoteField(bench);

/** @type {{item: number, details: HTMLDetailsElement, field: HTMLInputElement} | null} The form of the item shown, with what is typed in it. */
let known = null;

for (const decision of decisions) register(`items.${decision.label}`, decision.key, `${decision.name} (${decision.label})`, () => void decide(decision.label));

register("items.known", "k", "Add a known answer", () => {
  if (!known || !bench.view) return;
  known.details.open = true;
  known.field.focus();
});

/** @param {string} label */
async function decide(label) {
  const { view } = bench;
  if (!view || bench.moving || bench.isLocked()) return;
  if (label === "W" && !(await confirmAgainstKnown(`${view.id}`, view.body.text, bench.sheet.known))) return;
  if (bench.view !== view) return;
  bench.decide("", { judgment: label, ...notes.taken() }, { advance: true, message: label });
}

/**
 * @param {Workbench} here
 * @param {ItemView} view
 */
function draw(here, view) {
  const { verdict } = view.parts[0];
  const buttons = decisions.map((decision) =>
    verdictButton(decision, {
      key: keyFor(`items.${decision.label}`),
      pressed: verdict?.judgment === decision.label,
      choose: () => void decide(decision.label),
    }),
  );
  const answer = view.kind === "extract"
    ? h("p", { class: "answer-string" }, "The marked passage")
    : textBox(view.body.text, "Answer string");
  const judged = h(
    "div",
    { class: "judge-answer" },
    h("h2", { class: "visually-hidden" }, "Answer"),
    answer,
    knownAnswerList(here.sheet.known),
    h("div", { class: "decisions", role: "group", "aria-label": "Decision" }, buttons),
  );
  const rest = h(
    "div",
    { class: "judge-answer" },
    notes.element,
    knownAnswer(view).details,
    answers(here, view),
  );
  notes.show(view, view.parts[0]);
  fill(here.stage, besideDocument(judged, documentPanel(here.sheet.has_collection, view), rest));
}

/**
 * An answer that the assessor knows or has found; it counts for the question from then on.
 * @param {ItemView} view
 */
function knownAnswer(view) {
  if (known?.item === view.id) return known;
  const field = h("input", { type: "text", maxlength: "500", "aria-label": "Known answer", placeholder: "Known answer", dir: "auto" });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) bench.stage.focus({ preventScroll: true }); // keys decide again
  });
  const details = h(
    "details",
    { class: "known" },
    h("summary", null, "Add a known answer ", h("kbd", null, keyFor("items.known"))),
    h(
      "form",
      {
        class: "row",
        onsubmit: async (/** @type {SubmitEvent} */ event) => {
          event.preventDefault();
          if (!field.value.trim()) return;
          try {
            const { title } = await post(`/judge/${bench.sheet.assignment}/answers`, { answer: field.value.trim(), doc: view.body.doc });
            if (title) learnTitles({ [view.body.doc]: title });
            announce("Added.");
            bench.sheet.known.push({ answer: field.value.trim(), doc: view.body.doc ?? null });
            field.value = "";
            if (bench.view === view) bench.draw(); // with the others
          } catch (error) {
            bench.complain(error instanceof Error ? error.message : String(error));
          }
        },
      },
      field,
      h("button", { type: "submit" }, "Add"),
    ),
  );
  known = { item: view.id, details, field };
  return known;
}

/**
 * All strings of the question, similar ones together, so that they are judged alike.
 * @param {Workbench} here
 * @param {ItemView} view
 */
function answers(here, view) {
  const at = here.sheet.items.findIndex((item) => item.id === view.id);
  const from = Math.max(0, at - 6);
  const near = here.sheet.items.slice(from, from + 14);
  return h(
    "nav",
    { class: "near", "aria-label": "Answers before and after" },
    h(
      "ol",
      { start: String(from + 1) },
      near.map((item) =>
        h(
          "li",
          null,
          h(
            "button",
            {
              type: "button",
              class: "link",
              "aria-current": item.id === view.id ? "true" : null,
              onclick: () => void here.open(item.id),
            },
            verdictMark(item),
            h("span", { class: "near-text", dir: "auto" }, item.label || "(empty)", item.place ? h("small", { class: "faint" }, " ", h("bdi", null, item.place)) : null),
          ),
        ),
      ),
    ),
  );
}

/**
 * What was decided on an answer, as a letter; an empty circle where nothing was.
 * @param {import("../supply.js").Place} place
 */
function verdictMark(place) {
  const own = decisions.find((decision) => decision.label === place.verdict);
  if (!own) return h("span", { class: "dot open", title: "not judged" }, h("span", { class: "visually-hidden" }, "not judged"));
  return h("span", { class: `dot ${own.tone}`, title: own.name, dataset: { label: own.label } }, own.label);
}

void bench.start();
