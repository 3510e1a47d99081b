// What this browser stores: the key that identifies the player, and a few preferences.

const KEY = 'duels.key';

/** @param {Uint8Array} bytes */
function base64url(bytes) {
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** @param {number} count */
export function randomHex(count) {
  const bytes = crypto.getRandomValues(new Uint8Array(count));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A unique id for a command. */
export function newId() {
  return randomHex(12);
}

/** Used if the browser refuses storage, as in some private windows; lost when the page is closed. */
const fallback = new Map();

/** @param {string} name @returns {string | null} */
export function loadItem(name) {
  try {
    return localStorage.getItem(name) ?? fallback.get(name) ?? null;
  } catch {
    return fallback.get(name) ?? null;
  }
}

/** @param {string} name @param {string} value */
export function saveItem(name, value) {
  fallback.set(name, value);
  try {
    localStorage.setItem(name, value);
  } catch { /* kept as long as the page */ }
}

/** A stored JSON object; null if there is none, or if what is stored is damaged. @param {string} name @returns {any} */
export function loadObject(name) {
  try {
    const found = JSON.parse(loadItem(name) ?? 'null');
    return typeof found === 'object' ? found : null;
  } catch {
    return null;
  }
}

/** A setting of the client. @param {'typing' | 'pauses'} name @returns {string} */
export const preference = (name) => loadItem(`duels.${name}`) ?? DEFAULTS[name];
const DEFAULTS = { typing: 'off', pauses: 'on' };

/** Whether storage works, so that values last after a reload. */
export function remembers() {
  try {
    localStorage.setItem('duels.remembers', 'yes');
    return true;
  } catch {
    return false;
  }
}

/** The private key of the user of this browser; created when it is first needed. */
export function key() {
  const known = loadItem(KEY);
  if (known && isKey(known)) return known;
  const made = base64url(crypto.getRandomValues(new Uint8Array(32)));
  saveItem(KEY, made);
  return made;
}

/** Replace the key by a new one. */
export function newKey() {
  saveItem(KEY, base64url(crypto.getRandomValues(new Uint8Array(32))));
}

/** @param {string} text */
export function isKey(text) {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** @param {string} other */
export function adoptKey(other) {
  saveItem(KEY, other);
}

/** A link that transfers this identity to another device. Browsers do not send the part after # to servers. */
export function privateLink() {
  return `${location.origin}/me#key=${key()}`;
}
