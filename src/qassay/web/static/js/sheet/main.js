// A judging sheet: the application's own screens in one file, without a server. It begins where the assessor left.
import { announce, byId, fill, h, plural } from "../dom.js";
import { register, unregisterAll } from "../keys.js";
import { go, last, want } from "./address.js";
import { ownShortcuts } from "./api.js";
import { asks, progressInWords } from "../surroundings.js";
import { allFlags, nextOpen, progressOf, sheetOf, wholeProgress } from "./local_server.js";
import { load, rows, save } from "./files.js";
import { data, isFailing, unsaved } from "./storage.js";
import { AT_THE_END, STATES } from "./outbox.js";

/** @typedef {ReturnType<typeof sheetOf>} Sheet */

// Questions in one table; a browser takes seconds for many thousands.
const SHOWN = 500;

/**
 * Begin. `run` runs a module of the application; a screen is run again for every question that needs another one.
 * @param {(name: string) => void} run
 */
export function main(run) {
  byId("site-data").textContent = JSON.stringify({ account: null, shortcuts: ownShortcuts() });
  run("base.js");
  addEventListener("sheet-go", (event) => event instanceof CustomEvent && open(String(event.detail), run));
  addEventListener("sheet-changed", () => requestAnimationFrame(tell));
  addEventListener("beforeunload", (event) => {
    if (isFailing() && unsaved() > 0) event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="/"]') : null;
    if (!link) return;
    event.preventDefault();
    go(link.getAttribute("href") ?? "/work");
  });
  byId("save").addEventListener("click", handOver);
  byId("load").addEventListener("click", () => byId("load-file").click());
  byId("load-file", HTMLInputElement).addEventListener("change", takeIn);
  tell();
  const place = last();
  if (place && place.number <= data.questions.length) open(`/judge/${place.number}?item=${place.item}`, run);
  else open("/work", run);
}

/**
 * Show what an address of the application means here.
 * @param {string} address
 * @param {(name: string) => void} run
 */
function open(address, run) {
  const [place, query] = address.split("?", 2);
  const [, first, number] = place.split("/");
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.remove();
  unregisterAll();
  register("sheet.work", "o", "All questions", () => go("/work"));
  register("sheet.save", "s", "Save judgments to a file", handOver);
  scrollTo(0, 0);
  if (first !== "judge") return work();
  const asked = new URLSearchParams(query ?? "");
  const item = Number(asked.get("item"));
  want(item);
  judge(sheetOf(Number(number), asked.get("stage") ?? stageOf(Number(number), item)), run);
}

/**
 * @param {number} number
 * @param {number} item
 */
function stageOf(number, item) {
  if (!item) return null;
  const { stages } = sheetOf(number);
  return stages.find((stage) => sheetOf(number, stage.screen).items.some((other) => other.id === item))?.screen ?? null;
}

/**
 * @param {Sheet} sheet
 * @param {(name: string) => void} run
 */
function judge(sheet, run) {
  byId("page-data").textContent = JSON.stringify(sheet);
  fill(byId("main"), byId(`screen-${sheet.screen}`, HTMLTemplateElement).content.cloneNode(true));
  const { target, text } = sheet.question;
  fill(byId("question-more"), target && text ? h("p", null, "Target: ", h("strong", { dir: "auto" }, target)) : null);
  if (sheet.stages.length > 1) {
    const tabs = sheet.stages.map((stage) =>
      h("a", { href: `/judge/${sheet.assignment}?stage=${stage.screen}`, "aria-current": stage.screen === sheet.screen ? "page" : null }, stage.title));
    document.querySelector(".judge-head")?.append(h("nav", { class: "judge-stages", "aria-label": "Stages of this question" }, tabs));
  }
  // What is sent to a server has no place here.
  for (const form of document.querySelectorAll("#main form[data-action]")) (form.closest("details") ?? form).remove();
  // The guidelines stand open, as in the application.
  document.querySelector("#main details.rules")?.setAttribute("open", "");
  run(`screens/${sheet.screen}.js`);
}

/**
 * All questions, and what to do with the sheet.
 * @param {number} [from]  The first question shown; else those around the next open one.
 */
function work(from) {
  const whole = { ...wholeProgress(), minutes_left: null };
  const { done, total } = whole;
  const next = nextOpen(0);
  const first = from ?? Math.floor(((next ?? 1) - 1) / SHOWN) * SHOWN + 1;
  fill(byId("main"),
    h("h1", null, "Your work"),
    h("p", null, h("progress", { max: String(Math.max(total, 1)), value: String(done), "aria-label": "Judged so far" }), ` ${progressInWords(whole)}.`),
    next === null
      ? h("p", { class: "notice good" }, `Everything is judged. ${AT_THE_END}`)
      : h("p", null, "Your decisions are kept in this browser, also when you close the page. When you are done, save your judgments to a file and send it to the person who gave you this sheet; to go on with another browser or machine, load that file there."),
    h("div", { class: "row sheet-actions" },
      next === null ? null : h("a", { class: "button primary", id: "go-on", href: `/judge/${next}` }, done ? "Go on judging" : "Begin judging")),
    turning(first),
    table(first),
    doubts());
  byId("save-state").dataset.state = isFailing() ? "waiting" : "saved";
  byId("save-state").textContent = isFailing() ? STATES.waiting : "";
  byId("main").focus({ preventScroll: true });
}

/** @param {number} first */
function table(first) {
  const rows = data.questions.slice(first - 1, first - 1 + SHOWN).map((question, index) => {
    const own = progressOf(first + index);
    return h("tr", null,
      h("td", null, h("a", { href: `/judge/${first + index}` }, question.id)),
      h("td", null, question.type),
      h("td", { class: "asks", dir: "auto" }, question.target && asks(question) === question.text ? h("span", { class: "faint" }, h("bdi", null, question.target), ": ") : null, asks(question)),
      h("td", { class: "number nowrap", dataset: { of: "Decisions" } }, `${own.done.toLocaleString("en")} of ${own.total.toLocaleString("en")}`),
      h("td", null, own.done === own.total ? h("span", { class: "badge state good" }, "finished") : null));
  });
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Questions of this sheet" },
    h("table", { class: "lines" },
      h("thead", null, h("tr", null, ["Question", "Type", "Text", "Decisions", "State"].map((name) =>
        h("th", { scope: "col", class: name === "Decisions" ? "number" : null }, name)))),
      h("tbody", null, rows)));
}

/** The flagged answers; nothing where there are none. */
function doubts() {
  const all = allFlags();
  if (!all.length) return null;
  return h("section", { role: "region", "aria-label": "Flagged answers" },
    h("h2", null, "Flagged answers"),
    h("ul", { class: "plain-list" }, all.map((flag) =>
      h("li", null, h("a", { href: `/judge/${flag.number}?item=${flag.item}` }, flag.question), " ", h("bdi", null, flag.label), " ", flag.place ? h("small", { class: "faint" }, h("bdi", null, flag.place), " ") : null,
        h("span", { class: "faint" }, h("bdi", null, flag.reason))))));
}

/**
 * Turn over to the questions before and after those shown, where there are more.
 * @param {number} first
 */
function turning(first) {
  const many = data.questions.length;
  if (many <= SHOWN) return null;
  const button = (/** @type {string} */ label, /** @type {number} */ to) =>
    h("button", { type: "button", class: "small", disabled: to < 1 || to > many, onclick: () => work(to) }, label);
  return h("div", { class: "row sheet-actions" },
    button("Before", first - SHOWN), button("After", first + SHOWN),
    h("span", { class: "faint" }, `Questions ${first} to ${Math.min(first + SHOWN - 1, many)} of ${many}`));
}

function handOver() {
  if (rows().length === 0) return say("Nothing to save yet: you have not judged anything on this sheet.", "error");
  const count = save();
  say(`${plural(count, "decision")} written to ${data.file}.`, "good");
  tell();
}

async function takeIn() {
  const field = byId("load-file", HTMLInputElement);
  const file = field.files?.[0];
  if (!file) return;
  const { added, problem } = load(await file.text());
  field.value = "";
  go("/work");
  say(problem ?? (added ? `${plural(added, "decision")} loaded from ${file.name}.` : `Everything in ${file.name} is here already.`), problem ? "error" : "good");
}

/**
 * @param {string} message
 * @param {"good" | "error"} tone
 */
function say(message, tone) {
  const shown = byId("told");
  shown.className = `notice ${tone} toast`;
  shown.textContent = message;
  shown.hidden = false;
  announce(message);
  if (tone === "good") setTimeout(() => (shown.hidden = shown.textContent === message || shown.hidden), 6000);
}

/** How far the sheet is, and what is in no file yet. */
function tell() {
  const open = unsaved();
  byId("sheet-progress").textContent = progressInWords({ ...wholeProgress(), minutes_left: null });
  byId("sheet-unsaved").textContent = open ? `${plural(open, "change")} in no file yet` : "";
}
