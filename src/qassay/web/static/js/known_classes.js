// The known answers of a list question beside its lists: they grow while judging, and are renamed and merged here.
import { ApiError, freshKey, get, post } from "./api.js";
import { fill, h } from "./dom.js";
import { classChooser } from "./class_chooser.js";
import { documentsOf } from "./known_answers.js";
import { documentNames } from "./titles.js";

/** @typedef {import("./class_chooser.js").KnownClass} KnownClass */

export class KnownClasses {
  /**
   * @param {import("./workbench.js").Workbench} bench
   * @param {{changed: (message: string) => Promise<void>, left: () => void}} events
   *   `changed`: judgments are others now on the server; `left`: a dialog was closed, the focus wants a place.
   */
  constructor(bench, events) {
    this.bench = bench;
    this.events = events;
    /** @type {KnownClass[]} */
    this.classes = [];
    /** @type {{key: string, steps: number}[]} Renamings, each with the number of decisions before it. */
    this.renamings = [];
    this.element = h("section", { class: "known-classes", "aria-label": "Known answers" });
  }

  /** Ask the server: question development's classes and the assessor's own. */
  async refresh() {
    const { assignment } = this.bench.sheet;
    try {
      await this.bench.outbox.emptied();
      const answer = await get(`/judge/${assignment}/classes`);
      if (assignment === this.bench.sheet.assignment) this.show(answer.classes);
    } catch (error) {
      this.bench.complain(`The known answers cannot be loaded. ${message(error)}`, () => void this.refresh());
    }
  }

  /** @param {KnownClass[]} classes */
  show(classes) {
    this.classes = classes;
    fill(
      this.element,
      h("h2", null, "Known answers ", h("span", { class: "badge" }, String(classes.length))),
      classes.length === 0 ? h("p", { class: "faint" }, "None yet: each correct answer that you accept is added here.") : null,
      classes.length ? h("ul", { class: "class-list", tabindex: "0", "aria-label": "Known answers" }, classes.map((known) => this.line(known))) : null,
    );
  }

  /**
   * Keep them current without asking: one item leaves a class, one joins one.
   * @param {string | null} left
   * @param {string | null} joined
   */
  count(left, joined) {
    const changed = this.classes.map((known) => ({
      ...known,
      items: known.items - Number(known.name === left) + Number(known.name === joined),
    }));
    if (joined !== null && !changed.some((known) => known.name === joined)) changed.push({ name: joined, developed: false, items: 1 });
    this.show(changed.filter((known) => known.developed || known.items > 0));
  }

  /** @param {KnownClass} known */
  line(known) {
    const documents = documentsOf(this.bench.sheet.known).get(known.name) ?? [];
    const button = () =>
      h(
        "button",
        { type: "button", class: "quiet small", "aria-label": `Rename or merge ${known.name}`, onclick: () => this.ask(known.name) },
        "Rename or merge",
      );
    return h(
      "li",
      null,
      h("span", { class: "class-name" }, h("bdi", null, known.name), documents.length ? h("small", { class: "faint" }, " ", documentNames(documents)) : null),
      known.developed ? h("span", { class: "badge accent", title: "Known from question development" }, "known") : button(),
    );
  }

  /** @param {string} name */
  ask(name) {
    const dialog = h("dialog", { "aria-labelledby": "rename-title" });
    const chooser = classChooser({
      label: "New name, or the answer that it is the same as",
      text: name,
      chosen: null,
      classes: this.classes.filter((known) => known.name !== name),
      fresh: "Rename to",
      known: "Merge into",
      choose: (after) => {
        dialog.close();
        if (after !== name) void this.send({ key: freshKey(), before: name, after });
      },
      cancel: () => dialog.close(),
    });
    dialog.append(
      h("h2", { id: "rename-title", class: "dialog-title" }, "Rename or merge ", h("bdi", null, `“${name}”`)),
      h("p", { class: "faint" }, "All your judgments of this question that name it will follow."),
      chooser.element,
      h("div", { class: "row end" }, h("button", { type: "button", onclick: () => dialog.close() }, "Cancel")),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      this.events.left();
    });
    document.body.append(dialog);
    dialog.showModal();
    chooser.focus();
  }

  /** @param {{key: string, before: string, after: string}} sent */
  async send(sent) {
    try {
      await this.bench.outbox.emptied();
      const answer = await post(`/judge/${this.bench.sheet.assignment}/classes/rename`, sent);
      this.renamings.push({ key: sent.key, steps: this.bench.steps.length });
      await this.follow(answer.classes, `${answer.changed} judgments changed.`);
    } catch (error) {
      const away = error instanceof ApiError && error.away;
      this.bench.complain(message(error), away ? () => void this.send(sent) : undefined);
      if (!away) void this.refresh();
    }
  }

  /**
   * Take the last renaming back, where nothing was decided since.
   * @returns {Promise<boolean>} Whether there was one.
   */
  async undo() {
    const last = this.renamings.at(-1);
    if (last === undefined || last.steps < this.bench.steps.length) return false;
    try {
      const sent = { key: freshKey(), of: last.key };
      const answer = await post(`/judge/${this.bench.sheet.assignment}/classes/undo`, sent);
      this.renamings.pop();
      await this.follow(answer.classes, "Undone.");
    } catch (error) {
      this.bench.complain(message(error));
    }
    return true;
  }

  /**
   * Judgments have changed on the server: whatever was fetched before is old.
   * @param {KnownClass[]} classes
   * @param {string} text
   */
  async follow(classes, text) {
    this.show(classes);
    this.bench.supply.clear();
    await this.events.changed(text);
  }
}

/** @param {unknown} error */
function message(error) {
  return error instanceof Error ? error.message : String(error);
}
