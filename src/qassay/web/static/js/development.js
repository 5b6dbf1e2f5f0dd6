// Questions under development: moving, removing, publishing.
import { plural } from "./dom.js";
import { confirmed } from "./forms.js";
import { act, again, comeBack, onClick } from "./organise.js";

comeBack();

onClick("[data-move]", (button) => {
  const { move, id, places } = button.dataset;
  const focus = `[data-move="${move}"][data-id="${CSS.escape(id ?? "")}"][data-places="${places}"]`;
  void act("POST", `/development/${move}/move`, { id, places: Number(places) }, { focus });
});

onClick("[data-remove-series]", async (button) => {
  if (!(await confirmed(`Remove series ${button.dataset.name} with all its drafts?`, "Remove"))) return;
  await act("POST", "/development/series/remove", { series: button.dataset.removeSeries }, { focus: "h1" });
});

// A question was added: the next one can be written at once.
document.addEventListener("done", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement)) return;
  const field = form.querySelector("input[name=text]");
  if (field instanceof HTMLInputElement) {
    sessionStorage.setItem("qassay.open", field.id);
    again(`#${field.id}`);
  }
});
const opened = sessionStorage.getItem("qassay.open");
if (opened) {
  sessionStorage.removeItem("qassay.open");
  const details = document.getElementById(opened)?.closest("details");
  if (details) {
    details.open = true;
    document.getElementById(opened)?.focus();
  }
}

const boxes = () => /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll("input[data-choose]")]);
const chosen = () => boxes().filter((box) => box.checked).map((box) => box.dataset.choose ?? "");

/** How many questions are chosen: a series has several. */
const questions = () => boxes().filter((box) => box.checked).reduce((sum, box) => sum + Number(box.dataset.questions ?? 1), 0);

function count() {
  const button = document.getElementById("publish");
  if (!button) return;
  const many = questions();
  button.setAttribute("aria-disabled", many ? "false" : "true");
  button.textContent = many ? `Publish ${plural(many, "question")}` : "Publish";
}

document.addEventListener("change", count);
onClick("#choose-all", () => {
  const all = boxes().every((box) => box.checked);
  for (const box of boxes()) box.checked = !all;
  count();
});
onClick("#publish", async (button) => {
  const groups = chosen();
  if (!groups.length) return;
  const runs = Number(button.dataset.runs);
  const warning = runs ? ` ${runs === 1 ? "The run that is" : `The ${runs} runs that are`} here do not answer them.` : "";
  const asked = `Publish ${plural(questions(), "question")}? They get their numbers for good.${warning}`;
  if (!(await confirmed(asked, "Publish"))) return;
  const message = (/** @type {{questions: string[]}} */ { questions }) => {
    const few = questions.slice(0, 12).join(", ") + (questions.length > 12 ? ", …" : "");
    return `${plural(questions.length, "question")} published: ${few}.`;
  };
  await act("POST", "/development/publish", { groups }, { focus: "#told", message });
});
count();
