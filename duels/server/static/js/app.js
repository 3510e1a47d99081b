// The application: the page for the current path, and the parts that all pages share.

import { html, render, useEffect, useState } from './lib.js';
import { HomePage } from './home.js';
import { RoomPage } from './room.js';
import { onPage } from './router.js';
import { mute, muted } from './sound.js';
import { saveItem, loadItem, preference, remembers } from './store.js';
import { isOutdated, onOutdated, work } from './version.js';
import { Trouble } from './widgets.js';

/** @type {[RegExp, (parts: string[]) => unknown][]} */
const PAGES = [
  [/^\/match\/([\w-]+)\/replay$/, ([id]) => html`<${Later} key=${id} load=${() => import('./replay.js')} name="ReplayPage" id=${id} />`],
  [/^\/match\/([\w-]+)\/mistakes$/, ([id]) => html`<${Later} key=${id} load=${() => import('./mistakes.js')} name="MistakesPage" id=${id} />`],
  [/^\/match\/([\w-]+)$/, ([id]) => html`<${RoomPage} key=${id} id=${id} />`],
  [/^\/explore\/([\w-]+)$/, ([slug]) => html`<${Later} key=${slug} load=${() => import('./explore.js')} name="ExplorePage" slug=${slug} />`],
  [/^\/learn\/([\w-]+)$/, ([slug]) => html`<${Later} key=${slug} load=${() => import('./learn.js')} name="LearnPage" slug=${slug} />`],
  [/^\/puzzles$/, () => html`<${Later} key="puzzles" load=${() => import('./puzzles.js')} name="PuzzlesPage" />`],
  [/^\/live$/, () => html`<${Later} key="live" load=${() => import('./live.js')} name="LivePage" />`],
  [/^\/history$/, () => html`<${Later} key="history" load=${() => import('./history.js')} name="HistoryPage" />`],
  [/^\/ratings$/, () => html`<${Later} key="ratings" load=${() => import('./ratings.js')} name="RatingsPage" />`],
  [/^\/me$/, () => html`<${Later} key="me" load=${() => import('./me.js')} name="MePage" />`],
  [/^\/$/, () => html`<${HomePage} />`],
];

/** A page whose module is imported when it is first opened. @param {{ load: () => Promise<any>, name: string }} props */
function Later({ load, name, ...props }) {
  const [page, setPage] = useState(/** @type {any} */ (null));
  const [failed, setFailed] = useState(false);
  useEffect(() => { load().then((loaded) => setPage(() => loaded[name]), () => setFailed(true)); }, []);
  if (failed) return html`<main id="main" class="list" tabindex="-1"><${Trouble}>The server cannot be reached.<//><button type="button" onClick=${() => location.reload()}>Try again</button></main>`;
  return page ? html`<${page} ...${props} />` : html`<main id="main"><p role="status">…</p></main>`;
}

function App() {
  const [path, setPath] = useState(location.pathname);
  useEffect(() => onPage(() => setPath(location.pathname)), []);
  for (const [pattern, page] of PAGES) {
    const found = pattern.exec(path);
    if (found) return html`<${Layout} path=${path}>${page(found.slice(1))}<//>`;
  }
  return html`<${Layout} path=${path}><main id="main"><h1>Page not found</h1><p><a href="/">All games</a></p></main><//>`;
}

const SCHEMES = ['auto', 'light', 'dark'];

/** @param {{ path: string, children?: unknown }} props */
function Layout({ path, children }) {
  const [quiet, setQuiet] = useState(muted());
  const [scheme, setScheme] = useState(loadItem('duels.scheme') ?? 'auto');
  useEffect(() => {
    document.documentElement.dataset.scheme = scheme;
    saveItem('duels.scheme', scheme);
  }, [scheme]);
  const [old, setOld] = useState(isOutdated());
  useEffect(() => onOutdated(() => setOld(true)), []);
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  const [settings, setSettings] = useState({ typing: preference('typing'), pauses: preference('pauses') });
  const toggle = (/** @type {'typing' | 'pauses'} */ name) => {
    const value = settings[name] === 'on' ? 'off' : 'on';
    saveItem(`duels.${name}`, value);
    setSettings({ ...settings, [name]: value });
  };
  const here = (/** @type {string} */ page) => (path === page ? 'page' : undefined);
  return html`
    <a class="skip" href="#main">Skip to content</a>
    <header class="top">
      <a class="brand" href="/" aria-label="Duels, all games"><span aria-hidden="true">⚔</span> Duels</a>
      <button type="button" class="plain menu-button" aria-expanded=${String(open)} aria-controls="menu" onClick=${() => setOpen(!open)}>Menu</button>
      <div id="menu" class=${`menu ${open ? 'open' : ''}`} onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === 'Escape' && setOpen(false)}>
      <nav aria-label="Pages">
        <a href="/puzzles" aria-current=${here('/puzzles')}>Puzzles</a>
        <a href="/history" aria-current=${here('/history')}>History</a>
        <a href="/ratings" aria-current=${here('/ratings')}>Ratings</a>
        <a href="/me" aria-current=${here('/me')}>You</a>
      </nav>
      <div class="settings" role="group" aria-label="Settings">
      <button type="button" class="plain" onClick=${() => { mute(!quiet); setQuiet(!quiet); }}>Sound ${quiet ? 'off' : 'on'}</button>
      <button type="button" class="plain" onClick=${() => setScheme(SCHEMES[(SCHEMES.indexOf(scheme) + 1) % 3])}>Colours: ${scheme}</button>
      <button type="button" class="plain" title="Wait a second after dice and cards" onClick=${() => toggle('pauses')}>Pauses ${settings.pauses}</button>
      <button type="button" class="plain" title="Type moves in a match; the key / shows the field as well" onClick=${() => toggle('typing')}>Text field ${settings.typing}</button>
      </div></div>
    </header>
    ${old ? html`<p class="forgetful" role="status">There is a new version of this page. <button type="button" onClick=${() => location.reload()}>Reload</button></p>` : null}
    ${remembers() ? null : html`<p class="forgetful" role="note">This browser stores no data for this site. If you reload or close this page, you lose your seat.</p>`}
    ${children}`;
}

render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById('app')));
work();
