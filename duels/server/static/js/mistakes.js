// Learn from mistakes: each mistake of a player in a finished match, to be tried again.

import { html, useEffect, useState } from './lib.js';
import { Attempt } from './attempts.js';
import { get } from './api.js';
import { explored, given, mistakes } from './graded.js';
import { addStyle } from './styles.js';
import { Table } from './table.js';
import { dress, themeOf, themes } from './themes.js';
import { Trouble, seatName, useAsked } from './widgets.js';

/** @typedef {import('./protocol.js').Match} Match */
/** @typedef {import('./protocol.js').Analysis} Analysis */
/** @typedef {import('./protocol.js').ReplayStep} ReplayStep */
/** @typedef {import('./protocol.js').GradedMove} GradedMove */
/** @typedef {import('./wire.js').Seat} Seat */
/** @typedef {import('./wire.js').Part} Part */

/** @param {{ id: string }} props */
export function MistakesPage({ id }) {
  const at = `/api/matches/${encodeURIComponent(id)}`;
  const asked = useAsked(() => Promise.all([get(at), get(`${at}/replay`), get(`${at}/analysis`), themes()]), [id]);
  useEffect(() => {
    addStyle('explore.css');
    addStyle('study.css');
    document.title = 'Learn from mistakes · Duels';
  }, []);
  const title = html`<h1>Learn from mistakes</h1>`;
  if (asked.error) return html`<main id="main" class="list" tabindex="-1">${title}<${Trouble}>${asked.error}<//><p><a href="/">All games</a></p></main>`;
  if (!asked.data) return html`<main id="main" class="list" tabindex="-1">${title}<p role="status">…</p></main>`;
  const [match, { steps }, analysis, looks] = asked.data;
  const theme = themeOf(looks, match.game.slug);
  if (theme.styled) dress(match.game.slug);
  /** @type {Seat} */
  const seat = match.you ?? (new URLSearchParams(location.search).get('seat') === '2' ? 2 : 1);
  return html`<main id="main" class="list" style=${{ '--hue': theme.hue }} data-game=${match.game.slug} tabindex="-1">${title}
    <${Retries} match=${match} steps=${steps} analysis=${analysis} seat=${seat} wrong=${mistakes(analysis, seat)} />
    <p class="buttons"><a class="button" href=${`/match/${id}/replay`}>Replay and analysis</a> <a class="button" href=${`/match/${id}`}>Go to the match</a></p>
  </main>`;
}

/** @param {{ match: Match, steps: ReplayStep[], analysis: Analysis, seat: Seat, wrong: GradedMove[] }} props */
function Retries({ match, steps, analysis, seat, wrong }) {
  const [at, setAt] = useState(0);
  const [done, setDone] = useState(0);
  const move = wrong[at];
  if (!move) return html`<p role="status">${wrong.length ? `All ${wrong.length} looked at.` : `${seatName(match, seat)} made no mistake in this match.`}</p>`;
  const step = steps[move.entry - 1];
  const events = steps.slice(1, move.entry).flatMap((one) => (one.event ? [one.event] : []));
  const nameOf = (/** @type {Seat} */ one) => seatName(match, one);
  return html`<section class="room task" data-game=${match.game.slug} aria-label=${`Mistake ${at + 1} of ${wrong.length}`}>
    <h2>Mistake ${at + 1} of ${wrong.length}</h2>
    <p>At step ${move.entry}, ${match.you ? 'you' : nameOf(seat)} played <b>${move.move}</b> and gave away ${given(move, analysis)}. What is better?</p>
    <${Table} parts=${step.table.map((part) => sealedHand(part, seat))} you=${seat} toMove=${step.to_move} nameOf=${nameOf} faces=${{}} fresh=${false} />
    <${Retry} key=${at} address=${explored(match.game, events, '/api/value/')} seat=${seat} onDone=${() => setDone(at + 1)} />
    <p class="buttons"><button type="button" class=${done > at ? 'main' : ''} onClick=${() => setAt(at + 1)}>${done > at ? (at + 1 < wrong.length ? 'Next mistake' : 'Finish') : 'Skip'}</button></p>
  </section>`;
}

/** A part of the table as the player saw it: without the cards of the other. @param {Part} part @param {Seat} seat @returns {Part} */
function sealedHand(part, seat) {
  if (part.type !== 'hand' || part.owner === null || part.owner === seat) return part;
  return { ...part, cards: [], hidden: part.hidden + part.cards.length };
}

/** @param {{ address: string, seat: Seat, onDone: () => void }} props */
function Retry({ address, seat, onDone }) {
  const found = useAsked(() => (address ? get(address) : Promise.reject(new Error('A player ran out of time before this step, so it cannot be set up.'))), [address]);
  if (found.error) return html`<${Trouble}>${found.error}<//>`;
  if (!found.data) return html`<p role="status">…</p>`;
  /** @type {import('./protocol.js').Position} */
  const position = found.data;
  const choice = position.choices.find((one) => one.player === seat);
  if (!choice) return null;
  return html`<${Attempt} choice=${choice} answer=${Object.keys(choice.mix)} any=${true} unit=${position.unit} onDone=${onDone} />
    ${position.caveat ? html`<p class="caveat">${position.caveat}</p>` : null}`;
}
