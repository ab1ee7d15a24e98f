// The panels of norm ratios and CKA, the sentences below the picture, and the numbers behind it.

const NORMS_HEIGHT = 330, CKA_HEIGHT = 330;

/** The kinds of branches a network has, in their order within a block. */
const branchKinds = about => about.heads ? ["attn", "mlp"] : about.blocks[0].length === 2 ? ["mix", "mlp"] : ["conv"];

/** Branches of one kind: [{ mean, token }] by block. */
const branchesOf = (norms, kinds, kind) => norms.filter((_, i) => i % kinds.length === kinds.indexOf(kind));

function drawNorms(g, now, width) {
  const { t, ink, sides, query } = now, ticks = /** @type {[number, string][]} */ ([0.1, 0.3, 1, 3, 10, 30, 100].map(value => [value, String(value)]));
  drawNames(g, now, width);
  halves(width, 84, NORMS_HEIGHT - 136).forEach(({ x, y, width: half, height }, i) => {
    const { about, look, style } = sides[i], kinds = branchKinds(about), box = { x: x + 30, y, width: half - 32, height };
    if (!look) { drawNote(g, now, box, t.waiting); return; }
    const token = tokenIn(about, query), norms = look.norms(token ?? 0), count = about.blocks.length;
    const scales = drawAxes(g, ink, box, indexAxis(count, t.blockAxis), { low: 0.1, high: 100, log: true, label: "", ticks });
    line(g, ink.text, [[box.x, scales.py(1)], [box.x + box.width, scales.py(1)]], { width: 1.5 });
    const inside = value => Math.min(100, Math.max(0.1, value));
    const looks = kinds.map((kind, k) => ({ ...lookOf(ink, k), style, marker: ["circle", "square"][k] }));
    kinds.forEach((kind, k) => {
      const branches = branchesOf(norms, kinds, kind);
      drawSeries(g, scales, branches.map(({ mean }) => inside(mean)), looks[k]);
      if (token !== null && kind !== "conv") drawSeries(g, scales, branches.map(({ token }) => inside(token)), { style: ink.muted, marker: looks[k].marker, dash: looks[k].dash }, { width: 1, size: 2.5 });
    });
    const keys = kinds.map((kind, k) => /** @type {[string, Look]} */ ([t.branchNames[kind], looks[k]]));
    if (kinds.length > 1 && token !== null) keys.push([t.tokenMark, { style: ink.muted, dash: [] }]);
    drawKeys(g, ink, keys, x, 36, half);
  });
  write(g, ink.muted, t.ratio, 0, NORMS_HEIGHT - 6);
}

// --- CKA ------------------------------------------------------------------------------------------------------------

function ckaCells(width, { map }) {
  const [{ width: half }] = halves(width, 0, 0), rows = map?.length ?? 1, columns = map?.[0].length ?? 1;
  return { x: 26, y: 28, width: half - 30, height: CKA_HEIGHT - 28 - 100, rows, columns, upward: true };
}

function drawCkaMap(g, now, width) {
  const { t, ink, sides, kin, row, column } = now, cells = ckaCells(width, kin);
  write(g, sides[0].style, sides[0].label, 0, 14);
  if (!kin.map) { drawNote(g, now, { ...cells, width: width - 40 }, t.waiting); return; }
  drawCells(g, ink, cells, (r, c) => Math.max(0, kin.map[r][c]));
  kin.map.forEach((_, r) => write(g, ink.muted, String(r), 18, cellBox(cells, r, 0).y + cellBox(cells, r, 0).height / 2 + 4, "right"));
  kin.map[0].forEach((_, c) => write(g, ink.muted, String(c), cellBox(cells, 0, c).x + cellBox(cells, 0, c).width / 2, cells.y + cells.height + 16, "center"));
  markCell(g, cells, row, column);
  write(g, sides[1].style, sides[1].label, cells.x + cells.width / 2, cells.y + cells.height + 36, "center");
  drawLegend(g, ink, { x: cells.x, y: cells.y + cells.height + 64, width: cells.width, low: "0", high: "1", label: t.ckaAxis });
  drawSettling(g, now, width);
}

/** CKA of the chosen pair over the number of images, with its interval: the reader sees it settle. */
function drawSettling(g, { t, ink, kin }, width) {
  const [, { x, width: half }] = halves(width, 0, 0), box = { x: x + 34, y: 28, width: half - 46, height: CKA_HEIGHT - 28 - 100 };
  const most = kin.n, xAxis = { low: 0, high: most + 2, label: t.imagesAxis, ticks: /** @type {[number, string][]} */ ([8, 16, 32, 48, 64, 80].filter(n => n <= most).map(n => [n, String(n)])) };
  const { px, py } = drawAxes(g, ink, box, xAxis, { low: -0.2, high: 1, label: "", ticks: [0, 0.25, 0.5, 0.75, 1].map(value => [value, fixed(value, 2)]) });
  const inside = value => py(Math.min(1, Math.max(-0.2, value)));
  for (const { count, low, high } of kin.steps) line(g, ink.second, [[px(count), inside(low)], [px(count), inside(high)]], { width: 2 });
  line(g, ink.first, kin.steps.map(({ count, value }) => [px(count), inside(value)]));
  for (const { count, value } of kin.steps) drawDot(g, px(count), inside(value), 3.5, [], ink.first);
}

function ckaPick(view, now) {
  return pickCells(view, { panel: "cka", cells: width => ckaCells(width || 700, now().kin ?? {}), now: () => [view.get("row"), view.get("column")],
    set: (row, column) => view.set({ row, column }), text: () => `${view.t.read.pair(view.get("row"), view.get("column"))}: ${fixed(now().kin?.map?.[view.get("row")]?.[view.get("column")] ?? NaN)}` });
}

// --- in words -------------------------------------------------------------------------------------------------------

const undecided = shares => Math.max(...shares) - Math.min(...shares) < 1e-6;

/** What a network names, and whether that is still what it named before the reader changed something. */
function answerInWords({ t, classes, percent }, { label, look, base, isChanged }) {
  if (!look) return "";
  const after = largest(look.final), share = percent(look.final[after]);
  if (undecided(look.final)) return t.undecided(label);
  if (!isChanged || !base) return t.named(label, classes[after], share);
  const before = largest(base.final), was = percent(base.final[before]);
  if (before === after) return t.stayed(label, classes[after], was, share);
  return t.changed(label, `${classes[before]} (${was})`, `${classes[after]} (${share})`);
}

/** The sentence of the view that is shown. */
function readingInWords(now) {
  const { t, view, block, head, rolled, sides, tokenName, kin, row, column, percent, query } = now, read = t.read;
  if (view === "attention") return rolled ? read.rollout(tokenName, block) : read.attention(tokenName, block, head === "mean" ? t.meanHead : t.oneHead(head));
  if (view === "content") {
    const own = sides.map(side => {
      const found = contentOf(now, side);
      if (typeof found === "string" || query === CLASS_TOKEN) return "";
      const others = found.patches.map((value, patch) => patch === query ? -1 : value), best = largest(others);
      return read.own(side.label, percent(found.patches[query]), read.bestOther(t.token(Math.floor(best / CELLS), best % CELLS), percent(found.patches[best])));
    });
    return [read.content(tokenName, block), ...own].join(" ");
  }
  if (view === "cka") {
    if (!kin.map) return t.waiting;
    const { count, value, low, high } = kin.steps[kin.steps.length - 1];
    return `${read.cka(count, read.pair(row, column), fixed(value), fixed(low), fixed(high))} ${read.plain}${kin.tray ? read.tray(kin.tray) : ""}`;
  }
  return read[view];
}

function captionOf(now) {
  const { t, sides } = now, anything = sides.some(side => side.isChanged);
  return [anything ? t.whatChanged : "", ...sides.map(side => answerInWords(now, side)), anything ? "" : t.nothing, readingInWords(now)].filter(Boolean).join(" ");
}

// --- numbers --------------------------------------------------------------------------------------------------------

/** @returns {Table} */
function tableOf(now) {
  const { t, view, sides, classes, percent, kin, block } = now, labels = sides.map(({ label }) => label), ready = sides.filter(({ look }) => look);
  if (view === "lens") {
    const columns = ready.flatMap(({ label, look, about }) => look.probabilities.map((shares, i) => ({ head: `${label}, ${t.blockAxis} ${about.blocks.length - look.probabilities.length + i}`, shares })));
    return { head: [t.classColumn, ...columns.map(({ head }) => head)], rows: classes.map((name, i) => [name, ...columns.map(({ shares }) => percent(shares[i]))]) };
  }
  if (view === "attention" || view === "content") {
    const found = sides.map(side => view === "content" ? contentOf(now, side) : attended(now, side));
    const cell = (one, patch) => typeof one === "string" ? "–" : percent(one.patches[patch]);
    return { head: [t.patchColumn, ...labels], rows: upTo(CELLS ** 2).map(patch => [placeText(patch, [CELLS, CELLS]), ...found.map(one => cell(one, patch))]), current: now.query };
  }
  if (view === "reach") {
    const with_ = ready.filter(({ about }) => about.heads);
    const rows = (with_[0]?.about.distance ?? []).flatMap((heads, layer) => heads.map((_, h) =>
      [String(layer), String(h), ...with_.flatMap(({ about, distances }) => [fixed(distances[layer][h], 1), fixed(about.distance[layer][h], 1)])]));
    return { head: [t.blockColumn, t.headColumn, ...with_.flatMap(({ label }) => [label, t.usualColumn(label)])], rows };
  }
  if (view === "norms") {
    const rows = ready.flatMap(({ label, look, about }) => {
      const kinds = branchKinds(about), token = tokenIn(about, now.query);
      return look.norms(token ?? 0).map(({ mean, token: one }, i) => [`${label}, ${t.branchNames[kinds[i % kinds.length]]}`, String(Math.floor(i / kinds.length)), fixed(mean, 2),
        Number.isNaN(one) || token === null ? "–" : fixed(one, 2)]);
    });
    return { head: [t.branchColumn, t.blockColumn, t.ratio, t.tokenMark], rows };
  }
  return { head: [t.imagesColumn, t.ckaAxis, t.low, t.high], rows: kin.steps.map(({ count, value, low, high }) => [String(count), fixed(value), fixed(low), fixed(high)]), current: block < 0 ? 0 : kin.steps.length - 1 };
}
