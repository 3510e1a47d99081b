// Learn: three guided moves of a game, then its solution as charts and facts.

import { html, useEffect, useState } from './lib.js';
import { catalogue, get, post } from './api.js';
import { Chart } from './chart.js';
import { go } from './router.js';
import { newId } from './store.js';
import { addStyle } from './styles.js';
import { Table } from './table.js';
import { dress, themeOf, themes } from './themes.js';
import { Trouble, useAsked } from './widgets.js';

/** @typedef {import('./protocol.js').Learned} Learned */
/** @typedef {import('./protocol.js').Game} Game */
/** @typedef {import('./wire.js').Seat} Seat */

const MOST = 10; // moves that are offered beside the guided one
const nameOf = (/** @type {Seat} */ seat) => `Player ${seat}`;

/** @param {{ slug: string }} props */
export function LearnPage({ slug }) {
  const shared = useAsked(() => Promise.all([catalogue(), themes()]), []);
  const asked = useAsked(() => get(`/api/learn/${encodeURIComponent(slug)}`), [slug]);
  const game = shared.data?.[0].games.find((one) => one.slug === slug);
  const theme = themeOf(shared.data?.[1] ?? {}, slug);
  useEffect(() => {
    addStyle('explore.css');
    addStyle('study.css');
  }, []);
  useEffect(() => {
    if (game) document.title = `Learn ${game.title} · Duels`;
    if (theme.styled) dress(slug);
  }, [game]);
  /** @type {Learned | null} */
  const learned = asked.data;
  const missing = shared.data && !game;
  return html`<main id="main" class="list learn room" data-game=${slug} style=${{ '--hue': theme.hue, display: 'grid', gridTemplateColumns: 'minmax(0, 1fr)' }} tabindex="-1">
    <h1>${missing ? 'There is no such game' : `Learn ${game?.title ?? ''}`}</h1>
    ${missing ? html`<p><a href="/">All games</a></p>` : asked.error || shared.error ? html`<${Trouble}>${asked.error || shared.error}<//>` : null}
    ${!missing && game && learned ? html`<${Guide} game=${game} lesson=${learned.lesson} />
      <h2>What the solution shows</h2>
      <ul class="facts">${learned.facts.map((fact) => html`<li key=${fact}>${fact}</li>`)}</ul>
      ${learned.caveat ? html`<p class="caveat">${learned.caveat}</p>` : null}
      ${learned.charts.map((chart) => html`<${Chart} key=${chart.title} chart=${chart} />`)}
      <p class="buttons"><a class="button" href=${`/explore/${slug}`}>Explore every position</a> <a class="button" href="/puzzles">Puzzles</a></p>`
    : asked.error || missing ? null : html`<p role="status">…</p>`}
  </main>`;
}

/** The guided moves. @param {{ game: Game, lesson: Learned['lesson'] }} props */
function Guide({ game, lesson }) {
  const [at, setAt] = useState(0);
  const [note, setNote] = useState('');
  const [trouble, setTrouble] = useState('');
  const step = lesson.moves[at];
  const you = (step ?? lesson.moves[0]).player;
  const play = (/** @type {string} */ move) => {
    if (move === step.move) setAt(at + 1);
    setNote(move === step.move ? '' : `${move} is possible too. The lesson goes on with ${step.move}.`);
  };
  const easy = game.levels.includes('easy') ? 'easy' : game.levels[0];
  const start = async () => {
    try {
      const match = await post('/api/matches', { request: newId(), game: game.slug, opponent: easy, seat: 1 });
      go(`/match/${match.id}`);
    } catch (error) {
      setTrouble(/** @type {Error} */ (error).message);
    }
  };
  const others = step && step.options.length <= MOST ? step.options : step ? [step.move] : [];
  return html`<section class="lesson" aria-label="Guided moves">
    <p class="progress">${step ? `Move ${at + 1} of ${lesson.moves.length}` : 'You know the game'}</p>
    <p role="status" class="told">${step ? step.text : lesson.end}${note ? ` ${note}` : ''}</p>
    <${Table} parts=${step ? step.table : lesson.table} you=${you} toMove=${step ? [you] : []} nameOf=${nameOf} faces=${{}} fresh=${false} />
    ${step ? html`<div class="choices" role="group" aria-label="Moves">${others.map((move) => html`<button type="button" key=${move} class=${move === step.move ? 'main' : ''} data-move=${move} onClick=${() => play(move)}>${move}</button>`)}</div>`
    : html`<p class="buttons"><button type="button" class="main" onClick=${start}>Play the computer (${easy})</button> <button type="button" onClick=${() => setAt(0)}>Again</button></p>`}
    ${trouble ? html`<${Trouble}>${trouble}<//>` : null}
  </section>`;
}
