// Shortcuts: registered by pages, shown by `?`, changed by the people who use them, silent while somebody types.
import { ApiError, put } from "./api.js";
import { announce, fill, h, siteData } from "./dom.js";

/** @typedef {{name: string, key: string, defaultKey: string, label: string, handler: () => void}} Shortcut */

/** @type {Map<string, Shortcut>} */
const shortcuts = new Map();
/** @type {Record<string, string>} */
let own = {};
/** @type {HTMLDialogElement | null} */
let dialog = null;
/** @type {string | null} The shortcut that waits for its new key. */
let waiting = null;

const NAMED = /** @type {Record<string, string>} */ ({
  " ": "Space",
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
  Enter: "Enter",
  Backspace: "Backspace",
  Delete: "Del",
});
// Keys that move the focus or leave something, and the one that shows this list.
const RESERVED = ["Tab", "Escape", "Enter", "?"];

/**
 * Register a shortcut. The name is what a changed key is kept under, so it says page and deed: "judge.right".
 *
 * @param {string} name
 * @param {string} key as KeyboardEvent.key gives it: "1", "r", "ArrowLeft"
 * @param {string} label
 * @param {() => void} handler
 */
export function register(name, key, label, handler) {
  shortcuts.set(name, { name, defaultKey: key, key: own[name] ?? key, label, handler });
  const button = document.getElementById("shortcuts-button");
  if (button) button.hidden = false;
}

/**
 * Whether a shortcut that is not registered yet can come with this key: neither the page nor another one does.
 *
 * @param {string} key
 * @returns {boolean}
 */
export function isFree(key) {
  return !RESERVED.includes(key) && ![...shortcuts.values()].some((shortcut) => same(shortcut.defaultKey, key));
}

/** @param {string} name */
export function unregister(name) {
  shortcuts.delete(name);
}

/** Forget all shortcuts: another screen is going to register its own. */
export function unregisterAll() {
  shortcuts.clear();
}

/**
 * The key of a shortcut as people read it, for the button that does the same; empty where it is not registered.
 *
 * @param {string} name
 * @returns {string}
 */
export function keyFor(name) {
  const shortcut = shortcuts.get(name);
  return shortcut ? readable(shortcut.key) : "";
}

/** @param {string} name  The shortcut whose deed a button does too. */
export function press(name) {
  shortcuts.get(name)?.handler();
}

/**
 * @param {string} key
 * @returns {string}
 */
export function readable(key) {
  return NAMED[key] ?? (key.length === 1 ? key.toUpperCase() : key);
}

/** Show all shortcuts, and let them be changed. */
export function showHelp() {
  if (!dialog) {
    dialog = h("dialog", { "aria-labelledby": "shortcuts-title" });
    dialog.addEventListener("close", () => (waiting = null));
    dialog.addEventListener("cancel", (event) => {
      if (waiting === null) return;
      event.preventDefault();
      stopWaiting();
    });
    document.body.append(dialog);
  }
  draw("");
  if (!dialog.open) dialog.showModal();
}

/** Listen for keys; base.js calls it once. */
export function listen() {
  own = siteData().shortcuts;
  addEventListener("keydown", pressed, true);
  document.getElementById("shortcuts-button")?.addEventListener("click", showHelp);
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  if (waiting !== null && dialog?.open) {
    take(event);
    return;
  }
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.repeat || isTyping(event.target)) return;
  if (event.key === "?" && shortcuts.size > 0) {
    event.preventDefault();
    showHelp();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  // Space and Enter on a button or a link are that button's or link's.
  if ([" ", "Enter"].includes(event.key) && event.target instanceof Element && event.target.closest("button, a, summary")) {
    return;
  }
  const shortcut = [...shortcuts.values()].find((registered) => same(registered.key, event.key));
  if (!shortcut) return;
  event.preventDefault();
  shortcut.handler();
}

/**
 * @param {EventTarget | null} target
 * @returns {boolean}
 */
function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  const pressable = ["button", "checkbox", "radio", "submit", "reset"];
  return target instanceof HTMLInputElement && !pressable.includes(target.type);
}

/**
 * @param {string} key
 * @param {string} other
 */
function same(key, other) {
  return key === other || (key.length === 1 && key.toLowerCase() === other.toLowerCase());
}

/** @param {KeyboardEvent} event */
function take(event) {
  if (["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock"].includes(event.key)) return;
  event.preventDefault();
  event.stopPropagation();
  const name = waiting;
  const shortcut = name === null ? undefined : shortcuts.get(name);
  if (event.key === "Escape" || !shortcut) {
    stopWaiting();
    return;
  }
  const taken = [...shortcuts.values()].find((registered) => registered !== shortcut && same(registered.key, event.key));
  if (event.ctrlKey || event.altKey || event.metaKey || RESERVED.includes(event.key) || /^F\d+$/.test(event.key)) {
    draw(`${readable(event.key)} belongs to the browser or the page; press another key, or Esc to keep the old one.`);
  } else if (taken) {
    draw(`${readable(event.key)} is taken by “${taken.label}”; press another key, or Esc to keep the old one.`);
  } else {
    waiting = null;
    void change(shortcut, event.key);
  }
}

/**
 * @param {Shortcut} shortcut
 * @param {string} key
 */
async function change(shortcut, key) {
  const before = shortcut.key;
  shortcut.key = key;
  own = Object.fromEntries(Object.entries({ ...own, [shortcut.name]: key }).filter(([name, ownKey]) => shortcuts.get(name)?.defaultKey !== ownKey));
  draw("");
  dispatchEvent(new CustomEvent("shortcuts-changed"));
  try {
    await put("/account/shortcuts", { shortcuts: own });
    draw(`“${shortcut.label}” is ${readable(key)} now.`);
  } catch (error) {
    shortcut.key = before;
    draw(error instanceof ApiError ? error.message : "The change was not saved.");
    dispatchEvent(new CustomEvent("shortcuts-changed"));
  }
}

async function reset() {
  own = {};
  for (const shortcut of shortcuts.values()) shortcut.key = shortcut.defaultKey;
  dispatchEvent(new CustomEvent("shortcuts-changed"));
  try {
    await put("/account/shortcuts", { shortcuts: own });
    draw("All shortcuts are reset.");
  } catch (error) {
    draw(error instanceof ApiError ? error.message : "The change was not saved.");
  }
}

function stopWaiting() {
  waiting = null;
  draw("");
}

/** @param {string} message */
function draw(message) {
  if (!dialog) return;
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.shortcut : undefined;
  const rows = [...shortcuts.values()].map((shortcut) =>
    h(
      "tr",
      { class: "middle" },
      h("td", null, shortcut.label),
      h("td", { class: "nowrap" }, waiting === shortcut.name ? "press a key…" : h("kbd", null, readable(shortcut.key))),
      h(
        "td",
        { class: "number" },
        h(
          "button",
          {
            type: "button",
            class: "small",
            dataset: { shortcut: shortcut.name },
            "aria-label": `Change the key of ${shortcut.label}`,
            onclick: () => {
              waiting = shortcut.name;
              draw("");
              announce(`Press the new key for ${shortcut.label}.`);
            },
          },
          "Change",
        ),
      ),
    ),
  );
  const done = dialog;
  fill(
    done,
    h("h2", { id: "shortcuts-title" }, "Shortcuts"),
    h("div", { class: "scroll" }, h("table", null, h("tbody", null, rows))),
    h("p", { role: "status", class: "faint" }, message),
    h(
      "div",
      { class: "row end" },
      h("button", { type: "button", onclick: () => void reset() }, "Reset to defaults"),
      h("button", { type: "button", class: "primary", onclick: () => done.close() }, "Close"),
    ),
  );
  const again = focused ? done.querySelector(`[data-shortcut="${CSS.escape(focused)}"]`) : null;
  if (again instanceof HTMLElement) again.focus();
}
