// Judging answers to factoid and passage questions: the string, its document, four decisions in their order.
import { post } from "../api.js";
import { announce, byId, fill, h } from "../dom.js";
import { keyFor, register } from "../keys.js";
import { besideDocument, documentPanel } from "../document.js";
import { Workbench } from "../workbench.js";

/** @typedef {import("../workbench.js").ItemView} ItemView */

const bench = new Workbench({ draw });
const decisions = bench.sheet.choices?.labels ?? [];

for (const one of decisions) register(`items.${one.label}`, one.key, `${one.name} (${one.label})`, () => decide(one.label));
register("items.note", "m", "Write a note on this item", () => byId("note").focus());

/** @param {string} label */
function decide(label) {
  const note = /** @type {HTMLTextAreaElement} */ (byId("note")).value.trim();
  bench.decide("", { judgment: label, ...(note ? { note } : {}) }, { advance: true, said: label });
}

/**
 * @param {Workbench} here
 * @param {ItemView} view
 */
function draw(here, view) {
  const { verdict } = view.parts[0];
  const buttons = decisions.map((one) =>
    h(
      "button",
      {
        type: "button",
        class: "decision",
        "aria-pressed": String(verdict?.judgment === one.label),
        dataset: { label: one.label },
        onclick: () => decide(one.label),
      },
      h("kbd", null, keyFor(`items.${one.label}`)),
      h("span", null, one.name),
    ),
  );
  const answer = view.kind === "extract"
    ? h("p", { class: "answer-string" }, "The marked passage")
    : h("p", { class: "answer-string", dir: "auto" }, h("bdi", null, view.body.text));
  const judged = h(
    "div",
    { class: "judge-answer" },
    h("h2", { class: "visually-hidden" }, "Answer"),
    answer,
    h("div", { class: "decisions", role: "group", "aria-label": "Decision" }, buttons),
  );
  const rest = h(
    "div",
    { class: "judge-answer" },
    h(
      "label",
      { class: "note" },
      "Note (optional, saved with the decision)",
      h("textarea", { id: "note", rows: "2", maxlength: "2000", value: verdict?.note ?? "" }),
    ),
    knownAnswer(view),
    answers(here, view),
  );
  fill(here.stage, besideDocument(judged, documentPanel(here.sheet.has_collection, view), rest));
}

/**
 * An answer that the assessor knows or has found; it counts for the question from then on.
 * @param {ItemView} view
 */
function knownAnswer(view) {
  const field = h("input", { type: "text", maxlength: "500", "aria-label": "Known answer", placeholder: "An answer you know of" });
  const button = h("button", { type: "submit" }, "Note it");
  return h(
    "details",
    { class: "known" },
    h("summary", null, "Note a known answer"),
    h(
      "form",
      {
        class: "row",
        onsubmit: async (/** @type {SubmitEvent} */ event) => {
          event.preventDefault();
          if (!field.value.trim()) return;
          try {
            await post(`/judge/${bench.sheet.assignment}/answers`, { answer: field.value.trim(), doc: view.body.doc });
            announce("Noted.");
            button.textContent = "Noted";
            field.value = "";
          } catch (error) {
            bench.complain(error instanceof Error ? error.message : String(error));
          }
        },
      },
      field,
      button,
    ),
  );
}

/**
 * All strings of the question, similar ones together, so that they are judged alike.
 * @param {Workbench} here
 * @param {ItemView} view
 */
function answers(here, view) {
  const at = here.sheet.items.findIndex((one) => one.id === view.id);
  const from = Math.max(0, at - 6);
  const near = here.sheet.items.slice(from, from + 14);
  return h(
    "nav",
    { class: "near", "aria-label": "Answers before and after" },
    h(
      "ol",
      { start: String(from + 1) },
      near.map((one) =>
        h(
          "li",
          null,
          h(
            "button",
            {
              type: "button",
              class: "link",
              "aria-current": one.id === view.id ? "true" : null,
              onclick: () => void here.open(one.id),
            },
            h("bdi", null, one.label || "(empty)"),
          ),
          " ",
          one.complete ? h("span", { class: "badge", title: "judged" }, "✓") : null,
        ),
      ),
    ),
  );
}

void bench.start();
