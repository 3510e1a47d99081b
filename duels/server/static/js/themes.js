// Themes of games: a style sheet and a colour; a game without a theme gets a colour computed from its
// slug.

import { BASE } from './version.js';

/**
 * @typedef {object} Theme
 * @property {number} hue of the game's own colour, in degrees
 * @property {boolean} [styled] whether there are a style sheet and a picture
 */

/** @type {Promise<Record<string, Theme>> | null} */
let known = null;

/** @returns {Promise<Record<string, Theme>>} */
export function themes() {
  known ??= fetch(`${BASE}themes/index.json`).then((answer) => answer.json()).catch(() => ({}));
  return known;
}

/**
 * @param {Record<string, Theme>} all
 * @param {string} slug
 * @returns {Theme}
 */
export function themeOf(all, slug) {
  if (Object.hasOwn(all, slug)) return { styled: true, ...all[slug] };
  let hue = 0;
  for (const letter of slug) hue = (hue * 31 + letter.charCodeAt(0)) % 360;
  return { hue };
}

/** @type {Map<string, Promise<void>>} style sheets, by game */
const dressed = new Map();

/** Add the style sheet of a game to the page, once; resolves when it has been loaded or has failed. @param {string} slug */
export function dress(slug) {
  const made = dressed.get(slug) ?? addTheme(slug);
  dressed.set(slug, made);
  return made;
}

/** @param {string} slug @returns {Promise<void>} */
function addTheme(slug) {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = `${BASE}themes/${encodeURIComponent(slug)}.css`;
  link.dataset.theme = slug;
  document.head.append(link);
  return new Promise((resolve) => { link.onload = link.onerror = () => resolve(); });
}
