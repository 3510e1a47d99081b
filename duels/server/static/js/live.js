// The page of matches that are played now, by players who met by an open challenge.

import { html, useEffect } from './lib.js';
import { get } from './api.js';
import { Trouble, seatName, useAsked } from './widgets.js';

/** @typedef {import('./protocol.js').Match} Match */

const EVERY = 5000; // milliseconds

export function LivePage() {
  const asked = useAsked(() => get('/api/live'), []);
  useEffect(() => {
    document.title = 'Live games · Duels';
    const timer = setInterval(() => document.visibilityState === 'visible' && asked.refresh(), EVERY);
    return () => clearInterval(timer);
  }, []);
  /** @type {Match[]} */
  const matches = asked.data?.matches ?? [];
  return html`<main id="main" class="list" tabindex="-1"><h1>Live games</h1>
    ${asked.error ? html`<${Trouble}>${asked.error}<//>` : null}
    <p>Matches of players who met by an open challenge. A match with a friend is watched by its link.</p>
    ${asked.data && !matches.length ? html`<p role="status">No such match is being played.</p>` : null}
    <ul class="matches">${matches.map((match) => html`<li key=${match.id}><a href=${`/match/${match.id}`}><b>${match.game.title}</b>
      <span>${seatName(match, 1)} against ${seatName(match, 2)}</span> <em>${match.you ? 'your match' : 'watch'}</em></a></li>`)}</ul>
  </main>`;
}
