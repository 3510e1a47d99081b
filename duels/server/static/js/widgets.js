// Components and texts that several pages use.

import { html, useEffect, useRef, useState } from './lib.js';

/**
 * A modal dialog. The browser keeps the focus inside and closes it on Escape.
 * @param {{ title: string, onClose: () => void, children?: unknown }} props
 */
export function Dialog({ title, onClose, children }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const before = document.activeElement;
    box.current?.showModal();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  return html`<dialog ref=${box} aria-labelledby="dialog-title" onClose=${onClose}
    onClick=${(/** @type {Event} */ event) => event.target === box.current && box.current?.close()}>
    <div class="dialog">
      <header><h2 id="dialog-title">${title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick=${() => box.current?.close()}>✕</button></header>
      ${children}
    </div>
  </dialog>`;
}

/** A text with a button that copies it. @param {{ label: string, text: string }} props */
export function Copy({ label, text }) {
  const [done, setDone] = useState('');
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const copy = async () => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(text);
      setDone('Copied');
    } catch {
      setDone('Press Ctrl+C to copy');
    }
  };
  return html`<div class="copy">
    <input ref=${field} aria-label=${label} readonly value=${text} onFocus=${(/** @type {FocusEvent} */ e) => /** @type {HTMLInputElement} */ (e.target).select()} />
    <button type="button" onClick=${copy}>Copy</button>
    ${typeof navigator.share === 'function' ? html`<button type="button" onClick=${() => navigator.share({ url: text }).catch(() => {})}>Share</button>` : null}
    <span role="status">${done}</span>
  </div>`;
}

/** A reason as a sentence: the server sends it without a capital and a full stop. @param {string} text */
export function sentence(text) {
  return text && text[0].toUpperCase() + text.slice(1) + (/[.!?…:]$/.test(text) ? '' : '.');
}

/** An error message, announced by screen readers. @param {{ children?: string }} props */
export function Trouble({ children = '' }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [children]);
  return html`<div class="trouble" role="alert" ref=${box}>${sentence(children)}</div>`;
}

/** @param {number} at seconds since 1970 */
export function when(at) {
  return new Date(1000 * at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

/** A name with isolated text direction, so that a right-to-left name does not reorder the text around it. @param {string} name */
export function apart(name) {
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(name) ? `\u2068${name}\u2069` : name;
}

/**
 * The name of the player in a seat.
 * @param {import('./protocol.js').Match} match
 * @param {import('./wire.js').Seat} seat
 */
export function seatName(match, seat) {
  const seated = match.seats[seat - 1];
  if (!seated) return `Player ${seat}`;
  return seated.kind === 'computer' ? `Computer (${seated.name})` : apart(seated.name);
}

/**
 * How a match ended, from the point of view of the player.
 * @param {import('./protocol.js').Match} match
 */
export function outcome(match) {
  if (match.state === 'closed') return 'not played';
  if (!match.result) return 'in progress';
  if (match.result.winner === null) return 'no winner';
  if (match.you) return match.result.winner === match.you ? 'you won' : 'you lost';
  return `${seatName(match, match.result.winner)} won`;
}

/** The fetched data, or the error message and the HTTP status. @template T @param {() => Promise<T>} ask @param {unknown[]} inputs */
export function useAsked(ask, inputs) {
  const [state, setState] = useState(/** @type {{ data: T | null, error: string, status?: number }} */ ({ data: null, error: '' }));
  const [again, setAgain] = useState(0);
  useEffect(() => {
    let wanted = true;
    ask().then(
      (data) => wanted && setState({ data, error: '' }),
      (error) => wanted && setState({ data: null, error: error.message, status: error.status }),
    );
    return () => { wanted = false; };
  }, [...inputs, again]);
  return { ...state, tries: again, refresh: () => setAgain((n) => n + 1) };
}
