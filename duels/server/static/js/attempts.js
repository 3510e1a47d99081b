// Choosing in a position whose values are known: puzzles and mistakes to retry.

import { html, useState } from './lib.js';
import { share, percent } from './values.js';
import { Worths, whyMix } from './worths.js';

/** @typedef {import('./protocol.js').Choice} Choice */

export const TRIES = 2;

/** What a move gives away, in words. @param {Choice} choice @param {string} move @param {string} [unit] */
function loss(choice, move, unit) {
  const worth = (/** @type {string} */ name) => choice.moves[name]?.value ?? null;
  const values = Object.keys(choice.moves).map(worth).filter((value) => value !== null);
  const own = worth(move);
  if (own === null || !values.length) return 'There is a better move.';
  const best = choice.player === 1 ? Math.max(...values) : Math.min(...values);
  if (unit) return `${move} gives away ${Math.abs(best - own).toFixed(2)}.`;
  return `${move} gives away ${percent(share({ value: Math.abs(best - own) }, 1))}.`;
}

/**
 * The question, the moves to choose from, and after the last try what each is worth.
 * @param {{ choice: Choice, answer: string[], any?: boolean, unit?: string, onDone: (tries: number) => void }} props
 *   any: one of the moves of the answer is enough
 *   onDone: with the number of the try that was right, 0 if none was
 */
export function Attempt({ choice, answer, any = false, unit, onDone }) {
  const [picked, setPicked] = useState(/** @type {string[]} */ ([]));
  const [tried, setTried] = useState(/** @type {string[][]} */ ([]));
  const [done, setDone] = useState(/** @type {number | null} */ (null));
  const several = answer.length > 1 && !any;
  const judge = (/** @type {string[]} */ moves) => {
    const right = moves.length === (several ? answer.length : 1) && moves.every((move) => answer.includes(move));
    const all = [...tried, moves];
    setTried(all);
    setPicked([]);
    if (right || all.length === TRIES) {
      setDone(right ? all.length : 0);
      onDone(right ? all.length : 0);
    }
  };
  const pick = (/** @type {string} */ move) => {
    if (!several) judge([move]);
    else setPicked((old) => (old.includes(move) ? old.filter((one) => one !== move) : old.length < answer.length ? [...old, move] : old));
  };
  const last = tried.at(-1) ?? [];
  const said = last.length === 0 ? '' : several
    ? `${last.filter((move) => answer.includes(move)).length} of ${answer.length} are right.` : loss(choice, last[0], unit);
  const told = done === null ? said && `${said} One more try.`
    : done ? (several ? 'Correct: perfect play mixes exactly these moves.' : answer.length > 1 ? 'Correct: no move is better.' : 'Correct: no other move is as good.')
    : `${said} ${several ? `Perfect play mixes ${answer.join(', ')}.` : `${answer.join(' or ')} is best.`}`;
  return html`<section class="attempt" aria-label="Your choice">
    ${done === null ? html`<div class="choices" role="group" aria-label="Moves">${Object.keys(choice.moves).map((move) => html`<button type="button" key=${move} data-move=${move}
        aria-pressed=${several ? String(picked.includes(move)) : undefined} disabled=${!several && tried.some(([one]) => one === move)} onClick=${() => pick(move)}>${move}</button>`)}</div>
      ${several ? html`<p class="buttons"><button type="button" class="main" disabled=${picked.length !== answer.length} onClick=${() => judge(picked)}>Check ${picked.length} of ${answer.length}</button></p>` : null}` : null}
    <p class=${`told ${done ? 'right' : tried.length ? 'wrong' : ''}`} role="status">${told}</p>
    ${done === null ? null : html`<${Worths} unit=${unit} choice=${choice} picked=${last} /><p class="caveat">${whyMix(choice)}</p>`}
  </section>`;
}
