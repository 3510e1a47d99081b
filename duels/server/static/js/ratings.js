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
  const all = asked.data?.ratings ?? [];
  const most = asked.data?.established ?? 0;
  const ratings = all.filter((one) => one.deviation <= most);
  const others = all.filter((one) => one.deviation > most);
  return html`<main id="main" class="list" tabindex="-1">
    <h1>Ratings</h1>
    ${games.error || asked.error ? html`<${Trouble}>${games.error || asked.error}<//>` : null}
    <label class="field"><span>Game</span><select value=${shown} onChange=${(/** @type {Event} */ event) => setSlug(/** @type {HTMLSelectElement} */ (event.target).value)}>
      ${(games.data?.games ?? []).map((game) => html`<option key=${game.slug} value=${game.slug}>${game.title}</option>`)}
    </select></label>
    ${asked.data && !all.length ? html`<p>There are no ratings in this game yet.</p>` : null}
    <p>A finished match counts if it was played with the default rules, without hints and without moves taken back, and ended before the turn limit.</p>
    ${ratings.length ? html`<${List} label="Ratings" ratings=${ratings} placed=${true} />` : null}
    ${others.length ? html`<h2>Not certain yet</h2><p>A player has a place once the deviation is at most ${most}, after some rated matches.</p>
      <${List} label="Ratings that are not certain yet" ratings=${others} placed=${false} />` : null}
  </main>`;
}

/** @param {{ label: string, ratings: Rating[], placed: boolean }} props */
function List({ label, ratings, placed }) {
  return html`<div class="wide" role="region" aria-label=${label} tabindex="0"><table>
      <thead><tr>${placed ? html`<th scope="col">Place</th>` : null}<th scope="col">Player</th><th scope="col">Rating</th><th scope="col">Deviation</th><th scope="col">Matches</th></tr></thead>
      <tbody>${ratings.map((one, n) => html`<tr key=${one.player.id}>${placed ? html`<td>${n + 1}</td>` : null}
        <td class="who">${apart(one.player.name)}${one.player.kind === 'computer' ? ' (computer)' : ''}</td><td>${Math.round(one.rating)}</td><td>${Math.round(one.deviation)}</td><td>${one.matches}</td></tr>`)}</tbody>
    </table></div>`;
}
