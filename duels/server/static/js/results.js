// Results of the daily puzzles, as this browser stores them: marks of each day, and the streak.

import { loadItem, saveItem } from './store.js';

/** @typedef {{ marks: (number | null)[], on?: string }} Day marks: the try that was right, 0 for none; on: the date of the last */

const NAME = 'duels.puzzles';
export const KEPT = 400; // days

/** The date of this browser. @param {number} [ago] days */
export function today(ago = 0) {
  const at = new Date();
  at.setDate(at.getDate() - ago);
  return [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
}

/** The results of all days; none if the stored text is damaged. @returns {Record<string, Day>} */
export function results() {
  try {
    const found = JSON.parse(loadItem(NAME) ?? '{}');
    const days = Object.entries(found).filter(([, day]) => Array.isArray(/** @type {Day} */ (day)?.marks));
    return Object.fromEntries(/** @type {[string, Day][]} */ (days));
  } catch {
    return {};
  }
}

/** Store the result of a puzzle of a day; the first result counts. @param {string} date @param {number} n @param {number} count @param {number} mark */
export function keep(date, n, count, mark) {
  const all = results();
  const day = all[date] ?? { marks: Array(count).fill(null) };
  if (day.marks[n] !== null && day.marks[n] !== undefined) return;
  day.marks[n] = mark;
  if (finished(day)) day.on = today();
  const days = Object.entries({ ...all, [date]: day }).sort(([one], [two]) => (one < two ? 1 : -1)).slice(0, KEPT);
  saveItem(NAME, JSON.stringify(Object.fromEntries(days)));
}

/** @param {Day | undefined} day */
export function finished(day) {
  return Boolean(day?.marks.length && !day.marks.includes(null));
}

/** How many days in a row, up to today or yesterday, were finished on their own date. */
export function streak() {
  const all = results();
  const counts = (/** @type {number} */ ago) => all[today(ago)]?.on === today(ago);
  let days = 0;
  for (let ago = counts(0) ? 0 : 1; counts(ago); ago += 1) days += 1;
  return days;
}

const SQUARES = ['🟥', '🟩', '🟨'];
const WORDS = ['not solved', 'first try', 'second try'];

/** @param {Day} day */
export const squares = (day) => day.marks.map((mark) => (mark === null ? '⬜' : SQUARES[mark])).join('');
/** @param {Day} day */
export const spoken = (day) => day.marks.map((mark) => (mark === null ? 'open' : WORDS[mark])).join(', ');
/** @param {Day} day */
export const solved = (day) => day.marks.filter((mark) => mark).length;
