// The bar below the table: the question, buttons for its answers with their consequences, a text field.

import { html, useRef, useState } from './lib.js';
import { asked, clickWord, consequence, finish, inOrder } from './choosing.js';
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
 * @property {boolean} typing whether the text field is shown
 * @property {string} waiting text while it is not the player's turn
 * @property {(chosen: import('./choosing.js').Chosen) => void} onChosen
 * @property {(back: string[]) => void} onBack
 * @property {(text: string, soFar: string) => Promise<boolean>} onTyped
 * @property {() => void} onHide hide the text field
 */

/** @param {Props} props */
export function Choose({ view, choosing, busy, note, hints, typing, waiting, onChosen, onBack, onTyped, onHide }) {
  const tree = view.choice;
  const now = asked(tree, choosing);
  const step = now?.step;
  const onTable = new Set(step ? choicesOnTable(view) : []);
  const words = step ? [...step.choices.keys()].filter((n) => !onTable.has(step.choices[n])) : [];
  const refused = step ? Object.keys(step.refused).filter((word) => !onTable.has(word) && !/^\d+$/.test(word)) : [];
  const said = choosing.words.join(' ');
  const picked = choosing.picked.map((one) => one.word);
  const told = sentence(choosing.note || note);
  return html`<section class="choose" aria-label="Your move" tabindex="-1">
    <p class="prompt" role="status">${step ? html`<strong>${step.brief || step.question || step.prompt}</strong>` : waiting}</p>
    <div class="words" role="group" aria-label="Choices">${step && tree ? html`${words.map((n) => html`<button type="button" key=${`${said} ${n}`} class="word" data-word=${step.choices[n]} aria-disabled=${busy ? 'true' : undefined}
        aria-pressed=${step.many ? String(choosing.picked.some((one) => one.key === `word:${n}`)) : undefined}
        onClick=${() => !busy && onChosen(clickWord(tree, choosing, `word:${n}`, step.choices[n]))}><b>${step.choices[n]}</b>${effect(consequence(now, choosing, step.choices[n]), picked.length ? ' → ' : undefined)}</button>`)}
      ${refused.map((word) => html`<button type="button" key=${word} class="word refused" data-word=${word} aria-disabled="true"
        onClick=${() => !busy && onChosen(clickWord(tree, choosing, word, word))}><b>${word}</b></button>`)}
      ${step.many ? html`<button type="button" class="word main finish" aria-disabled=${busy || !picked.length ? 'true' : undefined}
        onClick=${() => !busy && onChosen(finish(tree, choosing))}><b>${said || 'Play'} ${inOrder(step, picked).join(' ')}</b>${effect(step.effects[inOrder(step, picked).join(' ')], ' → ')}</button>` : null}
      ${choosing.words.length ? html`<button type="button" class="plain back" onClick=${() => onBack(choosing.words.slice(0, -1))}>Back</button>` : null}` : null}</div>
    ${typing ? html`<${Typing} soFar=${said} hint=${`${step ? 'type a move, or: ' : 'type: '}${step && hints ? 'hint, ' : ''}undo, resign, ?`} onTyped=${onTyped} onHide=${onHide} />` : null}
    <p class="note" role="alert">${told}</p>
  </section>`;
}

/** The consequence of a choice. @param {string | undefined} words @param {string} [before] */
function effect(words, before = words && /^\d/.test(words) ? ' ' : ': ') {
  return words ? html`<span class="effect">${before}${words}</span>` : null;
}

/** The answers that the viewer's cards and tokens represent. @param {View} view */
function choicesOnTable(view) {
  return view.table.flatMap((part) => {
    const items = part.type === 'tokens' ? part.items : part.type === 'hand' ? part.cards : [];
    return items.map((item) => item.choice).filter(Boolean);
  });
}

/** @param {{ soFar: string, hint: string, onTyped: Props['onTyped'], onHide: () => void }} props */
function Typing({ soFar, hint, onTyped, onHide }) {
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
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === 'Escape' && onHide()}
      onInput=${(/** @type {InputEvent} */ event) => setText(/** @type {HTMLInputElement} */ (event.target).value)} />
    <button type="submit">Enter</button>
  </form>`;
}
