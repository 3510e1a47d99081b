// The service worker: the first page, lessons and puzzles work without a connection. It answers no
// request about a match, so that no table is ever stale.

const VERSION = 'VERSION';
const SHELL = ['SHELL'];
const PAGES = /^\/(puzzles|learn\/[\w-]+)?$/;
const STUDY = /^\/api\/(games$|learn\/|puzzles\/)/;
const STUDIED = 'duels study'; // of any version
const MOST = 200; // responses kept

self.addEventListener('install', (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(VERSION);
    await cache.addAll(['/', ...SHELL]);
    await self.skipWaiting();
  })());
});

self.addEventListener('activate', (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name !== VERSION && name !== STUDIED) await caches.delete(name);
  })());
});

self.addEventListener('fetch', (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== 'GET' || url.origin !== location.origin) return;
  if (url.pathname.startsWith(`/static/${VERSION}/`)) event.respondWith(kept(event.request));
  else if (event.request.mode === 'navigate' && PAGES.test(url.pathname)) event.respondWith(page(event.request));
  else if (STUDY.test(url.pathname)) event.respondWith(study(event.request));
});

/** A file of this version, which never changes. */
async function kept(request) {
  return await caches.match(request, { cacheName: VERSION, ignoreVary: true }) ?? fetch(request);
}

/** A page from the server; without a connection the first page, which shows all of them. */
async function page(request) {
  try {
    return await fetch(request);
  } catch {
    return await caches.match('/', { cacheName: VERSION, ignoreVary: true }) ?? Response.error();
  }
}

/** Lessons and puzzles from the server, or as they were when they were last asked for. */
async function study(request) {
  const cache = await caches.open(STUDIED);
  try {
    const found = await fetch(request);
    if (found.ok) {
      await cache.put(request.url, found.clone());
      const old = (await cache.keys()).slice(0, -MOST);
      for (const one of old) await cache.delete(one);
    }
    return found;
  } catch {
    return await cache.match(request.url, { ignoreVary: true }) ?? Response.error();
  }
}
