// Forms that send JSON: <form data-action="POST /people/invitations" data-then="/people"> and nothing more.
//
// Fields go by their names (numbers for type=number, true or false for a checkbox, nothing for an empty optional field).
// Problems appear at their fields, everything else at the top of the form. After success the page goes to data-then,
// or is reloaded; a form with data-event instead sends an event "done" with the answer, for the page's own script.
import { ApiError, call } from "./api.js";
import { h } from "./dom.js";

/** @typedef {"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} Method */

/** Take over the forms of the page; base.js calls it once. */
export function takeOver() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !form.dataset.action) return;
    event.preventDefault();
    void send(form, event.submitter);
  });
}

/**
 * Send a form.
 *
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} [submitter]
 */
export async function send(form, submitter = null) {
  if (form.dataset.busy) return;
  const button = submitter instanceof HTMLButtonElement ? submitter : form.querySelector("button[type=submit]");
  const question = submitter?.dataset.confirm ?? form.dataset.confirm;
  if (question && !(await confirmed(question, button?.textContent?.trim() || "Continue"))) return;
  const [method, path] = (form.dataset.action ?? "").split(" ", 2);
  clear(form);
  form.dataset.busy = "yes";
  button?.setAttribute("aria-disabled", "true");
  try {
    const answer = await call(/** @type {Method} */ (method), path, values(form));
    if (form.dataset.event !== undefined) {
      form.dispatchEvent(new CustomEvent("done", { detail: answer, bubbles: true }));
    } else if (form.dataset.then) {
      location.assign(form.dataset.then);
    } else {
      location.reload();
    }
  } catch (error) {
    show(form, error instanceof ApiError ? error : new ApiError(0, String(error)));
  } finally {
    delete form.dataset.busy;
    button?.removeAttribute("aria-disabled");
  }
}

/**
 * The values of a form, as the body of a request.
 *
 * @param {HTMLFormElement} form
 * @returns {Record<string, unknown>}
 */
export function values(form) {
  /** @type {Record<string, unknown>} */
  const body = {};
  for (const field of form.elements) {
    const known = field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement;
    if (!known || !field.name || field.disabled || field.dataset.apart !== undefined) continue;
    if (field instanceof HTMLInputElement && field.type === "checkbox") body[field.name] = field.checked;
    else if (field instanceof HTMLInputElement && field.type === "radio") {
      if (field.checked) body[field.name] = field.value;
    } else if (field.value === "" && !field.required) continue;
    else if (field instanceof HTMLInputElement && field.type === "number") body[field.name] = field.valueAsNumber;
    else body[field.name] = field.value;
  }
  return body;
}

/**
 * Show what was wrong, at the fields where it is known.
 *
 * @param {HTMLFormElement} form
 * @param {ApiError} error
 */
export function show(form, error) {
  /** @type {HTMLElement | null} */
  let first = null;
  let placed = 0;
  for (const problem of error.problems) {
    const field = problem.field ? form.elements.namedItem(problem.field) : null;
    if (!(field instanceof HTMLElement) || !field.id) continue;
    const id = `${field.id}-problem`;
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", [field.getAttribute("aria-describedby"), id].filter(Boolean).join(" "));
    field.closest(".field")?.append(h("p", { class: "problem", id, role: "alert" }, problem.message));
    first ??= field;
    placed += 1;
  }
  if (placed === 0 || placed < error.problems.length) {
    const notice = h("p", { class: "notice error", role: "alert", tabindex: "-1" }, error.message);
    form.prepend(notice);
    first ??= notice;
  }
  first?.focus();
}

/** @param {HTMLFormElement} form */
export function clear(form) {
  for (const old of form.querySelectorAll(".problem, .notice.error")) old.remove();
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    const others = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id && !id.endsWith("-problem"));
    if (others.length) field.setAttribute("aria-describedby", others.join(" "));
    else field.removeAttribute("aria-describedby");
  }
}

/**
 * Ask before something that is hard to undo.
 *
 * @param {string} question
 * @param {string} verb  The text of the button that does it: the verb of the question, never yes or no.
 * @returns {Promise<boolean>}
 */
export function confirmed(question, verb) {
  return new Promise((resolve) => {
    const agree = h("button", { type: "submit", class: "primary", value: "yes" }, verb);
    const dialog = h(
      "dialog",
      { "aria-labelledby": "confirm-question" },
      h(
        "form",
        { method: "dialog" },
        h("p", { id: "confirm-question" }, question),
        h("div", { class: "row end" }, h("button", { type: "submit", value: "" }, "Cancel"), agree),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
    agree.focus();
  });
}
