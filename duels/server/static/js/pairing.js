// Quick pairing: join an open challenge in a game, or open one.

import { html, useState } from './lib.js';
import { post } from './api.js';
import { go } from './router.js';
import { newId } from './store.js';

/** @typedef {import('./protocol.js').Game} Game */
/** @typedef {import('./protocol.js').Match} Match */

/** Whether a challenge is rated and without a clock. @param {Match} match @param {Game} game */
function plain(match, game) {
  return match.game.slug === game.slug && !match.time && !match.you && game.options.every(({ name, default: usual }) => name === 'first' || match.game.options[name] === usual);
}

/** Join the first challenge that fits, or open one of two games. @param {Game} game @param {Match[]} open @returns {Promise<string>} */
async function pair(game, open) {
  for (const match of open.filter((one) => plain(one, game))) {
    try {
      await post(`/api/matches/${match.id}/join`);
      return match.id;
    } catch { /* taken meanwhile: the next one */ }
  }
  const made = await post('/api/matches', { request: newId(), game: game.slug, opponent: 'friend', open: true, games: 2 });
  return made.id;
}

/** @param {{ games: Game[], open: Match[], onTrouble: (reason: string) => void }} props */
export function Pairing({ games, open, onTrouble }) {
  const [slug, setSlug] = useState('');
  const [busy, setBusy] = useState(false);
  const game = games.find((one) => one.slug === slug) ?? games[0];
  if (!game) return null;
  const find = async () => {
    setBusy(true);
    try {
      go(`/match/${await pair(game, open)}`);
    } catch (error) {
      onTrouble(/** @type {Error} */ (error).message);
      setBusy(false);
    }
  };
  return html`<p class="buttons pairing"><select aria-label="Game to play against any player" value=${game.slug} onChange=${(/** @type {Event} */ event) => setSlug(/** @type {HTMLSelectElement} */ (event.target).value)}>
      ${games.map((one) => html`<option key=${one.slug} value=${one.slug}>${one.title}</option>`)}</select>
    <button type="button" class="main" disabled=${busy} onClick=${find}>Find an opponent</button>
    <small>Two games with seats swapped, rated unless a move is taken back.</small></p>`;
}
