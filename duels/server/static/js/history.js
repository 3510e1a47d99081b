// The page of the player's finished matches.

import { html, useEffect, useState } from './lib.js';
import { get } from './api.js';
import { Trouble, outcome, seatName, useAsked, when } from './widgets.js';

/** @typedef {import('./protocol.js').Match} Match */

export function HistoryPage() {
  const [before, setBefore] = useState(/** @type {number | null} */ (null));
  const [matches, setMatches] = useState(/** @type {Match[]} */ ([]));
  const asked = useAsked(() => get(`/api/me/history${before === null ? '' : `?before=${before}`}`), [before]);
  useEffect(() => { document.title = 'History · Duels'; }, []);
  useEffect(() => {
    if (asked.data) setMatches((old) => [...old, ...asked.data.matches.filter((/** @type {Match} */ one) => !old.some((known) => known.id === one.id))]);
  }, [asked.data]);
  const oldest = matches.at(-1);
  return html`<main id="main" class="list" tabindex="-1">
    <h1>Your finished matches</h1>
    ${asked.error ? html`<${Trouble}>${asked.error}<//>` : null}
    ${asked.data && !matches.length ? html`<p>None yet. <a href="/">Play one</a>.</p>` : null}
    ${matches.length ? html`<div class="wide" role="region" aria-label="Matches" tabindex="0"><table>
      <thead><tr><th scope="col">Game</th><th scope="col">Against</th><th scope="col">Result</th><th scope="col">When</th></tr></thead>
      <tbody>${matches.map((match) => html`<tr key=${match.id}>
        <td><a href=${`/match/${match.id}/replay`} aria-label=${`Replay of ${match.game.title}, ${match.ended ? when(match.ended) : ''}`}>${match.game.title}</a></td><td class="who">${match.you ? seatName(match, /** @type {1 | 2} */ (3 - match.you)) : ''}</td>
        <td>${outcome(match)}</td><td>${match.ended ? when(match.ended) : ''}</td></tr>`)}</tbody>
    </table></div>` : null}
    ${asked.data?.more && oldest ? html`<button type="button" onClick=${() => setBefore(oldest.ended)}>Show older matches</button>` : null}
  </main>`;
}
