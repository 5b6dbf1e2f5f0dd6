// Rating justifications: understandability from 1 to 5, and correctness where it can be understood (from 3 up).
import { get } from "../api.js";
import { announce, byId, fill, h, textBox } from "../dom.js";
import { register } from "../keys.js";
import { NoteField } from "../notes.js";
import { scale } from "../scale.js";
import { takeBack } from "../steps.js";
import { Workbench } from "../workbench.js";

/** @typedef {import("../workbench.js").ItemView} ItemView */

const UNDERSTOOD = 3;
/** @type {{item: number, understandability: number} | null} The first score, which waits for the correctness. */
let half = null;
/** @type {string | null} */
let reference = null;

const bench = new Workbench({ draw, begin });
const notes = new NoteField(bench, { on: "this justification" });

for (let number = 1; number <= 5; number += 1) {
  register(`ratings.${number}`, String(number), `${number} on the scale`, () => choose(number));
}
register("ratings.again", "u", "Back to understandability", () => again());
// The first score is undone before the decision before it.
register("judge.undo", "z", "Undo the last score", () => (half && half.item === bench.view?.id ? again() : void takeBack(bench)));
let redo = false;

function again() {
  half = null;
  redo = true;
  bench.draw();
}

/** @param {number} number */
function choose(number) {
  const view = bench.view;
  if (!view) return;
  if (asksCorrectness(view)) rate(half?.understandability ?? view.parts[0].verdict?.understandability, number);
  else understand(number);
}

/** @param {number} number */
function understand(number) {
  const view = bench.view;
  if (!view) return;
  redo = false;
  if (number < UNDERSTOOD) {
    half = null;
    save({ understandability: number }, `Understandability ${number}`);
  } else {
    half = { item: view.id, understandability: number };
    bench.draw();
    announce(`Understandability ${number}. Now correctness.`);
  }
}

/**
 * @param {number} understandability
 * @param {number} correctness
 */
function rate(understandability, correctness) {
  half = null;
  redo = false;
  save({ understandability, correctness }, `Understandability ${understandability}, correctness ${correctness}`);
}

/**
 * @param {import("../workbench.js").Verdict} verdict
 * @param {string} message
 */
function save(verdict, message) {
  if (!bench.view || bench.moving || bench.isLocked()) return;
  bench.decide("", { ...verdict, ...notes.taken() }, { advance: true, message });
}

/** @param {ItemView} view */
function asksCorrectness(view) {
  return !redo && half?.item === view.id;
}

/** @param {Workbench} here */
function begin(here) {
  byId("question-more").replaceChildren();
  byId("question-text").textContent = "How good is this justification?";
  reference = null;
  get(`/judge/${here.sheet.assignment}/aids`).then(
    (aids) => {
      reference = aids.reference;
      if (here.view) here.draw();
    },
    () => null,
  );
}

/**
 * @param {Workbench} here
 * @param {ItemView} view
 */
function draw(here, view) {
  const { question } = here.sheet;
  const { verdict } = view.parts[0];
  if (half && half.item !== view.id) half = null;
  const understandability = half?.understandability ?? verdict?.understandability ?? null;
  const correctness = half ? null : (verdict?.correctness ?? null);
  const asks = asksCorrectness(view);
  fill(
    here.stage,
    h("div", { class: "judge-columns" },
      h("div", { class: "pair" },
        h("h2", null, "Text"),
        textBox(question.text, "Text"),
        h("h2", null, "Hypothesis"),
        textBox(question.hypothesis ?? "", "Hypothesis"),
        h("p", null, "Reference answer: ", h("strong", null, reference ?? "not known"))),
      h("div", { class: "judge-answer" },
        h("h2", null, "Justification"),
        textBox(view.body.justification, "Justification"),
        scale({
          label: "Understandability",
          from: 1,
          to: 5,
          value: understandability,
          active: !asks,
          ends: ["not at all", "fully"],
          choose: understand,
        }),
        scale({
          label: "Correctness",
          from: 1,
          to: 5,
          value: correctness,
          active: asks,
          ends: ["wrong", "entirely right"],
          choose: (number) => rate(Number(understandability), number),
          disabled: understandability === null || understandability < UNDERSTOOD,
        }),
        notes.element)),
  );
  notes.show(view, view.parts[0]);
}

void bench.start();
