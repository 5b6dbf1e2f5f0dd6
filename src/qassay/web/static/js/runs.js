// Runs, and a participant's submissions: each file is sent by itself, so that each has its answer as soon as it is checked.
import { ApiError, call, get } from "./api.js";
import { byId, fill, h, plural } from "./dom.js";
import { act, again, askReason, comeBack, onClick, until } from "./organise.js";

comeBack();

/** @typedef {{line: number | null, message: string}} Fault */
/** @typedef {{file: string, tag: string | null, tags: string[], faults: number, first: Fault[], warnings: Fault[], report: string | null}} FileReport */

const SHOWN = 200;
// After the deadline there is no form.
const form = document.querySelector("form#upload-form");
const results = document.getElementById("upload-results");
// Where the runs are: those of all, or those of an organisation.
const path = location.pathname;

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (!(form instanceof HTMLFormElement) || !results) return;
  if (form.dataset.busy) return;
  form.dataset.busy = "yes";
  const files = [...(byId("files", HTMLInputElement).files ?? [])];
  const reports = files.map((file) => h("section", { class: "report" }, h("h3", null, h("bdi", null, file.name), h("span", { class: "badge" }, "waiting"))));
  fill(results, reports);
  let accepted = 0;
  for (const [place, file] of files.entries()) {
    fill(reports[place], h("h3", null, h("bdi", null, file.name), h("span", { class: "badge" }, "checking…")));
    const report = await send(form, file);
    if (report.tag) accepted += 1;
    fill(reports[place], drawn(report));
  }
  delete form.dataset.busy;
  form.reset();
  if (accepted) await refresh();
});

/** Show the runs as they are now; the reports of the files stay. */
async function refresh() {
  const page = await fetch(location.href).then((answer) => (answer.ok ? answer.text() : ""), () => "");
  const now = new DOMParser().parseFromString(page, "text/html");
  for (const id of ["runs-count", "pool-state", "runs-list"]) {
    const part = now.getElementById(id);
    if (part && document.getElementById(id)) byId(id).replaceWith(document.adoptNode(part));
  }
}

/**
 * @param {HTMLFormElement} form
 * @param {File} file
 * @returns {Promise<FileReport>}
 */
async function send(form, file) {
  const data = new FormData(form);
  data.delete("files");
  if (!data.get("priority")) data.delete("priority");
  for (const name of ["manual", "replace"]) if (form.elements.namedItem(name)) data.set(name, String(data.has(name)));
  data.append("files", file, file.name);
  try {
    return (await call("POST", path, data)).files[0];
  } catch (error) {
    const message = error instanceof ApiError ? error.message : String(error);
    return { file: file.name, tag: null, tags: [], faults: 1, first: [{ line: null, message }], warnings: [], report: null };
  }
}

/**
 * @param {Fault[]} faults
 * @param {string} label
 */
function listed(faults, label) {
  const rows = faults.slice(0, SHOWN).map((fault) =>
    h("li", null, h("span", { class: "faint" }, fault.line === null ? "" : `line ${fault.line}`), h("bdi", null, fault.message.slice(0, 1000))),
  );
  return h("ol", { tabindex: "0", "aria-label": label }, rows);
}

/**
 * @param {FileReport} report
 * @returns {HTMLElement[]}
 */
function drawn(report) {
  const name = h("bdi", null, report.file);
  if (report.tag) {
    const tags = report.tags.map((tag, place) => [place ? ", " : "", h("bdi", null, tag)]).flat();
    const added = h("h3", null, name, h("span", { class: "badge good" }, "added as ", tags));
    return report.warnings.length ? [added, listed(report.warnings, `Warnings about ${report.file}`)] : [added];
  }
  const many = `${plural(report.faults, "error")}, not kept`;
  const list = listed(report.first, `Errors of ${report.file}`);
  const all = report.report && h("p", null, h("a", { href: `${path}/report?number=${report.report}` }, report.faults > SHOWN ? `All ${report.faults.toLocaleString("en")} errors` : "Show the errors on their own page"));
  return [h("h3", null, name, h("span", { class: "badge bad" }, many)), list, ...(all ? [all] : [])];
}

const dialog = byId("describe", HTMLDialogElement);
const describing = byId("describe-form", HTMLFormElement);

/** @param {string} name */
const field = (name) => /** @type {HTMLInputElement} */ (describing.elements.namedItem(name));

onClick("[data-describe]", (button) => {
  fill(byId("describe-title"), `Run ${button.dataset.describe}`);
  field("tag").value = button.dataset.describe ?? "";
  for (const name of ["organisation", "description", "priority"]) if (field(name)) field(name).value = button.dataset[name] ?? "";
  field("manual").checked = button.dataset.manual === "yes";
  dialog.showModal();
});
describing.addEventListener("done", () => again(`[data-describe="${CSS.escape(field("tag").value)}"]`));

onClick("[data-withdraw]", async (button) => {
  const tag = button.dataset.withdraw ?? "";
  const reason = await askReason(`Withdraw run ${tag}?`, "Withdraw", {
    required: false,
    hint: "The run is removed from all scores and from the pool. Its judgments are kept, and you can restore it.",
  });
  if (reason === null) return;
  await act("POST", `${path}/withdraw`, { tag, reason }, { focus: `[data-restore="${CSS.escape(tag)}"]` });
});
onClick("[data-restore]", (button) => {
  const tag = button.dataset.restore ?? "";
  void act("POST", `${path}/restore`, { tag }, { focus: `[data-withdraw="${CSS.escape(tag)}"]` });
});

if (document.getElementById("pool-running")) {
  void until(async () => {
    if ((await get("/assignments/pool")).state === "running") return false;
    // Files that are being sent are not cancelled.
    if (form instanceof HTMLFormElement && !form.dataset.busy && !results?.hasChildNodes()) location.reload();
    return true;
  });
}
