// The version of the client: where its files are, and whether the server has a newer one.

/** The path of the static files of this version. */
export const BASE = new URL('../', import.meta.url).pathname;
const OWN = /^\/static\/(\w{16})\/$/.exec(BASE)?.[1] ?? '';

let outdated = false;
/** @type {Set<() => void>} */
const listeners = new Set();

/** Note the version that a response of the server states. @param {string | null} version */
export function heardVersion(version) {
  if (!OWN || !version || version === OWN || outdated) return;
  outdated = true;
  listeners.forEach((listener) => listener());
}

/** Whether the server has a newer version; the next change of the page reloads it. */
export const isOutdated = () => outdated;

/** @param {() => void} listener */
export function onOutdated(listener) {
  listeners.add(listener);
  return () => { listeners.delete(listener); };
}

/** Register the service worker once the page is at rest; pages work without it. */
export function work() {
  if (!OWN || !('serviceWorker' in navigator)) return;
  const register = () => { navigator.serviceWorker.register('/sw.js').catch(() => {}); };
  if (document.readyState === 'complete') register();
  else addEventListener('load', register, { once: true });
}
