// The rules of a match, with the values of its options.

import { html } from './lib.js';
import { get } from './api.js';
import { Trouble, useAsked } from './widgets.js';

/** @param {{ game: { slug: string, options: Record<string, string> } }} props */
export function Rules({ game }) {
  const known = Object.entries(game.options).filter(([, value]) => value !== 'random');
  const query = new URLSearchParams(known).toString();
  const asked = useAsked(() => get(`/api/games/${encodeURIComponent(game.slug)}/rules?${query}`), [game.slug, query]);
  if (asked.error) return html`<${Trouble}>${asked.error}<//>`;
  if (!asked.data) return html`<p>…</p>`;
  /** @type {import('./wire.js').Line[]} */
  const lines = asked.data.lines;
  return html`<div class="rules">${paragraphs(lines).map((block, n) => block.heading
    ? html`<h3 key=${n}>${block.text}</h3>`
    : html`<p key=${n} class=${block.hang ? 'hang' : ''}>${block.text}</p>`)}</div>`;
}

/** Matches the start of a list item: a dash, a number, the number of a ruling, or a term and its meaning. */
const ITEM = /^\s+(- |\d+\. |[A-Z]\d+\. |\S+ {2,}\S)/;

/**
 * Join lines that were wrapped for a terminal to paragraphs. A paragraph ends at an empty line, a
 * heading or a new list item, which is indented less than a continued line.
 * @param {import('./wire.js').Line[]} lines
 */
export function paragraphs(lines) {
  /** @type {{ text: string, heading: boolean, hang: boolean, indent: number }[]} */
  const blocks = [];
  let open = false;
  for (const { text, tone } of lines) {
    const indent = text.length - text.trimStart().length;
    const last = blocks.at(-1);
    if (!text.trim()) open = false;
    else if (tone === 'heading') {
      blocks.push({ text: text.trim(), heading: true, hang: false, indent });
      open = false;
    } else if (open && last && !ITEM.test(text) && (indent > last.indent || (indent === 0 && last.indent === 0))) {
      last.text += ` ${text.trim()}`;
    } else {
      blocks.push({ text: text.trim().replace(/ {2,}/g, ': '), heading: false, hang: indent > 0, indent });
      open = true;
    }
  }
  return blocks;
}
