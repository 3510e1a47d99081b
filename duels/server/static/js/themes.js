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

/** Add the style sheet of a game to the page, once. @param {string} slug */
export function dress(slug) {
  if (document.querySelector(`link[data-theme="${CSS.escape(slug)}"]`)) return;
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = `${BASE}themes/${encodeURIComponent(slug)}.css`;
  link.dataset.theme = slug;
  document.head.append(link);
}
