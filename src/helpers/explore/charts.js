// Heat-maps, lines, dots and images, and how the reader picks in them.
// Cells are a grid in a box: { x, y, width, height, rows, columns, upward }. With `upward` row 0 is the lowest, as in the book's
// figures of layers; without it the highest, as in an image. A line chart over an `indexAxis` is a grid with one row.

/** Axis of the places 0 … count − 1, each in the middle of its column. @param {number} count @param {string} label @returns {Axis} */
function indexAxis(count, label, most = 8) {
  const step = [1, 2, 5, 10, 20, 50, 100, 200].find(s => count / s <= most) ?? count;
  const ticks = Array.from({ length: Math.ceil(count / step) }, (_, i) => /** @type {[number, string]} */ ([i * step, String(i * step)]));
  return { low: -0.5, high: count - 0.5, label, ticks };
}

/** [row, column] at a point; null outside, or the nearest cell if `clamp`.
 *  @param {Cells} cells @param {number} px @param {number} py @returns {[row: number, column: number] | null} */
function cellAt({ x, y, width, height, rows, columns, upward }, px, py, clamp = false) {
  const column = Math.floor((px - x) / width * columns), down = Math.floor((py - y) / height * rows);
  const inside = column >= 0 && column < columns && down >= 0 && down < rows;
  if (!inside && !clamp) return null;
  const within = (value, count) => Math.min(count - 1, Math.max(0, value)), row = within(down, rows);
  return [upward ? rows - 1 - row : row, within(column, columns)];
}

/** Box of one cell. @param {Cells} cells @param {number} row @param {number} column @returns {Box} */
function cellBox({ x, y, width, height, rows, columns, upward }, row, column) {
  const [w, h] = [width / columns, height / rows];
  return { x: x + column * w, y: y + (upward ? rows - 1 - row : row) * h, width: w, height: h };
}

/** Pick for a panel with cells: click and arrows call set(row, column); the mouse alone sets view.hover = { panel, row, column }.
 *  cells(width, height) → the grid; now() → [row, column]; text() → the place in words
 *  @param {View} view @param {{ panel: string, cells(width: number, height: number): Cells, now(): number[],
 *    set(row: number, column: number): void, text(): string }} settings @returns {Picking} */
function pickCells(view, { panel, cells, now, set, text }) {
  return {
    at: (x, y, width, height) => set(.../** @type {[number, number]} */ (cellAt(cells(width, height), x, y, true))),
    move(right, up) {
      const { rows, columns, upward } = cells(0, 0), [row, column] = now(), limit = (value, count) => Math.min(count - 1, Math.max(0, value));
      set(limit(row + (upward ? up : -up), rows), limit(column + right, columns));
    },
    hover(point) {
      const cell = point && cellAt(cells(point.width, point.height), point.x, point.y);
      const next = cell && { panel, row: cell[0], column: cell[1] };
      if (JSON.stringify(next) === JSON.stringify(view.hover)) return;
      view.hover = next;
      view.redraw();
    },
    value() {
      const { rows, columns } = cells(0, 0), [row, column] = now();
      return { now: row * columns + column, max: rows * columns - 1, text: text() };
    },
  };
}

/** A small canvas as crisp pixels in a box. @param {CanvasRenderingContext2D} g @param {Box} box @param {HTMLCanvasElement} canvas */
function drawCrisp(g, { x, y, width, height }, canvas) {
  g.save();
  g.imageSmoothingEnabled = false;
  g.drawImage(canvas, x, y, width, height);
  g.restore();
}

/** fill(row, column) → [r, g, b, a], each 0…255 @param {number} rows @param {number} columns @param {(row: number, column: number) => number[]} fill */
function pixelCanvas(rows, columns, fill) {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: columns, height: rows });
  const g = contextOf(canvas), image = g.createImageData(columns, rows);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) image.data.set(fill(row, column), 4 * (row * columns + column));
  }
  g.putImageData(image, 0, 0);
  return canvas;
}

/** Hatching: here is no number. @param {CanvasRenderingContext2D} g @param {Ink} ink @param {Box} box */
function drawHatching(g, ink, { x, y, width, height }) {
  g.save();
  g.beginPath(); g.rect(x, y, width, height); g.clip();
  g.fillStyle = ink.line;
  g.fillRect(x, y, width, height);
  for (let d = -height; d < width; d += 6) line(g, ink.muted, [[x + d, y + height], [x + d + height, y]], { width: 1 });
  g.restore();
}

/** Heat-map: share(row, column) → 0…1, or NaN for hatching. alpha(share) → 0…1 lets an image shine through.
 *  @param {CanvasRenderingContext2D} g @param {Ink} ink @param {Cells} cells
 *  @param {(row: number, column: number) => number} share @param {(share: number) => number} [alpha] */
function drawCells(g, ink, cells, share, alpha = () => 1) {
  const { rows, columns, upward } = cells, at = (row, column) => share(upward ? rows - 1 - row : row, column);
  const canvas = pixelCanvas(rows, columns, (row, column) => {
    const value = at(row, column);
    return Number.isNaN(value) ? [0, 0, 0, 0] : [...rgb(value), 255 * alpha(value)];
  });
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) if (Number.isNaN(share(row, column))) drawHatching(g, ink, cellBox(cells, row, column));
  }
  drawCrisp(g, cells, canvas);
}

/** Outline of a cell that shows on any colour. @param {CanvasRenderingContext2D} g @param {Cells} cells @param {number} row @param {number} column */
function markCell(g, cells, row, column, style = "#fff") {
  const { x, y, width, height } = cellBox(cells, row, column);
  for (const [colour, lineWidth] of [["#000", 4], [style, 2]]) {
    Object.assign(g, { strokeStyle: colour, lineWidth });
    g.strokeRect(x, y, width, height);
  }
}

const images = new WeakMap();
/** An image: an unpacked uint8 array [height, width, 3]. @param {CanvasRenderingContext2D} g @param {Box} box @param {Unpacked} image */
function drawPixels(g, box, image) {
  if (!images.has(image)) {
    const [rows, columns] = image.shape;
    images.set(image, pixelCanvas(rows, columns, (row, column) => [0, 1, 2].map(c => image.get(row, column, c)).concat(255)));
  }
  drawCrisp(g, box, images.get(image));
}

// --- lines and dots: categories differ in colour, dash and marker, so none of the three is needed alone -------------------

const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [4, 2], [12, 4]], MARKERS = ["circle", "square", "triangle", "diamond", "cross", "ring"];

/** Look of category i. @param {Ink} ink @param {number} i @returns {Look} */
const lookOf = (ink, i) => ({ style: ink.series[i % 6], dash: DASHES[i % 6], marker: MARKERS[i % 6] });

/** @type {Record<string, number[][]>} */
const SHAPES = { square: [[-1, -1], [1, -1], [1, 1], [-1, 1]], triangle: [[0, -1.25], [1.2, 1], [-1.2, 1]], diamond: [[0, -1.4], [1.4, 0], [0, 1.4], [-1.4, 0]] };

/** @param {CanvasRenderingContext2D} g @param {string} style @param {number[][]} points */
function fillShape(g, style, points) {
  g.fillStyle = style;
  g.beginPath();
  for (const [x, y] of points) g.lineTo(x, y);
  g.fill();
}

/** @param {CanvasRenderingContext2D} g @param {Look} look @param {number} x @param {number} y @param {number} [size] */
function drawMarker(g, { style, marker }, x, y, size = 3.5) {
  if (marker === "cross") for (const s of [-1, 1]) line(g, style, [[x - size, y - s * size], [x + size, y + s * size]]);
  else if (marker === "ring") drawDot(g, x, y, size, [[style, 2]]);
  else if (marker && SHAPES[marker]) fillShape(g, style, SHAPES[marker].map(([dx, dy]) => [x + size * dx, y + size * dy]));
  else drawDot(g, x, y, size, [], style);
}

/** Values over the places 0, 1, …; NaN leaves a gap.
 *  @param {CanvasRenderingContext2D} g @param {{ px: Scale, py: Scale }} scales @param {number[]} values @param {Look} look
 *  @param {{ width?: number, size?: number }} [thickness] */
function drawSeries(g, { px, py }, values, look, { width = 2, size = 3.5 } = {}) {
  /** @type {number[][]} */
  let run = [];
  for (const [i, value] of [...values, NaN].entries()) {
    if (!Number.isNaN(value)) { run.push([px(i), py(value)]); continue; }
    line(g, look.style, run, { width, dash: look.dash });
    run = [];
  }
  if (size) values.forEach((value, i) => { if (!Number.isNaN(value)) drawMarker(g, look, px(i), py(value), size); });
}

/** Names of categories [[text, look]] in as many lines as they need; returns where the next line would be. A look without dash is a dot.
 *  @param {CanvasRenderingContext2D} g @param {Ink} ink @param {[string, Look][]} items @param {number} x @param {number} y @param {number} width */
function drawKeys(g, ink, items, x, y, width) {
  let left = x;
  for (const [text, look] of items) {
    const sample = look.dash ? 26 : 10, wide = sample + 6 + g.measureText(text).width;
    if (left > x && left + wide > x + width) { left = x; y += 20; }
    if (look.dash) line(g, look.style, [[left, y - 4], [left + sample, y - 4]], { dash: look.dash });
    if (look.marker) drawMarker(g, look, left + sample / 2, y - 4);
    write(g, ink.muted, text, left + sample + 6, y);
    left += wide + 16;
  }
  return y + 20;
}
