// Keys of the match page: digits and first letters choose, arrows move between the choices, Enter completes
// a selection, Escape goes back, / shows the text field.

import { useEffect } from './lib.js';

const CHOICES = '.play button.item.now, .play button.item.ahead, .play .words button:not([aria-disabled=true])';

/** @param {string} selector @returns {HTMLButtonElement[]} */
const found = (selector) => [...document.querySelectorAll(selector)].filter((one) => one instanceof HTMLButtonElement);

/**
 * A digit: the card with this number. While a longer number begins with it, it is only focused; the next
 * digit or Enter decides.
 * @param {string} digit
 */
function digit(digit) {
  const cards = found('.play button.item.now, .play button.item.ahead');
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.choice : undefined;
  const longer = cards.find((card) => focused && card.dataset.choice === focused + digit);
  const choice = longer ? focused + digit : digit;
  const equal = cards.filter((card) => card.dataset.choice === choice);
  const card = equal.find((one) => one.getAttribute('aria-pressed') !== 'true') ?? equal[0];
  if (!card) return;
  card.focus();
  if (!cards.some((one) => one.dataset.choice !== choice && one.dataset.choice?.startsWith(choice))) card.click();
}

/** @param {string} letter */
function letter(letter) {
  const word = found('.play .words button[data-word]').find((one) => one.dataset.word?.startsWith(letter));
  word?.focus();
  word?.click();
}

/** @param {number} by */
function arrow(by) {
  const choices = found(CHOICES);
  const at = choices.findIndex((one) => one === document.activeElement);
  const next = at < 0 ? (by > 0 ? 0 : choices.length - 1) : (at + by + choices.length) % choices.length;
  choices[next]?.focus();
}

/** @type {Record<string, number>} */
const ARROWS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/** @param {{ onType: () => void, onBack: () => void }} props */
export function useShortcuts({ onType, onBack }) {
  useEffect(() => {
    const press = (/** @type {KeyboardEvent} */ event) => {
      const { key, target } = event;
      if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
      if (!(target instanceof Element) || target.closest('input, select, textarea, dialog, .log, .menu')) return;
      const active = document.activeElement;
      if (key === '/') onType();
      else if (/^\d$/.test(key)) digit(key);
      else if (/^[a-z]$/.test(key)) letter(key);
      else if (key in ARROWS && (active === document.body || active?.closest('.play, #main'))) arrow(ARROWS[key]);
      else if (key === 'Enter' && !(active instanceof HTMLButtonElement || active instanceof HTMLAnchorElement)) found('.play .finish').at(0)?.click();
      else if (key === 'Escape') onBack();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
}

/**
 * Keep the focus in the match: where the focused button is gone, the region of the choices gets it.
 * A layout effect, so that no key press is lost in between.
 * @param {{ current: boolean }} inside whether the focus was in the match
 */
export function restoreFocus(inside) {
  const active = document.activeElement;
  if (inside.current && (active === null || active === document.body)) {
    const place = document.querySelector('.play .choose');
    if (place instanceof HTMLElement) place.focus({ preventScroll: true });
  }
}
