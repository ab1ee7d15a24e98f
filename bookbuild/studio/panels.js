// The panels that are always there: the gallery, the image as the networks read it, the classes.

const GAP = 18, CLASS_TOKEN = CELLS ** 2, TOKEN_BAND = 30; // query 0 … 63 is a patch, 64 the class token, in a band above the image

/** Two boxes side by side, one for each network. */
function halves(width, top, height) {
  const half = (width - GAP) / 2;
  return [0, half + GAP].map(x => ({ x, y: top, width: half, height }));
}

/** Names of both networks above their halves, in their colours. */
function drawNames(g, { sides }, width) {
  halves(width, 0, 0).forEach(({ x, width: half }, i) => {
    drawDot(g, x + 6, 9, 5, [], sides[i].style);
    g.save();
    g.beginPath(); g.rect(x, 0, half, 20); g.clip();
    write(g, sides[i].style, sides[i].label, x + 16, 14);
    g.restore();
  });
}

/** A sentence in the middle of a box. */
const drawNote = (g, { ink }, { x, y, width, height }, text) => {
  wrap(g, text, width - 10).forEach((words, i) => write(g, ink.muted, words, x + width / 2, y + height / 2 + 18 * i, "center"));
};

// --- gallery --------------------------------------------------------------------------------------------------------

const galleryOf = (count, width) => {
  const columns = width < 500 ? 8 : 16, rows = Math.ceil(count / columns), cell = width / columns;
  return { x: 0, y: 2, width, height: rows * cell, rows, columns };
};

/** @param {View} view @param {{ pictures: any[] }} studio @param {() => any} now @returns {Panel} */
function galleryPanel(view, studio, now) {
  const { t } = view;
  let last = 700; // its width, for arrow keys
  const set = (row, column) => {
    const index = row * galleryOf(studio.pictures.length, last).columns + column;
    if (index < studio.pictures.length) view.set({ sample: index });
  };
  const columns = () => galleryOf(studio.pictures.length, last).columns;
  return {
    label: t.galleryLabel, wide: true,
    height: width => galleryOf(studio.pictures.length, width).height + 4,
    draw(g, width) {
      last = width;
      const cells = galleryOf(studio.pictures.length, width), sample = view.get("sample");
      studio.pictures.forEach((picture, i) => {
        const { x, y, width: side } = cellBox(cells, Math.floor(i / cells.columns), i % cells.columns);
        drawCrisp(g, { x: x + 1, y: y + 1, width: side - 2, height: side - 2 }, picture.canvas);
      });
      markCell(g, cells, Math.floor(sample / cells.columns), sample % cells.columns);
    },
    pick: pickCells(view, { panel: "gallery", cells: width => galleryOf(studio.pictures.length, width || last), set,
      now: () => [Math.floor(view.get("sample") / columns()), view.get("sample") % columns()], text: () => now().imageName ?? "" }),
  };
}

// --- the image ------------------------------------------------------------------------------------------------------

function imageBox(width) {
  const side = Math.min(width, 270);
  return { x: (width - side) / 2, y: TOKEN_BAND, width: side, height: side, rows: CELLS, columns: CELLS };
}
const tokenBox = ({ x }) => ({ x, y: 2, width: 58, height: TOKEN_BAND - 8 });

function outlineBox(g, { x, y, width, height }) {
  for (const [strokeStyle, lineWidth] of [["#000", 4], ["#fff", 2]]) {
    Object.assign(g, { strokeStyle, lineWidth });
    g.strokeRect(x, y, width, height);
  }
}

/** Where the chosen token is: on the image, or in the band above it. */
function markQuery(g, cells, query) {
  if (query === CLASS_TOKEN) outlineBox(g, tokenBox(cells)); else markCell(g, cells, Math.floor(query / CELLS), query % CELLS);
}

function drawImagePanel(g, { t, ink, shown, query }, width) {
  const box = imageBox(width), band = tokenBox(box);
  g.fillStyle = ink.line;
  g.fillRect(band.x, band.y, band.width, band.height);
  write(g, ink.text, "[CLS]", band.x + band.width / 2, band.y + 16, "center");
  drawCrisp(g, box, imageCanvas(shown.pixels));
  g.globalAlpha = 0.25;
  for (let i = 1; i < CELLS; i++) {
    const at = box.width * i / CELLS;
    line(g, "#fff", [[box.x + at, box.y], [box.x + at, box.y + box.height]], { width: 1 });
    line(g, "#fff", [[box.x, box.y + at], [box.x + box.width, box.y + at]], { width: 1 });
  }
  g.globalAlpha = 1;
  markQuery(g, box, query);
  write(g, ink.muted, t.asRead, box.x + box.width / 2, box.y + box.height + 18, "center");
}

/** A token is chosen or a patch is covered, as the reader set it; arrow keys do the same to the patch that they reach. */
function imagePick(view, token) {
  function act(query) {
    const tool = view.get("tool"), patch = query !== CLASS_TOKEN;
    view.set({ query, ...(patch && tool !== "choose" ? { cover: withCover(view.get("cover"), query, tool === "cover") } : {}) });
  }
  return {
    at(x, y, width) {
      const box = imageBox(width), cell = cellAt(box, x, y), band = tokenBox(box);
      if (cell) act(cell[0] * CELLS + cell[1]);
      else if (y < TOKEN_BAND && x >= band.x && x <= band.x + band.width) act(CLASS_TOKEN);
    },
    move(right, up) {
      const query = view.get("query"), row = Math.floor(query / CELLS), column = query % CELLS, inside = value => Math.min(CELLS - 1, Math.max(0, value));
      if (query === CLASS_TOKEN) act(up < 0 ? Math.floor(CELLS / 2) : query);
      else act(up > 0 && row === 0 ? CLASS_TOKEN : inside(row - up) * CELLS + inside(column + right));
    },
    value: () => ({ now: view.get("query"), max: CLASS_TOKEN, text: token(view.get("query")) }),
  };
}

// --- classes --------------------------------------------------------------------------------------------------------

const NAMES_WIDTH = 92, CLASS_ROW = 25;

function drawProbabilities(g, { t, ink, classes, sides, percent }, width) {
  const left = NAMES_WIDTH, room = width - left - 52;
  sides.forEach(({ label, style }, i) => drawKeys(g, ink, [[label, { style, marker: "square" }]], 0, 14 + 18 * i, width));
  classes.forEach((name, row) => {
    const y = 46 + CLASS_ROW * row;
    write(g, ink.text, name, 0, y + 15);
    sides.forEach(({ look, base, style, isChanged }, i) => {
      if (!look) return;
      const share = look.final[row], top = y + 1 + 11 * i;
      g.fillStyle = style;
      g.fillRect(left, top, Math.max(1, room * share), 9);
      if (isChanged && base) line(g, ink.text, [[left + room * base.final[row], top - 1], [left + room * base.final[row], top + 10]], { width: 1.5 });
      if (share >= 0.095) write(g, ink.muted, percent(share, 0), left + room * share + 6, top + 9);
    });
  });
  write(g, ink.muted, t.probability, left + room / 2, 46 + CLASS_ROW * classes.length + 14, "center");
}
const probabilitiesHeight = () => 46 + CLASS_ROW * 10 + 20;

/** Rows are classes, columns blocks: what the head says after each block. */
function drawLens(g, now, width) {
  const { ink, classes, sides, t } = now, left = NAMES_WIDTH, half = (width - left - GAP) / 2;
  sides.forEach(({ look, label, style, about }, i) => {
    const x = left + i * (half + GAP), height = CLASS_ROW * classes.length;
    g.save();
    g.beginPath(); g.rect(x, 0, half, 20); g.clip();
    write(g, style, label, x, 14);
    g.restore();
    if (!look) return;
    const steps = look.probabilities.length, first = about.blocks.length - steps, cells = { x, y: 24, width: half, height, rows: classes.length, columns: steps };
    drawCells(g, ink, cells, (row, column) => look.probabilities[column][row]);
    look.probabilities.forEach((shares, column) => {
      const { x: cx, y: cy, width: w, height: h } = cellBox(cells, largest(shares), column), top = shares[largest(shares)];
      drawDot(g, cx + w / 2, cy + h / 2, 3.5, [], top > 0.6 ? "#000" : "#fff");
      write(g, ink.muted, String(first + column), cx + w / 2, 24 + height + 16, "center");
    });
    write(g, ink.muted, t.blockAxis, x + half / 2, 24 + height + 34, "center");
  });
  classes.forEach((name, row) => write(g, ink.text, name, 0, 24 + CLASS_ROW * (row + 0.68)));
  const bar = Math.min(200, width / 2);
  drawLegend(g, ink, { x: (width - bar) / 2, y: 24 + CLASS_ROW * classes.length + 64, width: bar, low: "0%", high: "100%", label: t.probability });
}
const lensHeight = () => 24 + CLASS_ROW * 10 + 94;
