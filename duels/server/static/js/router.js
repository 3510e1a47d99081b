// Client-side routing: links within the site change the address and the page without a reload.

import { isOutdated } from './version.js';

/** @type {Set<() => void>} */
const listeners = new Set();

/** @param {() => void} listener @returns {() => void} stops listening */
export function onPage(listener) {
  listeners.add(listener);
  return () => { listeners.delete(listener); };
}

const tell = () => listeners.forEach((listener) => listener());

/** @param {string} path @returns {void} */
export function go(path) {
  if (isOutdated()) return location.assign(path); // a safe moment: nothing on the page is lost
  history.pushState(null, '', path);
  scrollTo(0, 0);
  tell();
  // Move the focus, so that a screen reader starts at the top of the new page.
  requestAnimationFrame(() => document.getElementById('main')?.focus());
}

addEventListener('popstate', tell);
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (!link || link.origin !== location.origin || link.target || link.hasAttribute('download')) return;
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (link.pathname.startsWith('/api/') || link.pathname.startsWith('/static/') || link.hash) return;
  event.preventDefault();
  go(link.pathname + link.search);
});
