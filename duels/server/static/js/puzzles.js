// Puzzles: those of a day, with streak and archive, and practice without end.

import { html, useEffect, useState } from './lib.js';
import { Attempt } from './attempts.js';
import { catalogue, get } from './api.js';
import { addressOf } from './explore.js';
import { finished, keep, results, solved, spoken, squares, streak, today } from './results.js';
import { onPage } from './router.js';
import { loadItem, saveItem } from './store.js';
import { addStyle } from './styles.js';
import { Table } from './table.js';
import { dress, themeOf, themes } from './themes.js';
import { Copy, Trouble, useAsked } from './widgets.js';

/** @typedef {import('./protocol.js').Puzzle} Puzzle */
/** @typedef {import('./wire.js').Seat} Seat */

const ARCHIVE = 60; // days
const PRACTICE = 'duels.practice'; // the number of the next puzzle for practice
const nameOf = (/** @type {Seat} */ seat) => `Player ${seat}`;

export function PuzzlesPage() {
  const [search, setSearch] = useState(location.search);
  useEffect(() => onPage(() => location.pathname === '/puzzles' && setSearch(location.search)), []);
  useEffect(() => {
    addStyle('explore.css');
    addStyle('study.css');
    document.title = 'Puzzles · Duels';
  }, []);
  const query = new URLSearchParams(search);
  const game = query.get('game') ?? '';
  return query.has('practice') ? html`<${Practice} key=${game} slug=${game} />` : html`<${Daily} key=${query.get('day')} day=${query.get('day') ?? today()} />`;
}

/** The puzzles of a day. @param {{ day: string }} props */
function Daily({ day }) {
  const asked = useAsked(() => get(`/api/puzzles/day/${encodeURIComponent(day)}`), [day]);
  const [kept, setKept] = useState(() => results()[day]);
  /** @type {Puzzle[]} */
  const puzzles = asked.data?.puzzles ?? [];
  const open = puzzles.findIndex((_, n) => (kept?.marks[n] ?? null) === null);
  const [at, setAt] = useState(/** @type {number | null} */ (null));
  const now = at ?? open;
  const done = (/** @type {number} */ mark) => {
    keep(day, now, puzzles.length, mark);
    setAt(now);
    setKept(results()[day]);
  };
  const puzzle = puzzles[now];
  const own = day === today();
  return html`<main id="main" class="list puzzles" tabindex="-1">
    <h1>${own ? 'Daily puzzles' : `Puzzles of ${day}`}</h1>
    <${Ways} day=${day} />
    ${asked.error ? html`<${Trouble}>${asked.error}<//>` : null}
    ${!asked.data && !asked.error ? html`<p role="status">…</p>` : null}
    ${asked.data && !puzzles.length ? html`<p>No game of this server has positions for puzzles.</p>` : null}
    ${puzzles.length ? html`<${Marks} day=${kept ?? { marks: Array(puzzles.length).fill(null) }} />` : null}
    ${puzzle ? html`<${Task} key=${now} puzzle=${puzzle} title=${`${now + 1} of ${puzzles.length}: ${puzzle.title}`} onDone=${done} />
      ${at !== null && !finished(kept) ? html`<p class="buttons"><button type="button" class="main" onClick=${() => setAt(null)}>Next puzzle</button></p>` : null}` : null}
    ${kept && finished(kept) ? html`<${Finished} day=${day} kept=${kept} />` : null}
    <${Archive} day=${day} />
  </main>`;
}

/** @param {{ day?: string }} props */
function Ways({ day }) {
  const days = streak();
  return html`<p class="buttons ways"><a href="/puzzles" aria-current=${day === today() ? 'page' : undefined}>Today</a> <a href="/puzzles?practice=1" aria-current=${day ? undefined : 'page'}>Practice</a>
    <span class="streak">${days ? `Streak: ${days} ${days === 1 ? 'day' : 'days'}` : 'No streak yet'}</span></p>`;
}

/** The results of a day as squares. @param {{ day: import('./results.js').Day }} props */
function Marks({ day }) {
  return html`<span class="marks" role="img" aria-label=${`Results: ${spoken(day)}`}>${day.marks.map((mark, n) => html`<i key=${n} data-mark=${mark ?? undefined}>${mark === null ? '' : mark || '✗'}</i>`)}</span>`;
}

/** The result of a day, to share without its solutions. @param {{ day: string, kept: import('./results.js').Day }} props */
function Finished({ day, kept }) {
  const text = `Duels puzzles ${day}: ${solved(kept)}/${kept.marks.length}\n${squares(kept)}\n${location.origin}/puzzles?day=${day}`;
  return html`<section class="card-panel" aria-label="Result of the day"><h2>${solved(kept)} of ${kept.marks.length} solved</h2>
    <${Copy} label="Result to share, without solutions" text=${text} />
    <p class="buttons"><a class="button" href="/puzzles?practice=1">Practise more</a></p></section>`;
}

/** @param {{ day: string }} props */
function Archive({ day }) {
  const all = results();
  const dates = Array.from({ length: ARCHIVE }, (_, ago) => today(ago)).filter((date) => date >= FIRST);
  return html`<details class="archive"><summary>Archive</summary><ul>${dates.map((date) => html`<li key=${date}>
    <a href=${`/puzzles?day=${date}`} aria-current=${date === day ? 'page' : undefined}>${date}</a>
    ${all[date] ? html`<${Marks} day=${all[date]} />` : null}</li>`)}</ul></details>`;
}

const FIRST = '2026-01-01';

/** Puzzles without end, of all games or of one. @param {{ slug: string }} props */
function Practice({ slug }) {
  const name = `${PRACTICE}.${slug}`;
  const [next, setNext] = useState(() => Math.max(0, Number.parseInt(loadItem(name) ?? '0', 10) || 0));
  const [over, setOver] = useState(false);
  const games = useAsked(() => catalogue(), []);
  const page = (/** @type {number} */ number) => get(`/api/puzzles/practice/${number}${slug && `?game=${encodeURIComponent(slug)}`}`);
  const number = Math.floor(next / PER_PAGE);
  const asked = useAsked(async () => ({ number, puzzles: /** @type {Puzzle[]} */ ((await page(number)).puzzles) }), [number]);
  useEffect(() => { page(number + 1).catch(() => {}); }, [number]); // so that it is there when it is needed, also offline
  const ready = asked.data?.number === number ? asked.data.puzzles : null;
  const puzzle = ready?.[next % PER_PAGE];
  const go = () => {
    saveItem(name, String(next + 1));
    setNext(next + 1);
    setOver(false);
  };
  return html`<main id="main" class="list puzzles" tabindex="-1">
    <h1>Practice</h1>
    <${Ways} />
    <label class="field"><span>Game</span><select value=${slug} onChange=${(/** @type {Event} */ event) => choose(/** @type {HTMLSelectElement} */ (event.target).value)}>
      <option value="">all games</option>
      ${(games.data?.games ?? []).filter((game) => !game.private).map((game) => html`<option key=${game.slug} value=${game.slug}>${game.title}</option>`)}
    </select></label>
    ${asked.error ? html`<${Trouble}>${asked.error}<//>` : null}
    ${puzzle ? html`<${Task} key=${next} puzzle=${puzzle} title=${`Puzzle ${next + 1}: ${puzzle.title}`} onDone=${() => setOver(true)} />
      <p class="buttons"><button type="button" class=${over ? 'main' : ''} onClick=${go}>${over ? 'Next puzzle' : 'Skip'}</button></p>`
    : asked.error ? html`<p class="buttons"><button type="button" onClick=${asked.refresh}>Try again</button></p>` : html`<p role="status">…</p>`}
  </main>`;
}

const PER_PAGE = 5;

/** @param {string} slug */
function choose(slug) {
  history.replaceState(null, '', `/puzzles?practice=1${slug && `&game=${encodeURIComponent(slug)}`}`);
  dispatchEvent(new PopStateEvent('popstate'));
}

/** A puzzle: the table as its player sees it, the question, the moves. @param {{ puzzle: Puzzle, title: string, onDone: (mark: number) => void }} props */
function Task({ puzzle, title, onDone }) {
  const { player, kind, answer, stars } = puzzle.puzzle;
  const dressed = useAsked(() => themes(), []);
  const theme = themeOf(dressed.data ?? {}, puzzle.game);
  useEffect(() => { if (theme.styled) dress(puzzle.game); }, [theme.styled]);
  const choice = puzzle.choices.find((one) => one.player === player);
  if (!choice) return null;
  return html`<section class="room task" data-game=${puzzle.game} style=${{ '--hue': theme.hue }} aria-label=${title}>
    <h2>${title} <span class="stars" role="img" aria-label=${`difficulty ${stars} of 5`}>${'★'.repeat(stars)}${'☆'.repeat(5 - stars)}</span></h2>
    <p>You are Player ${player}. ${kind === 'mix'
      ? `Both choose at once, and perfect play draws among ${answer.length} of your moves. Which?`
      : `One move is clearly better than all others. Which?`}</p>
    <${Table} parts=${puzzle.table} you=${player} toMove=${puzzle.to_move} nameOf=${nameOf} faces=${{}} fresh=${false} />
    <${Attempt} choice=${choice} answer=${answer} unit=${puzzle.unit} onDone=${onDone} />
    <p><a href=${addressOf(puzzle.game, { options: {}, after: puzzle.after })}>Explore this position</a> (shows the solution)</p>
  </section>`;
}
