// The page of the best ratings of each game, with those of computer players.

import { html, useEffect, useState } from './lib.js';
import { catalogue, get } from './api.js';
import { Trouble, apart, useAsked } from './widgets.js';

/** @typedef {import('./protocol.js').Rating} Rating */

export function RatingsPage() {
  const games = useAsked(() => catalogue(), []);
  const [slug, setSlug] = useState('');
  const shown = slug || games.data?.games[0]?.slug || '';
  const asked = useAsked(() => (shown ? get(`/api/ratings/${encodeURIComponent(shown)}`) : Promise.resolve(null)), [shown]);
  useEffect(() => { document.title = 'Ratings · Duels'; }, []);
  /** @type {Rating[]} */
  const ratings = asked.data?.ratings ?? [];
  return html`<main id="main" class="list" tabindex="-1">
    <h1>Ratings</h1>
    ${games.error || asked.error ? html`<${Trouble}>${games.error || asked.error}<//>` : null}
    <label class="field"><span>Game</span><select value=${shown} onChange=${(/** @type {Event} */ event) => setSlug(/** @type {HTMLSelectElement} */ (event.target).value)}>
      ${(games.data?.games ?? []).map((game) => html`<option key=${game.slug} value=${game.slug}>${game.title}</option>`)}
    </select></label>
    ${asked.data && !ratings.length ? html`<p>There are no ratings in this game yet.</p>` : null}
    <p>A finished match counts if it was played with the default rules, without hints and without moves taken back, and ended before the turn limit.</p>
    ${ratings.length ? html`<div class="wide" role="region" aria-label="Ratings" tabindex="0"><table>
      <thead><tr><th scope="col">Place</th><th scope="col">Player</th><th scope="col">Rating</th><th scope="col">Deviation</th><th scope="col">Matches</th></tr></thead>
      <tbody>${ratings.map((one, n) => html`<tr key=${one.player.id}><td>${n + 1}</td>
        <td class="who">${apart(one.player.name)}${one.player.kind === 'computer' ? ' (computer)' : ''}</td><td>${Math.round(one.rating)}</td><td>${Math.round(one.deviation)}</td><td>${one.matches}</td></tr>`)}</tbody>
    </table></div>` : null}
  </main>`;
}
