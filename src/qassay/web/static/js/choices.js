// A list to choose from by keys: one stop of Tab, the current line marked, scrolled to, and announced to screen readers.
import { fill, h } from "./dom.js";

let count = 0;

export class Choices {
  /**
   * @param {string} label
   * @param {{multiple?: boolean, current?: (index: number) => void, pick?: (index: number) => void}} [options]
   *   `current` is called when another line becomes the current one, `pick` when a line is clicked.
   */
  constructor(label, options = {}) {
    count += 1;
    this.name = `choices-${count}`;
    this.options = options;
    this.at = 0;
    /** @type {HTMLElement[]} */
    this.lines = [];
    this.element = h("ul", {
      class: "choices",
      role: "listbox",
      tabindex: "0",
      "aria-label": label,
      "aria-multiselectable": options.multiple ? "true" : null,
    });
    this.element.addEventListener("click", (event) => this.clicked(event));
  }

  /**
   * Show other lines; the current one stays where it was.
   * @param {HTMLElement[]} lines  <li> elements, without roles: they are given here.
   */
  show(lines) {
    this.lines = lines;
    lines.forEach((line, index) => this.dress(line, index));
    fill(this.element, lines);
    // An empty list has nothing to choose from, and no role that says so.
    if (lines.length) this.element.setAttribute("role", "listbox");
    else this.element.removeAttribute("role");
    this.at = Math.max(0, Math.min(this.at, lines.length - 1));
    this.mark();
  }

  /**
   * Show one line otherwise: a list of hundreds is not drawn again for it.
   * @param {number} index
   * @param {HTMLElement} line
   */
  replace(index, line) {
    this.dress(line, index);
    this.lines[index].replaceWith(line);
    this.lines[index] = line;
    this.mark();
  }

  /**
   * @param {HTMLElement} line
   * @param {number} index
   */
  dress(line, index) {
    line.id = `${this.name}-${index}`;
    line.setAttribute("role", "option");
    if (!line.hasAttribute("aria-selected")) line.setAttribute("aria-selected", "false");
  }

  /** @param {number} by */
  move(by) {
    this.go(this.at + by);
  }

  /** @param {number} index */
  go(index) {
    if (!this.lines.length) return;
    this.at = Math.max(0, Math.min(index, this.lines.length - 1));
    this.mark();
    this.reveal();
    this.options.current?.(this.at);
  }

  mark() {
    const line = this.lines[this.at];
    for (const other of this.element.querySelectorAll(":scope > .current")) {
      other.classList.remove("current");
      if (!this.options.multiple) other.setAttribute("aria-selected", "false");
    }
    line?.classList.add("current");
    if (!this.options.multiple) line?.setAttribute("aria-selected", "true");
    if (line) this.element.setAttribute("aria-activedescendant", line.id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  /** Scroll the current line into its own box, and nothing else. */
  reveal() {
    const line = this.lines[this.at];
    if (!line) return;
    const box = this.element;
    const top = line.offsetTop; // within the box, which is positioned
    if (top < box.scrollTop) box.scrollTop = top - 8;
    else if (top + line.offsetHeight > box.scrollTop + box.clientHeight) {
      // A line that is higher than its box shows its beginning.
      box.scrollTop = Math.min(top - 8, top + line.offsetHeight - box.clientHeight + 8);
    }
  }

  focus() {
    this.element.focus({ preventScroll: true });
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    const line = event.target instanceof Element ? event.target.closest("[role=option]") : null;
    const index = line instanceof HTMLElement ? this.lines.indexOf(line) : -1;
    if (index < 0) return;
    this.go(index);
    this.options.pick?.(index);
  }
}
