// An assessor's nugget list in the browser: changes show at once, go through the outbox, and the server's list follows.
import { get, post } from "./api.js";
import { Outbox } from "./outbox.js";
import { showState } from "./surroundings.js";

/**
 * @typedef {{nugget: string, text: string, vital: boolean, version: number, ordinal: number, linked: number}} Nugget
 * @typedef {{nuggets: Nugget[], step: number, looked_through: number, done: number, total: number, closed: boolean}} ListView
 * @typedef {object} ListEvents
 * @property {() => void} changed  The list is another one now.
 * @property {(message: string) => void} complain  Something cannot be done.
 * @property {(message: string, letter: import("./outbox.js").PendingSave) => void} refused
 */

export class NuggetList {
  /**
   * @param {number} assignment
   * @param {number} account
   * @param {ListEvents} events
   */
  constructor(assignment, account, events) {
    this.path = `/judge/${assignment}`;
    this.events = events;
    /** @type {Nugget[]} A nugget that is still on its way has no id. */
    this.nuggets = [];
    this.lookedThrough = 0;
    this.step = 1;
    // Undoing changes versions in ways that only the server knows: nothing is changed until it has answered.
    this.unsure = false;
    /** @type {string[]} The keys of the changes made here, for undoing them. */
    this.keys = [];
    this.outbox = new Outbox(String(account), {
      state: showState,
      delivered: (letter, answer) => {
        if (this.isOurs(letter) && answer?.nuggets && !this.waiting()) this.take(answer);
      },
      refused: (letter, _, answer) => {
        if (!this.isOurs(letter)) return false;
        this.keys = this.keys.filter((key) => key !== letter.key);
        this.events.refused(refusalInWords(answer), letter);
        this.load().catch(() => null); // the refusal is shown already
        return true;
      },
    });
  }

  /** Fetch the list, which begins as a copy of the one from question development; first send what waits. */
  async load() {
    void this.outbox.send();
    this.outbox.tell();
    const view = await post(`${this.path}/nuggets/begin`);
    if (!this.waiting()) this.take(view);
  }

  /** @param {ListView} view */
  take(view) {
    this.nuggets = view.nuggets;
    this.lookedThrough = view.looked_through;
    this.step = view.step;
    this.unsure = false;
    this.events.changed();
  }

  /** @param {{url: string}} letter */
  isOurs(letter) {
    return letter.url.startsWith(`/api${this.path}/nuggets/`);
  }

  waiting() {
    return this.outbox.letters().some((letter) => this.isOurs(letter));
  }

  /**
   * Send a change. `here` shows it at once.
   * @param {string} way
   * @param {Record<string, unknown>} body
   * @param {() => void} [here]
   */
  send(way, body, here) {
    here?.();
    const key = this.outbox.post(`/api${this.path}/nuggets/${way}`, body);
    if (way !== "undo") this.keys.push(key);
    this.events.changed();
  }

  /**
   * @param {string} text
   * @param {boolean} vital
   * @param {string | null} again
   */
  add(text, vital, again) {
    this.send("add", { text, vital, again }, () => this.nuggets.push({ nugget: "", text, vital, version: 0, ordinal: 0, linked: 0 }));
  }

  /**
   * @param {Nugget} nugget
   * @param {string} text
   * @param {boolean} vital
   * @param {string | null} again
   */
  change(nugget, text, vital, again) {
    const body = { nugget: nugget.nugget, expected: nugget.version, text, vital, again };
    this.send("change", body, () => Object.assign(nugget, { text, vital, version: nugget.version + 1 }));
  }

  /**
   * @param {Nugget} nugget
   * @param {string | null} again
   */
  remove(nugget, again) {
    const body = { nugget: nugget.nugget, expected: nugget.version, again };
    this.send("remove", body, () => (this.nuggets = this.nuggets.filter((other) => other !== nugget)));
  }

  /**
   * @param {Nugget} nugget
   * @param {[string, string]} texts
   * @param {string | null} again
   */
  split(nugget, texts, again) {
    this.send("split", { nugget: nugget.nugget, expected: nugget.version, texts, again }, () => {
      Object.assign(nugget, { text: texts[0], version: nugget.version + 1 });
      const second = { nugget: "", text: texts[1], vital: nugget.vital, version: 0, ordinal: 0, linked: 0 };
      this.nuggets.splice(this.nuggets.indexOf(nugget) + 1, 0, second);
      this.renumber();
    });
  }

  /**
   * @param {Nugget} nugget
   * @param {Nugget} other
   * @param {string} text
   * @param {string | null} again
   */
  merge(nugget, other, text, again) {
    const pair = { nugget: nugget.nugget, expected: nugget.version, other: other.nugget, other_expected: other.version };
    this.send("merge", { ...pair, text, again }, () => {
      Object.assign(nugget, { text, vital: nugget.vital || other.vital, version: nugget.version + 1 });
      this.nuggets = this.nuggets.filter((two) => two !== other);
    });
  }

  /**
   * Put a nugget at another place: before the one that is there now, or at the end.
   * @param {Nugget} nugget
   * @param {number} place
   */
  move(nugget, place) {
    const rest = this.nuggets.filter((other) => other !== nugget);
    const before = rest[place]?.nugget ?? null;
    this.send("move", { nugget: nugget.nugget, expected: nugget.version, before }, () => {
      rest.splice(place, 0, nugget);
      this.nuggets = rest;
      this.renumber();
    });
  }

  /** What the server does when the order changes: whatever moves gets the next version. */
  renumber() {
    this.nuggets.forEach((nugget, index) => {
      if (nugget.ordinal !== index + 1) Object.assign(nugget, { ordinal: index + 1, version: nugget.version + 1 });
    });
  }

  /** Undo the last change made here; the history keeps both. */
  undo() {
    const of = this.keys.pop();
    if (of === undefined) return false;
    this.unsure = true;
    this.send("undo", { of });
    return true;
  }

  /** Go on to step 2, once everything is saved. */
  async goOn() {
    await this.outbox.emptied();
    await post(`${this.path}/matching`);
    location.assign(`${this.path}?stage=matches`);
  }
}

/**
 * The list of an assignment, to match with.
 * @param {number} assignment
 * @returns {Promise<ListView>}
 */
export function fetchList(assignment) {
  return get(`/judge/${assignment}/nuggets`);
}

/**
 * @param {any} answer
 */
function refusalInWords(answer) {
  const current = answer?.standing ? ` It says now: “${answer.standing.text}”.` : "";
  const message = answer?.message ?? "The server refused a change";
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.${current}`;
}
