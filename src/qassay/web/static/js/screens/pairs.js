// Judging entailment: a text, a hypothesis, and one key for each label.
import { byId, fill, h, textBox } from "../dom.js";
import { keyFor, register } from "../keys.js";
import { verdictButton } from "../labels.js";
import { NoteField } from "../notes.js";
import { Workbench } from "../workbench.js";

/** @typedef {import("../workbench.js").ItemView} ItemView */

const bench = new Workbench({ draw, begin, about });
const decisions = bench.sheet.choices?.labels ?? [];
const notes = new NoteField(bench, { on: "this pair" });

for (const { label, key, meaning } of decisions) register(`pairs.${label}`, key, `${label}: the hypothesis ${meaning}`, () => decide(label));

/** @param {string} label */
function decide(label) {
  if (!bench.view || bench.moving || bench.isLocked()) return;
  bench.decide("", { judgment: label, ...notes.taken() }, { advance: true, message: label });
}

/** What is judged, in words. */
function about() {
  return bench.sheet.question.hypothesis ?? "";
}

function begin() {
  byId("question-more").replaceChildren();
  byId("question-text").textContent = "Does the hypothesis follow from the text?";
}

/**
 * @param {Workbench} here
 * @param {ItemView} view
 */
function draw(here, view) {
  const { question } = here.sheet;
  const { verdict } = view.parts[0];
  fill(
    here.stage,
    h("div", { class: "pair" },
      h("h2", null, "Text"),
      textBox(question.text, "Text"),
      h("h2", null, "Hypothesis"),
      textBox(question.hypothesis ?? "", "Hypothesis")),
    h("div", { class: "decisions", role: "group", "aria-label": "Decision" },
      decisions.map((decision) =>
        verdictButton(decision, {
          key: keyFor(`pairs.${decision.label}`),
          pressed: verdict?.judgment === decision.label,
          choose: () => decide(decision.label),
        }))),
    notes.element,
  );
  notes.show(view, view.parts[0]);
}

void bench.start();
