// The state of a choice: the words of the move so far, the picked cards, the possible next steps.
// Pure functions over the tree of steps, used by the table and the row of buttons.

/** @typedef {import('./wire.js').Step} Step */
/** @typedef {import('./wire.js').Tree} Tree */
/** @typedef {import('./wire.js').Item} Item */
/** @typedef {{ key: string, word: string }} Picked */
/** @typedef {{ words: string[], picked: Picked[], warned: string, note: string }} Choosing */
/** @typedef {{ choosing: Choosing, move: string | null }} Chosen */

/** @type {Choosing} */
export const NOTHING = { words: [], picked: [], warned: '', note: '' };

/**
 * The tree below the words of a move so far; null when the move is complete.
 * @param {Tree | null} tree
 * @param {string[]} words
 * @returns {Tree | null}
 */
export function below(tree, words) {
  for (const word of words) {
    if (tree === null || tree.step.many) return null;
    tree = tree.after[word] ?? null;
  }
  return tree;
}

/**
 * Chosen words in the order in which the step lists them, as a move writes them.
 * @param {Step} step
 * @param {string[]} chosen
 */
export function inOrder(step, chosen) {
  return [...chosen].sort((one, two) => step.choices.indexOf(one) - step.choices.indexOf(two));
}

/**
 * The current step.
 * @param {Tree | null} tree
 * @param {Choosing} choosing
 */
export function asked(tree, choosing) {
  return tree && below(tree, choosing.words);
}

/**
 * What a choice brings, with the cards that are picked already; empty if that is not known.
 * @param {Tree | null} now
 * @param {Choosing} choosing
 * @param {string} word
 */
export function consequence(now, choosing, word) {
  const next = now?.after?.[word];
  if (!now || !next || !choosing.picked.length) return now?.step.effects[word] ?? '';
  return next.step.effects[inOrder(next.step, choosing.picked.map((one) => one.word)).join(' ')] ?? '';
}

/**
 * Whether a card may be clicked now: it answers this step, or the one after it, so that cards can be
 * picked before the kind of move is chosen.
 * @param {Tree | null} tree
 * @param {Choosing} choosing
 * @param {Item} item
 * @returns {'' | 'now' | 'ahead' | 'refused'}
 */
export function clickable(tree, choosing, item) {
  const now = asked(tree, choosing);
  if (!now || !item.choice) return '';
  if (now.step.choices.includes(item.choice)) return 'now';
  if (Object.hasOwn(now.step.refused, item.choice)) return 'refused';
  const later = Object.values(now.after);
  return later.some((next) => next?.step.choices.includes(item.choice)) ? 'ahead' : '';
}

/**
 * Apply a click on a card or token.
 * @param {Tree} tree
 * @param {Choosing} choosing
 * @param {string} key distinguishes items with the same face
 * @param {Item} item
 * @returns {Chosen}
 */
export function clickItem(tree, choosing, key, item) {
  const now = asked(tree, choosing);
  const how = clickable(tree, choosing, item);
  if (!now || !how) return { choosing, move: null };
  if (how === 'refused') return noted(choosing, now.step.refused[item.choice]);
  if (how === 'ahead' || now.step.many) return toggled(choosing, key, item.choice);
  if (item.spent && choosing.warned !== key) {
    const note = `${item.face} is spent. Choose it again to play it anyway.`;
    return { choosing: { ...choosing, warned: key, note }, move: null };
  }
  return said(tree, choosing, item.choice);
}

/**
 * Apply a click on a word. Cards that were picked before are used for it if they are allowed.
 * @param {Tree} tree
 * @param {Choosing} choosing
 * @param {string} key
 * @param {string} word
 * @returns {Chosen}
 */
export function clickWord(tree, choosing, key, word) {
  const now = asked(tree, choosing);
  if (!now) return { choosing, move: null };
  if (Object.hasOwn(now.step.refused, word)) return noted(choosing, now.step.refused[word]);
  if (now.step.many) return toggled(choosing, key, word);
  const next = now.after[word];
  const picked = choosing.picked.map((one) => one.word);
  if (!next || !picked.length) return said(tree, choosing, word);
  const words = [...choosing.words, word];
  if (next.step.many) return done([...words, ...inOrder(next.step, picked)]);
  if (picked.length > 1) {
    const note = `Only one card goes with ${word}.`;
    return { choosing: { ...NOTHING, words, note }, move: null };
  }
  return said(tree, { ...NOTHING, words }, picked[0]);
}

/**
 * Complete a step that takes several cards with those that are picked.
 * @param {Tree} tree
 * @param {Choosing} choosing
 * @returns {Chosen}
 */
export function finish(tree, choosing) {
  const now = asked(tree, choosing);
  if (!now?.step.many || !choosing.picked.length) return noted(choosing, 'Pick at least one.');
  const picked = choosing.picked.map((one) => one.word);
  return done([...choosing.words, ...inOrder(now.step, picked)]);
}

/** @param {Tree} tree @param {Choosing} choosing @param {string} word @returns {Chosen} */
function said(tree, choosing, word) {
  const words = [...choosing.words, word];
  const next = below(tree, words);
  return next ? { choosing: { ...NOTHING, words }, move: null } : done(words);
}

/** @param {string[]} words @returns {Chosen} */
function done(words) {
  return { choosing: NOTHING, move: words.join(' ') };
}

/** @param {Choosing} choosing @param {string} note @returns {Chosen} */
function noted(choosing, note) {
  return { choosing: { ...choosing, note }, move: null };
}

/** @param {Choosing} choosing @param {string} key @param {string} word @returns {Chosen} */
function toggled(choosing, key, word) {
  const without = choosing.picked.filter((one) => one.key !== key);
  const picked = without.length < choosing.picked.length ? without : [...without, { key, word }];
  return { choosing: { ...choosing, picked, note: '' }, move: null };
}
