// Nugget support of one answer, and the support of its citations: each part full, partial or none.
import { get } from "../api.js";
import { fill, h } from "../dom.js";
import { documentPanel } from "../document.js";
import { keyFor, register } from "../keys.js";
import { NoteField } from "../notes.js";
import { documentName, documentNames, titleOf } from "../titles.js";
import { Workbench } from "../workbench.js";

/** @typedef {import("../workbench.js").ItemView} ItemView */
/** @typedef {import("../workbench.js").PartView} PartView */

/** @type {Map<string, string>} */
let nuggets = new Map();
let chosen = "";
let drawn = 0;

const bench = new Workbench({ draw, begin, about });

const notes = new NoteField(bench, { on: "this nugget or citation", folded: true });
const levels = bench.sheet.choices?.labels ?? [];

for (const level of levels) register(`support.${level.label}`, level.key, level.name, () => decide(chosen, level.label));
register("support.down", "ArrowDown", "Next nugget or citation", () => move(1));
register("support.up", "ArrowUp", "Previous nugget or citation", () => move(-1));

/**
 * @param {string} name
 * @param {string} support
 */
function decide(name, support) {
  const view = bench.view;
  const own = view?.parts.find((part) => part.part === name);
  if (!view || !own || bench.moving || bench.isLocked()) return;
  notes.show(view, own);
  const note = notes.taken();
  const left = view.parts.filter((part) => part.required && part.verdict === null && part.part !== name);
  const at = view.parts.findIndex((part) => part.part === name);
  const next = left.find((part) => view.parts.indexOf(part) > at) ?? left[0];
  if (next) chosen = next.part;
  bench.decide(name, { support, ...note }, { advance: left.length === 0, message: support });
}

/** @param {number} by */
function move(by) {
  const parts = shownParts(bench.view);
  const at = parts.findIndex((part) => part.part === chosen) + by;
  if (at < 0 || at >= parts.length) return;
  chosen = parts[at].part;
  bench.draw();
}

/** @param {ItemView | null} view */
function shownParts(view) {
  return view ? view.parts.filter((part) => part.required) : [];
}

/** @param {Workbench} here */
function begin(here) {
  nuggets = new Map();
  get(`/judge/${here.sheet.assignment}/aids`).then(
    (aids) => {
      nuggets = new Map(aids.nuggets.map((/** @type {any} */ nugget) => [nugget.nugget, nugget.text]));
      if (here.view) here.draw();
    },
    () => here.complain("The nuggets cannot be loaded.", () => begin(here)),
  );
}

/** @param {string} part "citation:SENTENCE:DOC" */
function citation(part) {
  const [, sentence, ...doc] = part.split(":");
  return { sentence: Number(sentence), doc: doc.join(":") };
}

/**
 * What is judged, in words: a nugget, or a sentence with the document that it cites.
 * @param {string} part
 */
function about(part) {
  if (!part.startsWith("citation:")) return nuggets.get(part.slice("nugget:".length)) ?? part;
  const { sentence, doc } = citation(part);
  return `sentence ${sentence + 1}, ${titleOf(doc)}`;
}

/**
 * @param {Workbench} here
 * @param {ItemView} view
 */
function draw(here, view) {
  const parts = shownParts(view);
  if (drawn !== view.id || !parts.some((part) => part.part === chosen)) {
    chosen = (parts.find((part) => part.verdict === null) ?? parts[0])?.part ?? "";
    drawn = view.id;
  }
  const cited = chosen.startsWith("citation:") ? citation(chosen) : null;
  const sentences = view.body.elements.map((/** @type {any} */ element, /** @type {number} */ index) =>
    h("li", { class: cited?.sentence === index ? "current" : null },
      h("span", { class: "sentence", dir: "auto" }, element.text || "(empty)"),
      (element.citations ?? []).length ? h("span", { class: "faint cites" }, " [", documentNames(element.citations), "]") : null));
  const sentence = cited ? view.body.elements[cited.sentence].text : "";
  const source = cited ? documentPanel(here.sheet.has_collection, { body: { doc: cited.doc, text: sentence } }) : null;
  // In one column, the text that a citation is judged by is shown with it.
  const narrow = matchMedia("(max-width: 46rem)").matches;
  const own = parts.find((part) => part.part === chosen);
  if (own) notes.show(view, own);
  const beside = narrow && cited ? [h("p", { class: "faint", dir: "auto" }, sentence), source] : null;
  const facts = parts.filter((part) => part.kind === "support");
  const cites = parts.filter((part) => part.kind === "citation");
  fill(
    here.stage,
    h("div", { class: "judge-columns" },
      h("div", { class: "judge-answer judge-aside", tabindex: "0", role: "region", "aria-label": "Answer" },
        h("h2", null, "Answer"),
        h("ol", { class: "strings answer-sentences" }, sentences),
        narrow ? null : source),
      h("div", { class: "judge-answer" },
        facts.length ? h("h2", null, "Nuggets") : null,
        list(facts, (part) => about(part.part), null),
        cites.length ? h("h2", null, "Citations") : null,
        list(cites, (part) => about(part.part), beside, (part) => [`Sentence ${citation(part.part).sentence + 1}: `, documentName(citation(part.part).doc)]))),
  );
  here.stage.querySelector(".part.current")?.scrollIntoView({ block: "nearest" });
}

/**
 * @param {PartView[]} parts
 * @param {(part: PartView) => string} name
 * @param {(Node | null)[] | null} beside  Elements shown with the chosen one.
 * @param {(part: PartView) => string | (string | Node)[]} [shown]  The name as it is shown.
 */
function list(parts, name, beside, shown = name) {
  return h("ol", { class: "parts" }, parts.map((part) =>
    h("li", { class: part.part === chosen ? "part current" : "part", "aria-current": part.part === chosen ? "true" : null },
      h("p", { dir: "auto" }, shown(part)),
      part.part === chosen ? beside : null,
      h("div", { class: "part-choices", role: "group", "aria-label": `Support of ${name(part)}` },
        levels.map((level) =>
          h("button", {
            type: "button",
            class: `small ${level.tone}`,
            "aria-pressed": String(part.verdict?.support === level.label),
            onclick: () => decide(part.part, level.label),
          }, part.part === chosen ? h("kbd", null, keyFor(`support.${level.label}`)) : null, ` ${level.name.replace(/ support$/, "").replace(/^No$/, "None")}`))),
      part.part === chosen ? notes.element : part.verdict?.note ? h("p", { class: "part-note faint small", dir: "auto" }, part.verdict.note) : null)));
}

void bench.start();
