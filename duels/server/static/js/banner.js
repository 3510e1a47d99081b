// The last event in large type, and how long it stays before the next one is shown.

import { html } from './lib.js';

/** @typedef {import('./wire.js').Caption} Caption */
/** @typedef {import('./wire.js').Entry} Entry */
/** @typedef {import('./wire.js').Seat} Seat */

/**
 * The caption of the last important event, with what followed it.
 * @param {Caption[]} captions
 * @returns {{ number: number, text: string, detail: string, favours: Seat | null } | null}
 */
export function headline(captions) {
  let at = captions.length - 1;
  while (at > 0 && captions[at].minor) at -= 1;
  const main = captions[at];
  if (!main) return null;
  const later = captions.slice(at + 1).at(-1);
  const detail = [main.detail, later?.text].filter(Boolean).join('. ');
  return { number: main.number, text: main.text, detail, favours: main.favours };
}

/** How an event is for a viewer. @param {Seat | null} favours @param {Seat | null} you */
export function fortune(favours, you) {
  return favours === null || you === null ? '' : favours === you ? 'good' : 'bad';
}

/**
 * @param {{ captions: Caption[], you: Seat | null, start: string }} props `start`: the text before the first event
 */
export function Banner({ captions, you, start }) {
  const found = headline(captions);
  return html`<div class="banner" role="status" aria-live="polite" aria-atomic="true">
    <p key=${found?.number ?? -1} class=${`event ${found ? fortune(found.favours, you) : ''}`}>${found?.text ?? start}</p>
    <p class="detail">${found?.detail ?? ''}</p>
  </div>`;
}

/**
 * A queue that delays messages while a die or a card that was turned up rests on the table.
 * @template T
 */
export class Pace {
  /** @param {(message: T) => void} show */
  constructor(show) {
    this.show = show;
    /** @type {T[]} */
    this.waiting = [];
    this.until = 0;
    this.timer = 0;
  }

  /** @param {T} message */
  add(message) {
    this.waiting.push(message);
    this.next();
  }

  /** Show nothing further for some milliseconds. @param {number} milliseconds */
  rest(milliseconds) {
    this.until = Date.now() + milliseconds;
  }

  next() {
    clearTimeout(this.timer);
    while (this.waiting.length) {
      const left = this.until - Date.now();
      if (left > 0 && document.visibilityState === 'visible') {
        this.timer = setTimeout(() => this.next(), left);
        return;
      }
      this.show(/** @type {T} */ (this.waiting.shift()));
    }
  }

  /** Show all at once. */
  flush() {
    this.until = 0;
    this.next();
  }
}
