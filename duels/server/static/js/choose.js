// The row below the table: the question, buttons for its answers, and a text field.

import { html, useRef, useState } from './lib.js';
import { asked, clickWord, finish } from './choosing.js';
import { sentence } from './widgets.js';

/** @typedef {import('./wire.js').View} View */
/** @typedef {import('./wire.js').Step} Step */
/** @typedef {import('./choosing.js').Choosing} Choosing */
/**
 * @typedef {object} Props
 * @property {View} view
 * @property {Choosing} choosing
 * @property {boolean} busy a move was sent and not yet answered
 * @property {string} note an error message or a hint
 * @property {boolean} hints whether hints are available
 * @property {string} waiting text while it is not the player's turn
 * @property {(chosen: import('./choosing.js').Chosen) => void} onChosen
 * @property {(back: string[]) => void} onBack
 * @property {(text: string, soFar: string) => Promise<boolean>} onTyped
 */

/** @param {Props} props */
export function Choose({ view, choosing, busy, note, hints, waiting, onChosen, onBack, onTyped }) {
  const tree = view.choice;
  const now = asked(tree, choosing);
  const step = now?.step;
  const onTable = new Set(step ? choicesOnTable(view) : []);
  const words = step ? [...step.choices.keys()].filter((n) => !onTable.has(step.choices[n])) : [];
  const refused = step ? Object.keys(step.refused).filter((word) => !onTable.has(word) && !/^\d+$/.test(word)) : [];
  const said = choosing.words.join(' ');
  return html`<section class="choose" aria-label="Your move">
    <p class="prompt" role="status">${step ? html`<strong>${step.question || step.prompt}</strong>` : waiting}</p>
    ${step && tree ? html`<div class="words" role="group" aria-label="Choices">
      ${words.map((n) => html`<button type="button" key=${`${said} ${n}`} class="word" disabled=${busy}
        aria-pressed=${step.many ? String(choosing.picked.some((one) => one.key === `word:${n}`)) : undefined}
        onClick=${() => onChosen(clickWord(tree, choosing, `word:${n}`, step.choices[n]))}>${step.choices[n]}</button>`)}
      ${refused.map((word) => html`<button type="button" key=${word} class="word refused" disabled=${busy} aria-disabled="true"
        onClick=${() => onChosen(clickWord(tree, choosing, word, word))}>${word}</button>`)}
      ${step.many ? html`<button type="button" class="word main" disabled=${busy || !choosing.picked.length}
        onClick=${() => onChosen(finish(tree, choosing))}>${said || 'Play'} ${choosing.picked.map((one) => one.word).join(' ')}</button>` : null}
      ${choosing.words.length ? html`<button type="button" class="plain" onClick=${() => onBack(choosing.words.slice(0, -1))}>Back</button>` : null}
    </div>` : null}
    <${Typing} soFar=${said} hint=${`${step ? 'type a move, or: ' : 'type: '}${step && hints ? 'hint, ' : ''}undo, resign, ?`} onTyped=${onTyped} />
    <p class="note" role="alert">${sentence(choosing.note || note)}</p>
  </section>`;
}

/** The answers that the viewer's cards and tokens represent. @param {View} view */
function choicesOnTable(view) {
  return view.table.flatMap((part) => {
    const items = part.type === 'tokens' ? part.items : part.type === 'hand' ? part.cards : [];
    return items.map((item) => item.choice).filter(Boolean);
  });
}

/** @param {{ soFar: string, hint: string, onTyped: Props['onTyped'] }} props */
function Typing({ soFar, hint, onTyped }) {
  const [text, setText] = useState('');
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (text.trim() && await onTyped(text.trim(), soFar)) setText('');
    else field.current?.select();
  };
  return html`<form class="typing" onSubmit=${submit}>
    <label for="typed">${soFar ? html`<span class="so-far">${soFar}</span>` : '›'}<span class="unseen"> type a move</span></label>
    <input id="typed" ref=${field} value=${text} placeholder=${hint} autocomplete="off" autocapitalize="off" spellcheck=${false} maxlength="200"
      onInput=${(/** @type {InputEvent} */ event) => setText(/** @type {HTMLInputElement} */ (event.target).value)} />
    <button type="submit">Enter</button>
  </form>`;
}
