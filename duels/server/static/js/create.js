// The form for a new match: opponent, seat, clock and options.

import { html, useState } from './lib.js';
import { get } from './api.js';
import { Rules } from './rules.js';
import { Trouble, useAsked } from './widgets.js';

/** @typedef {import('./protocol.js').Game} Game */
/** @typedef {import('./protocol.js').Option} Option */

/**
 * @param {{ game: Game, levels: import('./protocol.js').Level[],
 *   trouble: string, onStart: (wanted: Record<string, unknown>) => void }} props `trouble`: the reason of a refusal
 */
export function Create({ game, levels, trouble, onStart }) {
  const usual = Object.fromEntries(game.options.map((option) => [option.name, option.default]));
  const [options, setOptions] = useState(usual);
  const [opponent, setOpponent] = useState('friend');
  const [seat, setSeat] = useState('random');
  const [time, setTime] = useState('none');
  const [games, setGames] = useState('');
  const set = (/** @type {string} */ name) => (/** @type {string} */ value) => setOptions((old) => ({ ...old, [name]: value }));
  const changed = Object.fromEntries(Object.entries(options).filter(([name, value]) => value.trim() !== '' && value !== usual[name]));
  // Which levels can play depends on the options.
  const query = new URLSearchParams(changed).toString();
  const asked = useAsked(() => get(`/api/games/${encodeURIComponent(game.slug)}/rules?${query}`), [query]);
  const able = /** @type {string[]} */ (asked.data?.levels ?? game.levels);
  const fit = levels.filter((level) => able.includes(level.name));
  const chosen = ['friend', 'open'].includes(opponent) || able.includes(opponent) ? opponent : 'friend';
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    onStart({
      game: game.slug, options: changed, opponent: chosen === 'open' ? 'friend' : chosen,
      open: chosen === 'open', seat: seat === 'random' ? seat : Number(seat), time: TIMES[time]?.time ?? null,
      games: Number(games || (chosen === 'open' ? 2 : 1)),
    });
  };
  return html`<form class="create" onSubmit=${submit}>
    <${Select} label="Opponent" value=${chosen} onValue=${setOpponent} choices=${[
      ['friend', 'a friend, by link'], ['open', 'any player: an open challenge'],
      ...fit.map((level) => [level.name, `computer, ${level.name}: ${level.about}`])]} />
    <${Select} label="Your seat" value=${seat} onValue=${setSeat} choices=${[['random', 'either, at random'], ['1', 'Player 1'], ['2', 'Player 2']]} />
    <${Select} label="Games" value=${games || (chosen === 'open' ? '2' : '1')} onValue=${setGames} choices=${[['1', 'one'], ['2', 'two, with seats swapped for the second']]} />
    <${Select} label="Clock" value=${time} onValue=${setTime} choices=${Object.entries(TIMES).map(([name, { words }]) => [name, words])} />
    <fieldset><legend>Options of the game</legend>
      ${game.options.map((option) => html`<${OptionField} key=${option.name} option=${option} value=${options[option.name]} onValue=${set(option.name)} />`)}
    </fieldset>
    ${trouble ? html`<${Trouble}>${trouble}<//>` : null}
    <p class="buttons"><button type="submit" class="main">Create</button></p>
    <details><summary>Rules of ${game.title}</summary><${Rules} game=${{ slug: game.slug, options: usual }} /></details>
  </form>`;
}

/** @type {Record<string, { words: string, time: import('./protocol.js').Time | null }>} */
const TIMES = {
  none: { words: 'no clock', time: null },
  fast: { words: '10 seconds for each choice', time: { limit: 10, budget: null, increment: 0 } },
  usual: { words: '30 seconds for each choice', time: { limit: 30, budget: null, increment: 0 } },
  short: { words: '2 minutes in all, 2 seconds more for each choice', time: { limit: null, budget: 120, increment: 2 } },
  long: { words: '10 minutes in all', time: { limit: null, budget: 600, increment: 0 } },
};

/**
 * @param {{ label: string, value: string, choices: string[][], onValue: (value: string) => void }} props
 */
function Select({ label, value, choices, onValue }) {
  return html`<label class="field"><span>${label}</span>
    <select value=${value} onChange=${(/** @type {Event} */ event) => onValue(/** @type {HTMLSelectElement} */ (event.target).value)}>
      ${choices.map(([name, words]) => html`<option key=${name} value=${name}>${words}</option>`)}
    </select></label>`;
}

/** @param {{ option: Option, value: string, fixed?: boolean, onValue: (value: string) => void }} props `fixed`: nothing is random */
export function OptionField({ option, value, fixed = false, onValue }) {
  const words = option.kind === 'flag' ? ['no', 'yes'] : option.words;
  const label = `${option.name}: ${option.about}`;
  if (option.kind === 'first') {
    return html`<${Select} label=${label} value=${value} onValue=${onValue} choices=${[['1', 'Player 1'], ['2', 'Player 2'], ['random', 'either, at random']].slice(0, fixed ? 2 : 3)} />`;
  }
  if (words) return html`<${Select} label=${label} value=${value} onValue=${onValue} choices=${words.map((word) => [word, word])} />`;
  const number = option.kind === 'number';
  return html`<label class="field"><span>${label}</span>
    <input value=${value} required type=${number ? 'number' : 'text'} min=${number ? option.low : undefined} max=${number ? option.high : undefined}
      title=${option.expects} pattern=${number ? undefined : '[0-9]+(/[0-9]+)?'}
      onInput=${(/** @type {Event} */ event) => onValue(/** @type {HTMLInputElement} */ (event.target).value)} /></label>`;
}
