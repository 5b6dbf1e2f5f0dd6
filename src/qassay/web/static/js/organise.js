// Shared by the organiser's pages: a change through the API, then the page reloaded with the focus where it was.
import { ApiError, call } from "./api.js";
import { fill, h } from "./dom.js";

const FOCUS = "qassay.focus";
const MESSAGE = "qassay.message";

/**
 * Make a change and reload the page; an error is shown in #complaint.
 *
 * @param {"POST" | "PUT" | "PATCH" | "DELETE"} method
 * @param {string} path
 * @param {unknown} body
 * @param {{focus?: string, then?: string, message?: (answer: any) => string}} [after] what has the focus afterwards, or
 *   where to go instead, and what the page says then
 * @returns {Promise<any>} the answer; null where it was refused
 */
export async function act(method, path, body, after = {}) {
  try {
    const answer = await call(method, path, body);
    if (after.message) sessionStorage.setItem(MESSAGE, after.message(answer));
    if (after.then) location.assign(after.then);
    else again(after.focus);
    return answer;
  } catch (error) {
    complain(error);
    return null;
  }
}

/**
 ** Reload the page.
 *
 * @param {string} [focus] a selector
 */
export function again(focus) {
  if (focus) sessionStorage.setItem(FOCUS, focus);
  location.reload();
}

/** Put the focus where it was before the page was reloaded, and say what was done. */
export function comeBack() {
  const message = sessionStorage.getItem(MESSAGE);
  const place = document.getElementById("told");
  sessionStorage.removeItem(MESSAGE);
  if (message && place) {
    fill(place, message);
    place.hidden = false;
  }
  const wanted = sessionStorage.getItem(FOCUS);
  if (!wanted) return;
  sessionStorage.removeItem(FOCUS);
  const element = document.querySelector(wanted);
  if (element instanceof HTMLElement) element.focus();
}

/**
 * Say what was refused.
 *
 * @param {unknown} error
 */
export function complain(error) {
  const place = document.getElementById("complaint");
  if (!place) return;
  const problems = error instanceof ApiError ? error.problems : [];
  const message = error instanceof ApiError ? error.message : String(error);
  if (problems.length > 1) place.replaceChildren(h("ul", null, problems.slice(0, 50).map((problem) => h("li", null, problem.message))));
  else fill(place, message);
  place.hidden = false;
  place.focus();
}

/**
 * Ask for a reason.
 *
 * @param {string} title
 * @param {string} yes what the button says
 * @param {{required?: boolean, hint?: string}} [options]
 * @returns {Promise<string | null>} null where it was thought better of
 */
export function askReason(title, yes, { required = true, hint = "" } = {}) {
  return new Promise((resolve) => {
    const field = h("textarea", { id: "reason", required, maxlength: "2000", "aria-describedby": hint ? "reason-hint" : null });
    const form = h(
      "form",
      { method: "dialog" },
      h("h2", { id: "reason-title" }, title),
      h(
        "div",
        { class: "field" },
        h("label", { for: "reason" }, required ? "Reason" : "Reason (optional)"),
        field,
        hint && h("p", { class: "hint", id: "reason-hint" }, hint),
      ),
      h(
        "div",
        { class: "row end" },
        h("button", { type: "button", onclick: () => dialog.close("") }, "Cancel"),
        h("button", { type: "submit", class: "primary", value: "yes" }, yes),
      ),
    );
    const dialog = h("dialog", { "aria-labelledby": "reason-title" }, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes" ? field.value.trim() : null);
    });
    document.body.append(dialog);
    dialog.showModal();
    field.focus();
  });
}

/**
 * Have something done at a click on an element with a data attribute.
 *
 * @param {string} selector
 * @param {(element: HTMLElement) => void} handler
 */
export function onClick(selector, handler) {
  document.addEventListener("click", (event) => {
    const element = event.target instanceof Element ? event.target.closest(selector) : null;
    if (element instanceof HTMLElement) handler(element);
  });
}

/**
 * The numbers of the boxes that are ticked.
 *
 * @param {HTMLFormElement} form
 * @param {string} name
 * @returns {number[]}
 */
export function ticked(form, name) {
  return new FormData(form).getAll(name).map(Number);
}

/**
 * Look again and again until something is over.
 *
 * @param {() => Promise<boolean>} isOver
 */
export async function until(isOver) {
  for (let wait = 700; ; wait = Math.min(wait * 1.3, 5000)) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    try {
      if (await isOver()) return;
    } catch (error) {
      if (!(error instanceof ApiError) || !error.away) throw error;
    }
  }
}

onClick("[data-close]", (button) => button.closest("dialog")?.close());
