// Explorer of CKA maps: any two models, and one layer against all layers of the other.

const STRINGS = {
  en: {
    title: "Which layers are alike?",
    pair: "Models", taps: "Layers", blocks: "blocks", all: "all taps", layers: name => `layers of ${name}`,
    presets: [["Far apart, yet alike", "alike"], ["At one depth, yet unlike", "unlike"]],
    mapLabel: "CKA of all pairs of layers; arrow keys move the cell",
    lineLabel: "CKA of the chosen row's layer with every layer of the other model; arrow keys move along it",
    with: layer => `CKA with ${layer}`, undefined: "undefined",
    cell: v => `${v.x} ${v.column} and ${v.y} ${v.row}: CKA ${v.value}.`,
    pointer: "Under the pointer",
    best: v => `The ${v.others} layer of ${v.x} most like ${v.row} is ${v.column} (${v.value}).`, other: "other", any: "",
    constant: layer => `${layer} gives the same for every image, so its CKA is undefined.`,
    images: n => `Measured on ${n} images.`,
    columns: v => [`layer of ${v.x}`, `CKA with ${v.row}`],
  },
  ko: {
    title: "어느 층과 어느 층이 닮았는가?",
    pair: "모델", taps: "층", blocks: "블록", all: "모든 측정 위치", layers: name => `${name} 층`,
    presets: [["깊이는 먼데 닮은 층", "alike"], ["깊이는 같은데 다른 층", "unlike"]],
    mapLabel: "모든 층 쌍의 CKA, 화살표 키로 칸 이동",
    lineLabel: "고른 행의 층과 다른 모델의 모든 층 사이의 CKA, 화살표 키로 이동",
    with: layer => `${layer} 층과의 CKA`, undefined: "정의되지 않음",
    cell: v => `${v.x} ${v.column}, ${v.y} ${v.row}: CKA ${v.value}.`,
    pointer: "포인터 위치",
    best: v => `${v.row} 층과 가장 닮은 ${v.x}의 ${v.others} 층은 ${v.column}(${v.value})이다.`, other: "다른", any: "",
    constant: layer => `${layer} 층은 모든 이미지에 같은 값을 내므로 CKA가 정의되지 않는다.`,
    images: n => `이미지 ${n}장으로 잰 값이다.`,
    columns: v => [`${v.x} 층`, `${v.row} 층과의 CKA`],
  },
};

/** The cell that surprises most: alike although its layers are far apart in depth, or unlike although they are at one depth. */
function surprising(values, what) {
  const [rows, columns] = values.shape, depth = (i, count) => count > 1 ? i / (count - 1) : 1;
  const cells = Array.from({ length: rows * columns }, (_, i) => {
    const row = Math.floor(i / columns), column = i % columns, value = values.at(i), apart = Math.abs(depth(row, rows) - depth(column, columns));
    return { row, column, surprise: Number.isNaN(value) ? -Infinity : what === "alike" ? apart * value : 1 - apart - value };
  });
  const { row, column } = cells.reduce((best, cell) => cell.surprise > best.surprise ? cell : best);
  return { row, column };
}

const explorer = defineExplorer({
  name: "cka",
  strings: STRINGS,
  columns: "1.15fr 1fr",
  captionAfter: 1,
  presets: (t, view) => t.presets.map(([label, what]) => ({
    label, find: () => surprising(view.part(`${view.get("taps")} ${view.get("pair")}`).values, what),
  })),
  controls(t, view) {
    const { taps, models, sizes } = view.get("about");
    const named = pair => pair.split(" × ").map(model => view.say(models[model])).join(" × ");
    const size = axis => sizes[`${view.get("taps")} ${view.get("pair")}`][axis];
    return [
      tabs({ key: "taps", label: t.taps, options: Object.keys(taps).map(kind => [kind, t[kind]]), when: () => Object.keys(taps).length > 1 }),
      choice({ key: "pair", label: t.pair, options: () => taps[view.get("taps")].map(pair => [pair, named(pair)]) }),
      picked({ key: "row", count: () => size(0) }),
      picked({ key: "column", count: () => size(1) }),
    ];
  },
  setup(view) {
    const { t, ink } = view, name = () => `${view.get("taps")} ${view.get("pair")}`;
    let now = /** @type {any} */ ({});

    function update() {
      const { values, n, ...names } = view.part(name()), models = view.get("pair").split(" × ");
      const [rows, columns] = [names.rows, names.columns].map(layers => layers.map(layer => layerName(layer, view.lang)));
      const [x, y] = [models[0], models.at(-1)].map(model => view.say(view.get("about").models[model]));
      const row = view.get("row"), column = view.get("column"), line = columns.map((_, c) => values.get(row, c));
      now = { values, rows, columns, n, x, y, row, column, line, alone: models.length === 1, undefinedRow: line.every(Number.isNaN) };
    }

    /** The layer most like the chosen row's; of the same model, another one. */
    function closest() {
      const candidates = now.line.map((value, c) => [value, c]).filter(([value, c]) => !Number.isNaN(value) && !(now.alone && c === now.row));
      return candidates.length ? candidates.reduce((best, next) => next[0] > best[0] ? next : best) : null;
    }

    function describe(row, column) {
      const { x, y, rows, columns, values } = now;
      return t.cell({ x, y, row: rows[row], column: columns[column], value: ckaText(t, values.get(row, column)) });
    }

    function caption() {
      const { hover } = view, { x, rows, columns, row, column, n, alone } = now, best = closest();
      const cell = hover ? `${t.pointer}: ${describe(hover.panel === "map" ? hover.row : row, hover.column)}` : describe(row, column);
      const more = now.undefinedRow ? t.constant(rows[row])
        : best ? t.best({ x, row: rows[row], others: alone ? t.other : t.any, column: columns[best[1]], value: fixed(best[0]) }) : "";
      return [cell, more, t.images(n)].filter(Boolean).join(" ").replaceAll("  ", " ");
    }

    const table = () => ({
      head: t.columns({ x: now.x, row: now.rows[now.row] }),
      rows: now.columns.map((layer, c) => [layer, ckaText(t, now.line[c])]),
      current: now.column,
    });

    const mapCells = (width, height) => ckaCells(width, height, now.values.shape);
    function drawMap(g, width, height) {
      drawCkaMap(g, ink, mapCells(width, height), { ...now, pointer: true, hover: view.hover?.panel === "map" ? view.hover : null,
        xLabel: t.layers(now.x), yLabel: t.layers(now.y) });
    }

    const lineCells = (width, height) => ({ x: 34, y: 30, width: width - 44, height: height - 84, rows: 1, columns: now.columns.length });
    function drawLine(g, width, height) {
      const box = lineCells(width, height), low = Math.min(0, ...now.line.filter(value => value < 0));
      const { px, py } = drawAxes(g, ink, box, indexAxis(box.columns, t.layers(now.x)),
        { low, high: 1, label: t.with(now.rows[now.row]), ticks: [0, 0.25, 0.5, 0.75, 1].map(value => [value, String(value)]) });
      const column = view.hover?.panel === "line" ? view.hover.column : now.column;
      line(g, ink.muted, [[px(column), box.y], [px(column), box.y + box.height]], { width: 1 });
      drawSeries(g, { px, py }, now.line, lookOf(ink, 0), { size: box.columns > 30 ? 0 : 3.5 });
      if (!Number.isNaN(now.line[now.column])) drawDot(g, px(now.column), py(now.line[now.column]), 6, [[ink.paper, 3]], ink.first);
    }

    const pick = (panel, cells, row) => pickCells(view, {
      panel, cells, now: () => [row(), now.column], text: () => describe(now.row, now.column),
      set: (r, column) => view.set(panel === "map" ? { row: r, column } : { column }),
    });
    return {
      parts: () => [name()], update, caption, table,
      panels: [
        { label: t.mapLabel, height: ckaMapHeight, draw: drawMap, pick: pick("map", mapCells, () => now.row) },
        { label: t.lineLabel, height: () => 320, draw: drawLine, pick: pick("line", lineCells, () => 0) },
      ],
    };
  },
});
export default explorer;
