// One question under development: saving with the version that was seen, answers, nuggets.
import { announce, byId } from "./dom.js";
import { confirmed, values } from "./forms.js";
import { act, askReason, comeBack, onClick } from "./organise.js";

comeBack();

const form = byId("question-form", HTMLFormElement);
const id = String(values(form).id);
const isDraft = id.startsWith("draft-");
const state = byId("save-state");

form.addEventListener("done", (event) => {
  const version = /** @type {CustomEvent} */ (event).detail.version;
  const field = /** @type {HTMLInputElement} */ (form.elements.namedItem("version"));
  const typeChanged = form.querySelector("select[name=type]") !== null;
  field.value = String(version);
  state.dataset.state = "saved";
  state.textContent = "Saved";
  announce("Saved");
  // Warnings and further fields depend on what was saved.
  if (typeChanged) location.reload();
});
form.addEventListener("input", () => {
  state.dataset.state = "unsaved";
  state.textContent = "Not saved";
});

onClick("#remove-question", async () => {
  if (!(await confirmed("Remove this question with its answers?", "Remove"))) return;
  await act("POST", "/development/question/remove", { id }, { then: "/development" });
});

onClick("[data-withdraw]", async (button) => {
  const { answer, doc } = button.dataset;
  const reason = isDraft ? "" : await askReason(`Withdraw “${(answer ?? "").slice(0, 80)}”?`, "Withdraw", {
    hint: "The answer stays in the record, with the reason; it is no longer a known answer.",
  });
  if (reason === null) return;
  await act("POST", "/development/question/answers/withdraw", { id, answer, doc, reason }, { focus: "#answers" });
});
onClick("[data-restore]", (button) => {
  const { answer, doc } = button.dataset;
  void act("POST", "/development/question/answers", { id, answer, doc }, { focus: "#answers" });
});
onClick("[data-remove-nugget]", (button) => {
  const body = { id, nugget: button.dataset.removeNugget, version: Number(button.dataset.version) };
  void act("POST", "/development/question/nuggets/remove", body, { focus: "#nugget-new" });
});
