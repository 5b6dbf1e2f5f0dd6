// Nuggets, step 1: all strings of all responses at one side, the assessor's list at the other.
import { get } from "../api.js";
import { announce, byId, fill, h, notify, pageData } from "../dom.js";
import { Choices } from "../choices.js";
import { tell } from "../dialogs.js";
import { documentPanel } from "../document.js";
import { keyFor, register } from "../keys.js";
import { offerMoves } from "../moves.js";
import { editNugget, mergeNuggets, responsesAgain, splitNugget } from "../nugget_dialogs.js";
import { NuggetList } from "../nugget_list.js";
import { keepQuestionInView, showComplaint, showProgress, showQuestion } from "../surroundings.js";

/** @typedef {import("../nugget_list.js").Nugget} Nugget */
/** @typedef {{text: string, doc: string | null}} Line */

/** @type {import("../workbench.js").Sheet} */
const sheet = pageData();
/** @type {Line[][]} */
let groups = [];
/** @type {Line[]} The strings that the filter leaves. */
let shown = [];

const list = new NuggetList(sheet.assignment, sheet.assessor.id, {
  changed: () => draw(),
  complain: (message) => complain(message),
  refused: (message, letter) => {
    complain(message);
    // What was written is not lost: it is in its field again.
    if (typeof letter.body.text === "string" && letter.url.endsWith("/add") && !field.value) field.value = letter.body.text;
  },
});
const strings = new Choices("Strings of all responses", { pick: () => strings.focus() });
const nuggets = new Choices("Nuggets", { pick: () => nuggets.focus(), current: () => tools() });
const filter = h("input", { type: "search", id: "filter", placeholder: "Filter the strings", "aria-label": "Filter the strings" });
const field = h("input", {
  type: "text",
  id: "new-nugget",
  maxlength: "1000",
  autocomplete: "off",
  "aria-label": "New nugget",
  "aria-describedby": "new-hint",
  placeholder: "A new nugget",
});
const counted = h("span", { class: "badge" });
const summary = h("span", { class: "badge" });
const toolbar = h("div", { class: "tools", role: "group", "aria-label": "The chosen nugget" });
const goOn = h("button", { type: "button", class: "primary", onclick: () => void next() }, "Go on to step 2");

/** @type {Choices} The side that the arrows move in. */
let side = strings;
strings.element.addEventListener("focus", () => (side = strings));
nuggets.element.addEventListener("focus", () => (side = nuggets));

const ACTIONS = /** @type {[string, string, string, string, (one: Nugget, at: number) => void][]} */ ([
  ["vital", "v", "Vital or okay", "Mark the nugget vital or okay", (nugget) => list.change(nugget, nugget.text, !nugget.vital, null)],
  ["edit", "e", "Edit", "Edit the nugget", (nugget) => void editNugget(list, nugget)],
  ["split", "s", "Split", "Split the nugget in two", (nugget) => void splitNugget(list, nugget)],
  ["merge", "j", "Merge", "Merge the nugget with another one", (nugget) => void mergeNuggets(list, nugget)],
  ["up", "u", "Up", "Move the nugget up", (nugget, at) => place(nugget, at - 1)],
  ["down", "d", "Down", "Move the nugget down", (nugget, at) => place(nugget, at + 1)],
  ["remove", "x", "Remove", "Remove the nugget from the list", (nugget) => void remove(nugget)],
]);
register("nuggets.arrow-down", "ArrowDown", "Next line", () => side.move(1));
register("nuggets.arrow-up", "ArrowUp", "Line before", () => side.move(-1));
register("nuggets.strings", "ArrowLeft", "To the strings", () => strings.focus());
register("nuggets.list", "ArrowRight", "To the nuggets", () => nuggets.focus());
register("nuggets.write", "w", "Write a nugget", () => field.focus());
register("nuggets.take", "t", "Make a nugget from the chosen string, or from the selected text", () => takeString());
register("nuggets.document", "o", "Show the document of the chosen string", () => showDocument());
register("nuggets.filter", "f", "Filter the strings", () => filter.focus());
for (const [name, key, , label, act] of ACTIONS) register(`nuggets.${name}`, key, label, () => withNugget(act));
register("nuggets.undo", "z", "Undo the last change", () => undo());
offerMoves({ undo: "nuggets.undo" });
register("nuggets.go-on", "g", "Go on to step 2", () => void next());

filter.addEventListener("input", () => drawStrings());
filter.addEventListener("keydown", (event) => {
  if (event.key === "Enter" || event.key === "Escape" || event.key === "ArrowDown") {
    event.preventDefault();
    strings.focus();
  }
});
field.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (event.key === "Enter") {
    event.preventDefault();
    void write(event.ctrlKey || event.shiftKey);
  } else if (event.key === "Escape") side.focus(); // where the writer came from
});

/** @param {(one: Nugget, at: number) => void} act */
function withNugget(act) {
  const nugget = list.nuggets[nuggets.at];
  if (!nugget) return announce("There is no nugget yet.");
  if (!nugget.nugget || list.unsure) return announce("This nugget is still being saved.");
  complain("");
  act(nugget, nuggets.at);
}

/** @param {boolean} vital */
async function write(vital) {
  const text = field.value.replace(/\s+/g, " ").trim();
  if (!text) return;
  const again = await responsesAgain(list, text, false);
  if (again === undefined) return;
  complain("");
  list.add(text, vital, again);
  field.value = "";
  nuggets.go(list.nuggets.length - 1);
  field.focus();
  announce(vital ? "Vital nugget added" : "Nugget added");
}

/** @param {Nugget} nugget */
async function remove(nugget) {
  const again = nugget.linked > 0 ? await responsesAgain(list, nugget.text) : null;
  if (again === undefined) return;
  list.remove(nugget, again);
  announce(nugget.linked > 0 ? "Nugget removed with its links" : "Nugget removed");
}

/**
 * @param {Nugget} nugget
 * @param {number} at
 */
function place(nugget, at) {
  if (at < 0 || at >= list.nuggets.length) return;
  list.move(nugget, at);
  nuggets.go(at);
}

function undo() {
  if (list.unsure) return announce("The last change is still being undone.");
  complain("");
  if (list.undo()) announce("Undone");
  else notify("Nothing to undo.");
}

/** A nugget begins as the selected words of a string, or as the whole string. */
function takeString() {
  const selected = getSelection();
  const inside = selected && !selected.isCollapsed && strings.element.contains(selected.anchorNode);
  const text = inside ? selected.toString() : shown[strings.at]?.text ?? "";
  field.value = text.replace(/\s+/g, " ").trim().slice(0, 1000);
  field.focus();
  field.select();
}

function showDocument() {
  const string = shown[strings.at];
  if (!string?.doc) return announce("This string has no document.");
  tell("Document", [documentPanel(sheet.has_collection, { body: string })]);
}

async function next() {
  try {
    await list.goOn();
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error));
  }
}

/** @param {string} message */
function complain(message) {
  showComplaint(message);
}

function draw() {
  const vital = list.nuggets.filter((nugget) => nugget.vital).length;
  summary.textContent = `${vital} vital, ${list.nuggets.length - vital} okay`;
  goOn.setAttribute("aria-disabled", String(list.nuggets.length === 0));
  fill(goOn, list.step > 1 ? "Back to step 2" : "Go on to step 2", " ", h("kbd", null, keyFor("nuggets.go-on")));
  nuggets.show(list.nuggets.map((nugget, index) => nuggetLine(nugget, index)));
  tools();
}

/**
 * @param {Nugget} nugget
 * @param {number} index
 */
function nuggetLine(nugget, index) {
  const line = h(
    "li",
    { class: nugget.nugget ? null : "pending", draggable: "true" },
    h("span", { class: "line-number faint" }, `${index + 1}`),
    h("span", { class: nugget.vital ? "badge weight accent" : "badge weight" }, nugget.vital ? "vital" : "okay"),
    h("span", { class: "line-text", dir: "auto" }, nugget.text),
    nugget.linked > 0 ? h("span", { class: "faint small" }, `in ${nugget.linked}`) : null,
  );
  line.addEventListener("dragstart", (event) => event.dataTransfer?.setData("text/plain", String(index)));
  line.addEventListener("dragover", (event) => event.preventDefault());
  line.addEventListener("drop", (event) => {
    event.preventDefault();
    const moved = list.nuggets[Number(event.dataTransfer?.getData("text/plain"))];
    if (moved?.nugget && moved !== nugget) place(moved, index);
  });
  return line;
}

function tools() {
  const chosen = list.nuggets[nuggets.at];
  toolbar.hidden = !chosen;
  if (toolbar.firstChild) return;
  fill(toolbar, ACTIONS.map(([name, , label, , act]) => tool(label, name, () => withNugget(act))));
}

/**
 * @param {string} label
 * @param {string} name  Of the shortcut that does the same.
 * @param {() => void} act
 */
function tool(label, name, act) {
  return h("button", { type: "button", class: "small", onclick: act }, label, " ", h("kbd", null, keyFor(`nuggets.${name}`)));
}

function drawStrings() {
  const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const left = groups.map((group) => group.filter((string) => wanted.every((word) => string.text.toLowerCase().includes(word))));
  shown = left.flat();
  const total = groups.reduce((sum, group) => sum + group.length, 0);
  counted.textContent = shown.length === total ? `${total}` : `${shown.length} of ${total}`;
  const lines = left.flatMap((group) =>
    group.map((string, index) =>
      h("li", { class: index === 0 ? "group" : null }, h("span", { class: "line-text", dir: "auto" }, string.text))),
  );
  strings.show(lines);
}

/** @param {{questions: {id: string, text: string, answers: string[]}[]}} earlier */
function drawEarlier(earlier) {
  if (!earlier.questions.length) return;
  const rows = earlier.questions.map((question) =>
    h(
      "li",
      null,
      h("span", { class: "faint small" }, question.id),
      " ",
      h("span", { dir: "auto" }, question.text),
      " ",
      question.answers.length
        ? h("span", { class: "faint" }, question.answers.slice(0, 30).flatMap((answer, at) => [at ? ", " : "", h("bdi", null, answer.length > 100 ? `${answer.slice(0, 100)}…` : answer)]))
        : null,
    ),
  );
  const details = h(
    "details",
    { class: "earlier", open: true },
    h("summary", null, "Asked before in this series: none of it is a nugget"),
    h("ul", null, rows),
  );
  byId("context").append(details);
}

async function start() {
  byId("stage").before(byId("context"));
  showQuestion(sheet);
  keepQuestionInView();
  showProgress(sheet, -1);
  fill(
    byId("stage"),
    h(
      "div",
      { class: "nuggets" },
      h("section", { class: "side", "aria-label": "Strings" }, h("h2", null, "Strings ", counted), filter,
        h("div", { class: "tools", role: "group", "aria-label": "The chosen string" },
          tool("Make a nugget", "take", takeString), sheet.has_collection ? tool("Its document", "document", showDocument) : null),
        strings.element),
      h(
        "section",
        { class: "side", "aria-label": "Nuggets" },
        h("h2", null, "Nuggets ", summary),
        h("div", { class: "new" }, field,
          h("button", { type: "button", onclick: () => void write(false) }, "Add"),
          h("button", { type: "button", onclick: () => void write(true) }, "Add as vital")),
        h("p", { id: "new-hint", class: "hint" }, h("kbd", null, "Enter"), " adds it, ", h("kbd", null, "Shift"), "+", h("kbd", null, "Enter"),
          " as vital, ", h("kbd", null, "Esc"), " goes back to the lists, where the keys work."),
        toolbar,
        nuggets.element,
        h("div", { class: "row end" }, goOn),
      ),
    ),
  );
  await load();
}

async function load() {
  const path = `/judge/${sheet.assignment}`;
  complain("");
  try {
    const [answer, earlier] = await Promise.all([get(`${path}/strings`), get(`${path}/earlier`), list.load()]);
    groups = answer.groups;
    drawEarlier(earlier);
    drawStrings();
    // A person who has begun to write meanwhile goes on writing.
    if (document.activeElement === document.body) strings.focus();
  } catch (error) {
    showComplaint(`The strings cannot be loaded. ${error instanceof Error ? error.message : error}`, () => void load());
  }
}

void start();
