// A text as a QR code (ISO/IEC 18004): bytes, error correction level M, versions 1 to 10, which is
// 213 bytes: enough for a link.

const CORRECTION = [0, 10, 16, 26, 18, 24, 16, 18, 22, 22, 26]; // codewords of each block, by version
const BLOCKS = [0, 1, 1, 1, 2, 2, 4, 4, 4, 5, 5];
const LEVEL_M = 0;

/** @typedef {boolean[][]} Grid */

/** @param {number} version how many codewords it has in all */
function codewords(version) {
  let bits = (16 * version + 128) * version + 64;
  if (version >= 2) {
    const marks = Math.floor(version / 7) + 2;
    bits -= (25 * marks - 10) * marks - 55;
    if (version >= 7) bits -= 36;
  }
  return bits >> 3;
}

/** Products in the field of 256 elements. @param {number} x @param {number} y */
function times(x, y) {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >> 7) * 0x11d);
    product ^= ((y >> bit) & 1) * x;
  }
  return product;
}

/** @param {number[]} data @param {number} count @returns {number[]} the Reed-Solomon remainder */
function correction(data, count) {
  const divisor = [...Array(count - 1).fill(0), 1];
  for (let n = 0, root = 1; n < count; n += 1, root = times(root, 2)) {
    for (let at = 0; at < count; at += 1) {
      divisor[at] = times(divisor[at], root) ^ (at + 1 < count ? divisor[at + 1] : 0);
    }
  }
  const rest = Array(count).fill(0);
  for (const byte of data) {
    const factor = byte ^ rest.shift();
    rest.push(0);
    divisor.forEach((part, at) => { rest[at] ^= times(part, factor); });
  }
  return rest;
}

/** @param {Uint8Array} bytes @returns {{ version: number, all: number[] }} */
function encoded(bytes) {
  const room = (/** @type {number} */ v) => codewords(v) - CORRECTION[v] * BLOCKS[v];
  const header = (/** @type {number} */ v) => (v < 10 ? 12 : 20); // bits before the text
  const version = CORRECTION.findIndex((_, v) => v > 0 && 8 * room(v) >= header(v) + 8 * bytes.length);
  if (version < 0) throw new RangeError('too long for this QR code');
  const bits = [...binary(4, 4), ...binary(bytes.length, header(version) - 4)];
  for (const byte of bytes) bits.push(...binary(byte, 8));
  bits.push(...Array(Math.min(4, 8 * room(version) - bits.length)).fill(0));
  bits.push(...Array(-bits.length & 7).fill(0));
  const data = [];
  for (let at = 0; at < bits.length; at += 8) data.push(parseInt(bits.slice(at, at + 8).join(''), 2));
  for (let pad = 0xec; data.length < room(version); pad ^= 0xec ^ 0x11) data.push(pad);
  return { version, all: interleaved(version, data) };
}

/** @param {number} value @param {number} length */
function binary(value, length) {
  return Array.from({ length }, (_, n) => (value >> (length - 1 - n)) & 1);
}

/** @param {number} version @param {number[]} data */
function interleaved(version, data) {
  const count = BLOCKS[version];
  const total = codewords(version);
  const short = Math.floor(total / count) - CORRECTION[version];
  const long = total % count; // so many of the last blocks have one codeword more
  const blocks = [];
  for (let n = 0, at = 0; n < count; n += 1) {
    const size = short + (n >= count - long ? 1 : 0);
    const part = data.slice(at, at + size);
    blocks.push({ part, extra: correction(part, CORRECTION[version]) });
    at += size;
  }
  const all = [];
  for (let at = 0; at <= short; at += 1) for (const { part } of blocks) if (at < part.length) all.push(part[at]);
  for (let at = 0; at < CORRECTION[version]; at += 1) for (const { extra } of blocks) all.push(extra[at]);
  return all;
}

/** @param {number} value @param {number} generator @param {number} degree */
function withCheck(value, generator, degree) {
  let rest = value;
  for (let n = 0; n < degree; n += 1) rest = (rest << 1) ^ ((rest >> (degree - 1)) * generator);
  return (value << degree) | rest;
}

/** @type {((x: number, y: number) => number)[]} */
const MASKS = [
  (x, y) => (x + y) % 2, (_, y) => y % 2, (x) => x % 3, (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2, (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2, (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];

/** The dark squares of a text's QR code. @param {string} text @returns {Grid} */
export function qrGrid(text) {
  const { version, all } = encoded(new TextEncoder().encode(text));
  const size = 4 * version + 17;
  const fixed = Array.from({ length: size }, () => Array(size).fill(false));
  /** @type {Grid} */
  const grid = Array.from({ length: size }, () => Array(size).fill(false));
  const set = (/** @type {number} */ x, /** @type {number} */ y, /** @type {boolean} */ dark) => {
    if (x < 0 || y < 0 || x >= size || y >= size) return;
    grid[y][x] = dark;
    fixed[y][x] = true;
  };
  const square = (/** @type {number} */ cx, /** @type {number} */ cy, /** @type {number} */ reach, /** @type {number[]} */ light) => {
    for (let y = -reach; y <= reach; y += 1) {
      for (let x = -reach; x <= reach; x += 1) set(cx + x, cy + y, !light.includes(Math.max(Math.abs(x), Math.abs(y))));
    }
  };
  for (let n = 0; n < size; n += 1) {
    set(6, n, n % 2 === 0);
    set(n, 6, n % 2 === 0);
  }
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) square(x, y, 4, [2, 4]);
  const marks = alignment(version, size);
  const last = marks.length - 1;
  marks.forEach((x, i) => marks.forEach((y, j) => {
    const corner = (i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0);
    if (!corner) square(x, y, 2, [1]);
  }));
  const format = (/** @type {number} */ mask) => {
    const bits = withCheck((LEVEL_M << 3) | mask, 0x537, 10) ^ 0x5412;
    const bit = (/** @type {number} */ n) => ((bits >> n) & 1) === 1;
    for (let n = 0; n <= 5; n += 1) set(8, n, bit(n));
    set(8, 7, bit(6));
    set(8, 8, bit(7));
    set(7, 8, bit(8));
    for (let n = 9; n < 15; n += 1) set(14 - n, 8, bit(n));
    for (let n = 0; n < 8; n += 1) set(size - 1 - n, 8, bit(n));
    for (let n = 8; n < 15; n += 1) set(8, size - 15 + n, bit(n));
    set(8, size - 8, true);
  };
  format(0);
  if (version >= 7) {
    const bits = withCheck(version, 0x1f25, 12);
    for (let n = 0; n < 18; n += 1) {
      const dark = ((bits >> n) & 1) === 1;
      set(size - 11 + (n % 3), Math.floor(n / 3), dark);
      set(Math.floor(n / 3), size - 11 + (n % 3), dark);
    }
  }
  fill(grid, fixed, all);
  const flip = (/** @type {number} */ mask) => grid.forEach((row, y) => row.forEach((_, x) => {
    if (!fixed[y][x] && MASKS[mask](x, y) === 0) row[x] = !row[x];
  }));
  let best = 0;
  let least = Infinity;
  MASKS.forEach((_, mask) => {
    flip(mask);
    const found = penalty(grid);
    if (found < least) [best, least] = [mask, found];
    flip(mask);
  });
  flip(best);
  format(best);
  return grid;
}

/** @param {number} version @param {number} size where the alignment patterns are */
function alignment(version, size) {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((4 * version + 4) / (2 * count - 2)) * 2;
  const found = [6];
  for (let n = count - 2; n >= 0; n -= 1) found.push(size - 7 - n * step);
  return found;
}

/** The codewords, in columns of two from the right, up and down. @param {Grid} grid @param {Grid} fixed @param {number[]} all */
function fill(grid, fixed, all) {
  const size = grid.length;
  let n = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    const upward = ((right + 1) & 2) === 0;
    for (let down = 0; down < size; down += 1) {
      for (const x of [right, right - 1]) {
        const y = upward ? size - 1 - down : down;
        if (!fixed[y][x] && n < 8 * all.length) {
          grid[y][x] = ((all[n >> 3] >> (7 - (n & 7))) & 1) === 1;
          n += 1;
        }
      }
    }
  }
}

/** Long runs and full squares make a code hard to read. @param {Grid} grid */
function penalty(grid) {
  const size = grid.length;
  let found = 0;
  for (let a = 0; a < size; a += 1) {
    let [across, along] = [0, 0];
    for (let b = 0; b < size; b += 1) {
      across = b && grid[a][b] === grid[a][b - 1] ? across + 1 : 1;
      along = b && grid[b][a] === grid[b - 1][a] ? along + 1 : 1;
      found += (across === 5 ? 3 : across > 5 ? 1 : 0) + (along === 5 ? 3 : along > 5 ? 1 : 0);
      const here = grid[a][b];
      if (a && b && here === grid[a - 1][b] && here === grid[a][b - 1] && here === grid[a - 1][b - 1]) found += 3;
    }
  }
  return found;
}

/** The code as a picture, black on white in any colours of the page. @param {string} text */
export function qrSvg(text) {
  const grid = qrGrid(text);
  const size = grid.length + 8;
  const path = grid.map((row, y) => row.map((dark, x) => (dark ? `M${x + 4} ${y + 4}h1v1h-1z` : '')).join('')).join('');
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', `0 0 ${size} ${size}`);
  svg.setAttribute('shape-rendering', 'crispEdges');
  for (const [d, fill] of [[`M0 0h${size}v${size}h-${size}z`, '#fff'], [path, '#000']]) {
    const drawn = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    drawn.setAttribute('d', d);
    drawn.setAttribute('fill', fill);
    svg.append(drawn);
  }
  return svg;
}
