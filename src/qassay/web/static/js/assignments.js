// Assignments: who judges, handing over, opening again.
import { get } from "./api.js";
import { byId, plural } from "./dom.js";
import { confirmed } from "./forms.js";
import { act, askReason, comeBack, onClick, ticked, until } from "./organise.js";

/** @typedef {{done: number, kept: number, without_author: number, absent: string[]}} Counted */

comeBack();

const assigning = byId("assign-form", HTMLFormElement);
assigning.addEventListener("submit", (event) => {
  event.preventDefault();
  const first = document.querySelector("input#author-first");
  const body = {
    assessors: byId("assessors", HTMLInputElement).valueAsNumber,
    accounts: ticked(assigning, "accounts"),
    author_first: first instanceof HTMLInputElement && first.checked,
  };
  const message = (/** @type {Counted} */ { done, without_author, absent }) => {
    const sentence = done ? `${plural(done, "assignment")} made.` : "Everything was already assigned like this.";
    if (!without_author) return sentence;
    return `${sentence} ${plural(without_author, "question")} went to other people, because the authors do not judge: ${absent.join(", ")}.`;
  };
  void act("POST", "/assignments", body, { focus: "#assign-form button", message });
});

onClick("[data-slot]", async (button) => {
  if (!(await confirmed("Withdraw this set? Only questions of which nothing was judged in it are withdrawn.", "Withdraw"))) return;
  const message = (/** @type {Counted} */ { done, kept: begun }) =>
    `${plural(done, "assignment")} withdrawn.${begun ? ` ${plural(begun, "assignment")} kept: judging has begun.` : ""}`;
  await act("POST", "/assignments/slots/withdraw", { slot: Number(button.dataset.slot) }, { focus: "#assessors", message });
});

const reassign = byId("reassign", HTMLDialogElement);
const to = byId("to", HTMLSelectElement);
/** @type {HTMLElement | null} */
let giving = null;

onClick("[data-reassign]", (button) => {
  giving = button;
  byId("reassign-what").textContent = `Question ${button.dataset.question}, now with: ${button.textContent}.`;
  to.value = button.dataset.account ?? "";
  reassign.showModal();
});
byId("reassign-form", HTMLFormElement).addEventListener("submit", async (event) => {
  event.preventDefault();
  const number = giving?.dataset.reassign;
  reassign.close();
  const account = to.value ? Number(to.value) : null;
  await act("POST", `/assignments/${number}/reassign`, { account }, { focus: `[data-reassign="${number}"]` });
});

const handing = byId("hand-over", HTMLDialogElement);
const targets = byId("hand-over-form", HTMLFormElement);
onClick("[data-hand-over]", (button) => {
  giving = button;
  byId("hand-over-what").textContent = `All unfinished questions: ${button.dataset.name}.`;
  for (const box of targets.querySelectorAll("input")) {
    box.checked = false;
    box.disabled = box.value === button.dataset.handOver;
  }
  handing.showModal();
});
targets.addEventListener("submit", async (event) => {
  event.preventDefault();
  const source = giving?.dataset.handOver ? Number(giving.dataset.handOver) : null;
  const accounts = ticked(targets, "accounts");
  handing.close();
  const message = (/** @type {Counted} */ { done, kept: staying }) =>
    `${plural(done, "question")} handed over.${staying ? ` ${plural(staying, "question")} stay: everybody chosen judges them already.` : ""}`;
  await act("POST", "/assignments/hand-over", { source, accounts }, { focus: "#told", message });
});

onClick("[data-reopen]", async (button) => {
  const question = button.dataset.reopen ?? "";
  const reason = await askReason(`Open question ${question} again?`, "Reopen", {
    hint: "Its assessors may change their judgments; the reason is recorded.",
  });
  if (reason !== null) await act("POST", "/adjudication/reopen", { question, reason }, { focus: "#show" });
});

if (document.getElementById("pool-running")) {
  void until(async () => {
    const pool = await get("/assignments/pool");
    byId("pool-running").textContent = pool.says;
    if (pool.state === "running") return false;
    location.reload();
    return true;
  });
}
