// Nuggets, step 2: one response at a time, its strings at one side, the nuggets at the other; linking what says the same.
import { announce, fill, h, notify } from "../dom.js";
import { Choices } from "../choices.js";
import { tell } from "../dialogs.js";
import { keyFor, register, unregister } from "../keys.js";
import { offerMoves } from "../moves.js";
import { NoteField } from "../notes.js";
import { fetchList } from "../nugget_list.js";
import { takeBack } from "../steps.js";
import { Workbench } from "../workbench.js";

/** @typedef {import("../workbench.js").ItemView} ItemView */
/** @typedef {import("../nugget_list.js").Nugget} Nugget */

/** @type {Nugget[]} */
let list = [];
/** @type {ItemView | null} */
let drawn = null;

const strings = new Choices("Strings of the response", { current: () => mark() });
const nuggets = new Choices("Nuggets", { multiple: true, pick: () => toggle(nuggets.at) });
const count = h("span", { class: "badge" });
const done = h("button", { type: "button", class: "primary", onclick: () => lookedThrough() }, "Done", h("span", { class: "word" }, " with this response"), " ", h("kbd", null, "Enter"));
const whole = h("p", { class: "notice", hidden: true });

const bench = new Workbench({ draw, begin });
const notes = new NoteField(bench, { on: "this response", folded: true });
const refused = bench.refused.bind(bench);
bench.refused = (/** @type {Parameters<typeof refused>} */ ...refusal) => {
  // The list may have been changed in another tab.
  void loadList();
  return refused(...refusal);
};
unregister("judge.next");
unregister("judge.previous");
register("matches.down", "ArrowDown", "Next string", () => strings.move(1));
register("matches.up", "ArrowUp", "Previous string", () => strings.move(-1));
register("matches.right", "ArrowRight", "Next nugget", () => nuggets.move(1));
register("matches.left", "ArrowLeft", "Previous nugget", () => nuggets.move(-1));
register("matches.link", " ", "Link the string with the nugget, or remove the link", () => toggle(nuggets.at));
register("matches.done", "Enter", "Done with this response (also if no nugget was found)", () => lookedThrough());
register("matches.found", "i", "Show the nuggets found in this response", () => showFound());
register("matches.next", ".", "Next response", () => void bench.step(1));
register("matches.previous", ",", "Previous response", () => void bench.step(-1));
register("judge.undo", "z", "Undo the last decision", () => void undo());
offerMoves({ undo: "judge.undo", previous: "matches.previous", next: "matches.next" });
for (let digit = 1; digit <= 9; digit += 1) {
  register(`matches.nugget-${digit}`, String(digit), `Link nugget ${digit}`, () => toggle(digit - 1));
}

function begin() {
  list = [];
  void loadList();
}

async function loadList() {
  const { assignment } = bench.sheet;
  try {
    const answer = await fetchList(assignment);
    if (assignment !== bench.sheet.assignment) return;
    list = answer.nuggets;
    if (drawn) refresh(drawn);
  } catch (error) {
    bench.complain(`The nuggets cannot be loaded. ${error instanceof Error ? error.message : error}`, () => void loadList());
  }
}

/**
 * @param {Workbench} here
 * @param {ItemView} view
 */
function draw(here, view) {
  if (drawn !== view) {
    if (drawn?.id !== view.id) strings.at = 0;
    drawn = view;
    fill(here.stage, layout());
    // The workbench puts the focus on the stage; the strings are where it belongs.
    queueMicrotask(() => strings.focus());
  }
  refresh(view);
  // A note is on the response as a whole.
  notes.show(view, bench.part(""));
}

function layout() {
  return h(
    "div",
    { class: "nuggets matches" },
    h("section", { class: "side", "aria-label": "Response" }, h("h2", null, "Strings of the response"), whole, strings.element),
    h(
      "section",
      { class: "side", "aria-label": "Nuggets" },
      h("h2", null, "Nuggets ", count),
      nuggets.element,
      notes.element,
      h("div", { class: "row apart" },
        h("button", { type: "button", onclick: () => showFound() }, "Show found ", h("kbd", null, keyFor("matches.found"))), done),
    ),
  );
}

/**
 * Where each nugget is linked: the part of the response, "" for the response as a whole.
 * @param {ItemView} view
 * @returns {Map<string, string>}
 */
function links(view) {
  const places = new Map();
  for (const part of view.parts) {
    for (const nugget of part.verdict?.nuggets ?? []) if (!places.has(nugget)) places.set(nugget, part.part);
  }
  return places;
}

/** @param {ItemView} view */
function refresh(view) {
  const places = links(view);
  const numbers = new Map(list.map((nugget, index) => [nugget.nugget, index + 1]));
  strings.show(
    view.body.elements.map((/** @type {{text: string}} */ element, /** @type {number} */ index) =>
      h(
        "li",
        null,
        h("span", { class: "line-number faint" }, `${index + 1}`),
        h("span", { class: "line-text", dir: "auto" }, element.text || "(empty)"),
        h("span", { class: "line-links" },
          [...places].filter(([, part]) => part === String(index)).map(([nugget]) => numbers.get(nugget) ?? nugget).sort((a, b) => Number(a) - Number(b))
            .map((number) => h("span", { class: "badge good" }, String(number)))),
      )),
  );
  count.textContent = `${list.filter((nugget) => places.has(nugget.nugget)).length} of ${list.length} found`;
  done.setAttribute("aria-pressed", String(view.complete));
  const loose = [...places].filter(([, part]) => part === "").map(([nugget]) => numbers.get(nugget) ?? nugget);
  whole.hidden = loose.length === 0;
  whole.textContent = `Found in the response, without a string: ${loose.join(", ")}. Linking one places it.`;
  mark();
}

/** Show which nuggets are linked, and which with the current string. */
function mark() {
  if (!drawn) return;
  const places = links(drawn);
  nuggets.show(
    list.map((nugget, index) => {
      const part = places.get(nugget.nugget);
      const here = part === String(strings.at);
      return h(
        "li",
        { class: here ? "linked" : null, "aria-selected": String(here) },
        h("span", { class: "line-number" }, index < 9 ? h("kbd", null, keyFor(`matches.nugget-${index + 1}`)) : `${index + 1}`),
        h("span", { class: nugget.vital ? "badge weight accent" : "badge weight" }, nugget.vital ? "vital" : "okay"),
        h("span", { class: "line-text", dir: "auto" }, nugget.text),
        part === undefined ? null : h("span", { class: here ? "badge good" : "badge" }, part === "" ? "in the response" : here ? "linked" : `in ${Number(part) + 1}`),
      );
    }),
  );
}

/**
 * Link a nugget with the current string. It counts once per response: linked elsewhere, it moves here.
 * @param {number} index
 */
function toggle(index) {
  const view = drawn;
  const listed = list[index];
  if (!view || !listed || bench.isLocked()) return;
  nuggets.go(index);
  const here = String(strings.at);
  const before = links(view).get(listed.nugget);
  if (before !== undefined) put(before, (linked) => linked.filter((nugget) => nugget !== listed.nugget));
  if (before === here) return announce(`Link with nugget ${index + 1} removed`);
  put(here, (linked) => [...linked, listed.nugget]);
  if (before === undefined) return announce(`Nugget ${index + 1} linked`);
  bench.steps.join();
  const from = before === "" ? "the response as a whole" : `string ${Number(before) + 1}`;
  notify(`Nugget ${index + 1} counts once per response: its link has moved here from ${from}.`, "warn");
}

/**
 * @param {string} part
 * @param {(linked: string[]) => string[]} change
 */
function put(part, change) {
  const before = bench.part(part).verdict;
  bench.decide(part, { ...before, nuggets: change(before?.nuggets ?? []) });
}

function lookedThrough() {
  const view = drawn;
  if (!view) return;
  const loose = bench.part("").verdict?.nuggets ?? [];
  if (bench.moving || bench.isLocked()) return;
  announce("Done with this response");
  if (view.complete) void bench.advance();
  else bench.decide("", { nuggets: loose, ...notes.taken() }, { advance: true });
}

async function undo() {
  const both = bench.steps.last?.together;
  await takeBack(bench);
  if (both) await takeBack(bench);
}

function showFound() {
  const view = drawn;
  if (!view) return;
  const places = links(view);
  const rows = list.filter((nugget) => places.has(nugget.nugget)).map((nugget) => {
    const part = places.get(nugget.nugget);
    const string = part === "" || part === undefined ? "the response as a whole" : String(view.body.elements[Number(part)]?.text ?? "");
    return h("li", null, h("strong", null, h("bdi", null, nugget.text)), h("p", { class: "untrusted faint small found-in" }, string));
  });
  const missing = list.filter((nugget) => !places.has(nugget.nugget) && nugget.vital);
  tell("Nuggets found in this response", [
    rows.length ? h("ul", { class: "found" }, rows) : h("p", null, "No nugget is linked yet."),
    missing.length ? h("p", { class: "faint" }, `Vital nuggets not found: ${missing.length}.`) : null,
  ]);
}

void bench.start();
