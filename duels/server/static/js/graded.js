// What a graded match says: accuracies, the curve of the value, positions in the explorer.

/** @typedef {import('./protocol.js').Analysis} Analysis */
/** @typedef {import('./protocol.js').GradedMove} GradedMove */
/** @typedef {import('./wire.js').Seat} Seat */
/** @typedef {import('./wire.js').Entry} Entry */
/** @typedef {{ moment: number, value: number | null, chance: boolean }} Point chance: whether chance led to it, not a move */

/**
 * The address of a step in the explorer; empty where a player ran out of time, which is not a move there.
 * @param {{ slug: string, options: Record<string, string> }} game
 * @param {Entry[]} events up to the step
 * @param {string} [path]
 */
export function explored(game, events, path = '/explore/') {
  /** @type {{ number: number, word: string }[]} */
  let line = [];
  for (const { type, number, moves, outcome: face, to } of events) {
    if (type === 'timeout') return '';
    if (type === 'undo') line = line.filter((one) => one.number < (to ?? 0));
    if (moves) line.push({ number, word: Object.keys(moves).sort().map((seat) => moves[seat]).join('/') });
    else if (face !== undefined) line.push({ number, word: face });
  }
  const query = new URLSearchParams(game.options);
  for (const { word } of line) query.append('after', word);
  return `${path}${encodeURIComponent(game.slug)}?${query}`;
}

/** What a move gave away; empty if that is not known. @param {GradedMove} move @param {Analysis} analysis */
export function given(move, analysis) {
  if (move.regret === null) return '';
  return analysis.unit ? `${move.regret.toFixed(2)} of ${analysis.unit}` : `${(100 * move.regret).toFixed(1)} %`;
}

/** The moves of a player that gave something away. @param {Analysis} analysis @param {Seat} seat */
export function mistakes(analysis, seat) {
  return analysis.moves.filter((move) => move.player === seat && move.regret && ['slip', 'mistake', 'blunder'].includes(move.verdict ?? ''));
}

/** @param {Analysis} analysis @param {Seat} seat @param {Seat | null} own */
export function accuracy(analysis, seat, own) {
  const found = analysis.accuracy[seat];
  if (found === null) {
    const whose = own === seat ? ['of yours ', 'you had '] : ['', ''];
    return analysis.won_throughout?.[seat] ? `Every move ${whose[1]}kept the win.` : `No move ${whose[0]}changed the outcome.`;
  }
  return `${found > 0 && found < 100 ? Math.max(1, Math.min(99, Math.round(found))) : found} %`;
}

/**
 * The curve over the steps of the match, for one player: from the start, with a point after each move, so
 * that what a move changed and what chance changed are separate.
 * @param {Analysis} analysis
 * @param {number} last
 * @param {number} own
 * @returns {Point[]}
 */
export function curve(analysis, last, own) {
  const most = analysis.highest_payoff;
  const part = (/** @type {number} */ value) => (most ? (1 + value / most) / 2 : value);
  const seen = (/** @type {number | null} */ value) => (value === null ? value : own === 1 ? part(value) : 1 - part(value));
  /** @type {Point[]} */
  const points = [{ moment: 0, value: seen(analysis.start), chance: false }];
  const steps = [...new Set(analysis.moves.map((move) => move.entry))].sort((one, two) => one - two);
  steps.forEach((entry, n) => {
    const moves = analysis.moves.filter((move) => move.entry === entry);
    points.push({ moment: entry - 1, value: seen(analysis.curve[n] ?? null), chance: true });
    if (moves.length === 1) points.push({ moment: entry, value: seen(moves[0].after), chance: false });
  });
  return [...points, { moment: last, value: seen(analysis.curve.at(-1) ?? null), chance: true }];
}

/**
 * In a match that was decided at every choice: how far the end was at a step, in words. Null in others.
 * @param {Analysis} analysis
 * @param {number} own
 */
export function decided(analysis, own) {
  const known = analysis.moves.filter((move) => move.distance !== undefined && (move.before === 0 || move.before === 1));
  if (!known.length || known.length < analysis.moves.length) return null;
  return (/** @type {number} */ moment) => {
    const move = known.find((one) => one.entry - 1 >= moment);
    if (!move) return 'The match is over.';
    const side = (move.before === 1) === (own === 1) ? 'Won' : 'Lost';
    return `${side} with perfect play, ${move.distance} ${move.distance === 1 ? 'choice' : 'choices'} before the end.`;
  };
}
