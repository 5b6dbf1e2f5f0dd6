// A document whose text can be selected with mouse or keyboard, and taken over as an answer. Nothing in it can change.
import { post } from "./api.js";
import { announce, byId, fill, h, pageData } from "./dom.js";
import { complain } from "./organise.js";

const page = pageData();
const text = byId("document-text");
const form = byId("take-form", HTMLFormElement);
const answer = byId("answer", HTMLTextAreaElement);
const which = byId("for", HTMLSelectElement);
const fresh = byId("new-question", HTMLFieldSetElement);

for (const kind of ["beforeinput", "paste", "cut", "drop", "dragstart"]) {
  text.addEventListener(kind, (event) => event.preventDefault());
}

/** @returns {string} what is selected in the document, on one line */
function selected() {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || !text.contains(selection.anchorNode)) return "";
  return selection.toString().replace(/\s+/g, " ").trim().slice(0, 1000);
}

function takeOver() {
  const taken = selected();
  if (taken) answer.value = taken;
  return taken;
}

text.addEventListener("mouseup", () => setTimeout(takeOver));
text.addEventListener("touchend", () => setTimeout(takeOver, 300));
text.addEventListener("keyup", (event) => {
  if (event.shiftKey || event.key === "Shift") takeOver();
});
text.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  const taken = takeOver();
  if (!taken) return;
  announce(`${isNugget() ? "Nugget" : "Answer"}: ${taken}`);
  answer.focus();
});

/** Whether what is taken becomes a nugget: the question that is chosen, or written, is judged by them. */
function isNugget() {
  const type = which.value ? which.selectedOptions[0]?.dataset.type : byId("type", HTMLSelectElement).value;
  return page.by_nuggets.includes(type);
}

function showFields() {
  fresh.hidden = which.value !== "" || which.options.length === 0;
  fresh.disabled = fresh.hidden;
  byId("note", HTMLButtonElement).disabled = which.options.length === 0;
  const nugget = isNugget();
  byId("as-nugget").hidden = !nugget;
  byId("take").textContent = nugget ? "Add a nugget" : "Add an answer";
  byId("answer-label").textContent = nugget ? "Nugget" : "Answer";
  byId("note").textContent = nugget ? "Add the nugget" : "Add the answer";
}
which.addEventListener("change", showFields);
byId("type").addEventListener("change", showFields);
showFields();

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  byId("complaint").hidden = true;
  const sent = { answer: answer.value, doc: page.document.id };
  const fact = isNugget() ? { vital: byId("vital", HTMLInputElement).checked } : null;
  try {
    let question = which.value;
    if (question && fact) {
      await post("/development/question/nuggets", { id: question, text: answer.value, doc: page.document.id, ...fact });
    } else if (question) {
      await post("/development/question/answers", { id: question, ...sent });
    } else {
      const fields = new FormData(form);
      const series = fields.get("series");
      const asked = { type: fields.get("type"), text: fields.get("text"), ...(series ? { series } : {}) };
      question = (await post("/development/questions", { ...asked, ...sent, ...fact })).question;
    }
    const done = byId("done");
    const address = `/development/question?id=${encodeURIComponent(question)}`;
    fill(done, fact ? "Added as a nugget: " : "Added: ", h("bdi", null, answer.value), ". ", h("a", { href: address }, "To the question"));
    done.hidden = false;
    answer.value = "";
    done.querySelector("a")?.focus();
  } catch (error) {
    complain(error);
  }
});

// The first mark comes into view, and the caret is put there.
const mark = text.querySelector("mark");
if (mark) text.scrollTop = mark.offsetTop - text.clientHeight / 3;
