// The panels of the views about places: attention, reach, the origin of content.

/** The box of a map below the names and the band of the class token. */
function mapBoxes(width) {
  const top = 24 + TOKEN_BAND;
  return halves(width, top, 0).map(({ x, width: half }) => {
    const side = Math.min(half, 260);
    return { x: x + (half - side) / 2, y: top, width: side, height: side, rows: CELLS, columns: CELLS };
  });
}
const mapsHeight = width => mapBoxes(width)[0].y + mapBoxes(width)[0].height + 58;

/** One map for each network: weights(side) → { patches, token: weight on the class token or null }, or a sentence why not. */
function drawMaps(g, now, width, label, weights) {
  const { ink, sides, query, percent } = now;
  drawNames(g, now, width);
  mapBoxes(width).forEach((cells, i) => {
    const found = weights(sides[i]);
    if (typeof found === "string") { drawNote(g, now, cells, found); return; }
    const peak = Math.max(...found.patches) || 1, band = { ...tokenBox(cells), y: 26 };
    drawCells(g, ink, cells, (row, column) => found.patches[row * CELLS + column] / peak);
    if (found.token !== null) {
      const relative = Math.min(1, found.token / peak);
      g.fillStyle = colour(relative);
      g.fillRect(band.x, band.y, band.width, band.height);
      write(g, relative > 0.55 ? "#000" : "#fff", "[CLS]", band.x + band.width / 2, band.y + 16, "center");
      write(g, ink.muted, percent(found.token), band.x + band.width + 6, band.y + 16);
    }
    if (query !== CLASS_TOKEN) markCell(g, cells, Math.floor(query / CELLS), query % CELLS);
    else if (found.token !== null) outlineBox(g, band);
    drawLegend(g, ink, { x: cells.x, y: cells.y + cells.height + 28, width: cells.width, low: "0", high: percent(peak), label });
  });
}

/** What the chosen token attends to in one network, or why there is nothing to show. */
function attended({ t, block, head, query, rolled }, side) {
  if (!side.about.heads) return t.noAttention;
  const token = tokenIn(side.about, query), layer = Math.min(block, side.about.blocks.length - 1);
  if (token === null) return "–";
  if (!side.look) return t.waiting;
  const row = rolled ? side.look.rollout(layer, token) : side.look.row(layer, head, token), { prefix } = side.about;
  return { patches: row.subarray(prefix), token: prefix ? row[0] : null };
}

/** The token of a query in a network: null if it has no class token. @param {{ prefix: number }} about @param {number} query */
const tokenIn = ({ prefix }, query) => query !== CLASS_TOKEN ? prefix + query : prefix ? 0 : null;

// --- all heads at once ----------------------------------------------------------------------------------------------

const HEAD_ROWS = 6;
const headCells = width => halves(width, 24, 0).map(({ x, width: half }) => ({ x: x + 14, y: 24, width: half - 14, height: (half - 14) * HEAD_ROWS / 8, rows: HEAD_ROWS, columns: 8 }));
const headsHeight = width => headCells(width)[0].y + headCells(width)[0].height + 26;

function drawHeads(g, now, width) {
  const { t, ink, sides, block, head, query, rolled } = now;
  drawNames(g, now, width);
  headCells(width).forEach((cells, i) => {
    const { about, look } = sides[i], token = tokenIn(about, query);
    if (!about.heads || token === null || !look) { drawNote(g, now, cells, about.heads ? "–" : t.noAttention); return; }
    for (let layer = 0; layer < look.layers; layer++) {
      write(g, ink.muted, String(layer), cells.x - 12, cellBox(cells, layer, 0).y + cellBox(cells, layer, 0).height / 2 + 4);
      for (let h = 0; h < look.heads; h++) {
        const { x, y, width: side } = cellBox(cells, layer, h), box = { x: x + 1, y: y + 1, width: side - 2, height: side - 2, rows: CELLS, columns: CELLS };
        const row = look.row(layer, h, token).subarray(about.prefix), peak = Math.max(...row);
        drawCells(g, ink, box, (r, c) => row[r * CELLS + c] / peak);
      }
    }
    if (!rolled && head !== "mean" && block < look.layers) markCell(g, cells, block, head, sides[i].style);
    write(g, ink.muted, t.head, cells.x + cells.width / 2, cells.y + cells.height + 18, "center");
  });
}

/** A click takes the head, in either network; arrows move over blocks and heads. */
function headsPick(view, t) {
  const place = () => [Math.min(HEAD_ROWS - 1, view.get("block")), view.get("head") === "mean" ? 0 : view.get("head")];
  const set = (block, head) => view.set({ block, head, look: "one" });
  return {
    at(x, y, width) { for (const cells of headCells(width)) { const cell = cellAt(cells, x, y); if (cell) set(...cell); } },
    move(right, up) {
      const [block, head] = place();
      set(Math.min(HEAD_ROWS - 1, Math.max(0, block - up)), Math.min(7, Math.max(0, head + right)));
    },
    value: () => ({ now: place()[0] * 8 + place()[1], max: HEAD_ROWS * 8 - 1, text: `${t.block} ${place()[0]}, ${t.oneHead(place()[1])}` }),
  };
}

// --- reach ----------------------------------------------------------------------------------------------------------

const REACH_HEIGHT = 290;

function drawReach(g, now, width) {
  const { t, ink, sides, measured } = now, high = 24;
  drawNames(g, now, width);
  halves(width, 76, 150).forEach(({ x, y, width: half, height }, i) => {
    const { about, look, style, distances } = sides[i], box = { x: x + 26, y, width: half - 28, height };
    if (!about.heads || !look) { drawNote(g, now, box, about.heads ? t.waiting : t.noAttention); return; }
    const xAxis = indexAxis(about.distance.length, t.blockAxis);
    const { px, py } = drawAxes(g, ink, box, xAxis, { low: 0, high, label: "", ticks: [0, 8, 16, 24].map(v => [v, String(v)]) });
    line(g, ink.text, [[box.x, py(about.uniform)], [box.x + box.width, py(about.uniform)]], { width: 1.5, dash: [5, 5] });
    about.distance.forEach((heads, layer) => heads.forEach((usual, h) => {
      const spot = px(layer + 0.7 * ((h + 0.5) / heads.length - 0.5)), here = distances[layer][h];
      line(g, ink.muted, [[spot, py(usual)], [spot, py(here)]], { width: 1 });
      drawDot(g, spot, py(usual), 3, [[ink.muted, 1.5]]);
      drawDot(g, spot, py(here), 3, [], style);
    }));
  });
  const keys = /** @type {[string, Look][]} */ ([[t.here, { style: ink.text, marker: "circle" }], [t.usual(measured), { style: ink.muted, marker: "ring" }], [t.even, { style: ink.text, dash: [5, 5] }]]);
  drawKeys(g, ink, keys, 0, 38, width);
  write(g, ink.muted, t.distance, 0, REACH_HEIGHT - 6);
}

// --- content --------------------------------------------------------------------------------------------------------

/** From where the content of the chosen place comes, after a block, in one network. */
function contentOf({ t, block, query }, side) {
  const token = tokenIn(side.about, query), layer = Math.min(block, side.about.blocks.length - 1);
  if (token === null) return "–";
  if (!side.content) return t.waiting;
  return { patches: side.content[layer].subarray(token * CELLS ** 2, (token + 1) * CELLS ** 2), token: null };
}
