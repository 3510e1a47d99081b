// The rules of a match beside its table, with the values in force.

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

/** A dash, a number, a ruling's number or a word with what it means begins a paragraph of its own. */
const ITEM = /^\s+(- |\d+\. |[A-Z]\d+\. |\S+ {2,}\S)/;

/**
 * Lines that were broken for a terminal, joined again: a paragraph ends at an empty line, a heading
 * or where a new item begins, which stands further left than the line that goes on.
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
