// A row of numbered buttons, one of which is chosen.
import { h } from "./dom.js";

/**
 * @param {object} options
 * @param {string} options.label
 * @param {number} options.from
 * @param {number} options.to
 * @param {number | null} options.value
 * @param {boolean} options.active  Whether keys go here.
 * @param {[string, string]} options.ends  What the ends mean.
 * @param {(value: number) => void} options.choose
 * @param {boolean} [options.disabled]
 */
export function scale({ label, from, to, value, active, ends, choose, disabled = false }) {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  return h("fieldset", { class: active ? "scale active" : "scale", disabled },
    h("legend", null, label, active ? h("span", { class: "faint" }, " (keys go here)") : null),
    h("div", { class: "scale-row" },
      h("div", { class: "scale-buttons" },
        numbers.map((number) =>
          h("button", { type: "button", "aria-pressed": String(value === number), onclick: () => choose(number) }, number))),
      h("p", { class: "scale-ends faint" }, h("span", null, ends[0]), h("span", null, ends[1]))));
}
