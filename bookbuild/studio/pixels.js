// Images of 32 × 32 pixels, [row, column, colour] from 0 to 255, and what the reader can do to them.

const WIDE = 32, CELLS = 8, CELL = 4;

/** image'[row, column] = image[from(row, column)]; without a place it is grey.
 *  @param {Uint8ClampedArray} image @param {(row: number, column: number) => number[] | null} from @param {number[]} grey */
function rearranged(image, from, grey) {
  const out = new Uint8ClampedArray(image.length);
  for (let row = 0; row < WIDE; row++) {
    for (let column = 0; column < WIDE; column++) {
      const place = from(row, column), to = 3 * (row * WIDE + column);
      for (let c = 0; c < 3; c++) out[to + c] = place ? image[3 * (place[0] * WIDE + place[1]) + c] : grey[c];
    }
  }
  return out;
}

/** Moved by whole pixels; what leaves at one edge enters at the other. */
const shiftedImage = (image, right, down) => {
  const wrap = value => (value % WIDE + WIDE) % WIDE;
  return rearranged(image, (row, column) => [wrap(row - down), wrap(column - right)], []);
};

/** Turned to the right about the middle, the nearest pixel taken; the corners are grey. */
function turnedImage(image, degrees, grey) {
  const angle = degrees * Math.PI / 180, middle = (WIDE - 1) / 2, cos = Math.cos(angle), sin = Math.sin(angle);
  return rearranged(image, (row, column) => {
    const x = column - middle, y = row - middle, from = [Math.round(middle - sin * x + cos * y), Math.round(middle + cos * x + sin * y)];
    return from.every(value => value >= 0 && value < WIDE) ? from : null;
  }, grey);
}

/** Blurred by a Gaussian of `sigma` pixels; the edge goes on outside. */
function blurredImage(image, sigma) {
  const reach = Math.ceil(3 * sigma), weights = Array.from({ length: 2 * reach + 1 }, (_, i) => Math.exp(-((i - reach) ** 2) / (2 * sigma ** 2)));
  const total = weights.reduce((a, b) => a + b, 0), inside = value => Math.min(WIDE - 1, Math.max(0, value));
  const along = (source, place) => {
    const out = new Float32Array(source.length);
    for (let row = 0; row < WIDE; row++) for (let column = 0; column < WIDE; column++) for (let c = 0; c < 3; c++) {
      let sum = 0;
      weights.forEach((weight, i) => { sum += weight * source[3 * place(row, column, i - reach) + c]; });
      out[3 * (row * WIDE + column) + c] = sum / total;
    }
    return out;
  };
  const across = along(image, (row, column, step) => row * WIDE + inside(column + step));
  return Uint8ClampedArray.from(along(across, (row, column, step) => inside(row + step) * WIDE + column));
}

/** The order of the patches that belongs to a number; 0 leaves them in place. @param {number} seed @returns {number[]} */
function patchOrder(seed) {
  const order = [...Array(CELLS ** 2).keys()];
  if (!seed) return order;
  let state = seed * 0x9e3779b9 >>> 0;
  const random = () => { // mulberry32
    state = state + 0x6d2b79f5 >>> 0;
    let t = Math.imul(state ^ state >>> 15, state | 1);
    t ^= t + Math.imul(t ^ t >>> 7, t | 61);
    return ((t ^ t >>> 14) >>> 0) / 2 ** 32;
  };
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

function reorderedImage(image, seed) {
  const order = patchOrder(seed);
  return rearranged(image, (row, column) => {
    const from = order[Math.floor(row / CELL) * CELLS + Math.floor(column / CELL)];
    return [Math.floor(from / CELLS) * CELL + row % CELL, from % CELLS * CELL + column % CELL];
  }, []);
}

// Covered patches are 16 hexadecimal digits, one bit for each patch, so that they fit into a link.
const NOTHING_COVERED = "0".repeat(16);
/** @param {string} cover @param {number} patch */
const isCovered = (cover, patch) => Boolean(parseInt(cover[patch >> 2], 16) >> patch % 4 & 1);
/** @param {string} cover @param {number} patch @param {boolean} on */
function withCover(cover, patch, on) {
  const digit = parseInt(cover[patch >> 2], 16), bit = 1 << patch % 4;
  return cover.slice(0, patch >> 2) + (on ? digit | bit : digit & ~bit).toString(16) + cover.slice((patch >> 2) + 1);
}
const coveredImage = (image, cover, grey) => rearranged(image, (row, column) =>
  isCovered(cover, Math.floor(row / CELL) * CELLS + Math.floor(column / CELL)) ? null : [row, column], grey);

/** All changes, one after the other. @param {Uint8ClampedArray} image @param {Record<string, any>} change @param {number[]} grey */
function changedImage(image, { turn, right, down, blur, order, cover }, grey) {
  let now = image;
  if (turn) now = turnedImage(now, turn, grey);
  if (right || down) now = shiftedImage(now, right, down);
  if (blur) now = blurredImage(now, blur);
  if (order) now = reorderedImage(now, order);
  return cover === NOTHING_COVERED ? now : coveredImage(now, cover, grey);
}

/** As the networks read it: [colour, row, column] from 0 to 1. @param {Uint8ClampedArray} image */
function asInput(image) {
  const out = new Float32Array(image.length), area = WIDE * WIDE;
  for (let i = 0; i < area; i++) for (let c = 0; c < 3; c++) out[c * area + i] = image[3 * i + c] / 255;
  return out;
}

/** @param {Uint8ClampedArray} image */
const imageCanvas = image => pixelCanvas(WIDE, WIDE, (row, column) => [...image.subarray(3 * (row * WIDE + column), 3 * (row * WIDE + column) + 3), 255]);
