// Holistic scores of a response: content and organization, 0 to 10.
import { announce, fill, h } from "../dom.js";
import { keyFor, register } from "../keys.js";
import { NoteField } from "../notes.js";
import { scale } from "../scale.js";
import { takeBack } from "../steps.js";
import { Workbench } from "../workbench.js";

/** @typedef {import("../workbench.js").ItemView} ItemView */

/** @type {{item: number, content: number} | null} The first score, which waits for the other. */
let half = null;

const bench = new Workbench({ draw });
const notes = new NoteField(bench, { on: "this response" });

for (let number = 0; number <= 10; number += 1) {
  register(`holistic.${number}`, number === 10 ? "t" : String(number), `${number} on the scale`, () => choose(number));
}

// The first score is undone before the decision before it.
register("judge.undo", "z", "Undo the last score", () => {
  if (!half || half.item !== bench.view?.id) return void takeBack(bench);
  half = null;
  bench.draw();
});

/** @param {number} number */
function choose(number) {
  const view = bench.view;
  if (!view) return;
  if (half?.item === view.id) save(half.content, number);
  else begun(view, number);
}

/**
 * @param {ItemView} view
 * @param {number} content
 */
function begun(view, content) {
  half = { item: view.id, content };
  bench.draw();
  announce(`Content ${content}. Now organization.`);
}

/**
 * @param {number} content
 * @param {number} organization
 */
function save(content, organization) {
  half = null;
  if (!bench.view || bench.moving || bench.isLocked()) return;
  bench.decide("", { content, organization, ...notes.taken() }, { advance: true, message: `Content ${content}, organization ${organization}` });
}

/**
 * @param {Workbench} here
 * @param {ItemView} view
 */
function draw(here, view) {
  const { verdict } = view.parts[0];
  if (half && half.item !== view.id) half = null;
  const waiting = half;
  const content = waiting?.content ?? verdict?.content ?? null;
  fill(
    here.stage,
    h("div", { class: "judge-columns" },
      h("div", { class: "judge-answer judge-aside", tabindex: "0", role: "region", "aria-label": "Response" },
        h("h2", null, "Response"),
        h("ol", { class: "strings" },
          view.body.elements.map((/** @type {any} */ element) => h("li", null, h("span", { class: "sentence", dir: "auto" }, element.text || "(empty)"))))),
      h("div", { class: "judge-answer" },
        scale({
          label: "Content",
          from: 0,
          to: 10,
          value: content,
          active: waiting === null,
          ends: ["worst", "best"],
          choose: (number) => begun(view, number),
        }),
        scale({
          label: "Organization",
          from: 0,
          to: 10,
          value: waiting ? null : (verdict?.organization ?? null),
          active: waiting !== null,
          ends: ["worst", "best"],
          choose: (number) => content !== null && save(content, number),
          disabled: content === null,
        }),
        h("p", { class: "faint" }, "Digits set the scale that is marked; ", h("kbd", null, keyFor("holistic.10")), " is ten."),
        notes.element)),
  );
  notes.show(view, view.parts[0]);
}

void bench.start();
