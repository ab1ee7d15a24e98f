// Explorer of a ViT's input: cosine similarity of position embeddings, beside the principal components of the patch filters.

const STRINGS = {
  en: {
    title: "What does the input layer know about positions and patches?",
    model: "Network", position: "position",
    mapLabel: "Cosine similarity of the chosen position with all others; arrow keys move the position",
    filterLabel: "Leading principal components of the patch-embedding filters",
    mapTitle: "position embedding", cosine: "cosine similarity", filterTitle: "patch embedding: principal components",
    noFilters: "this network does not read pixels of a patch linearly",
    caption: v => `Position ${v.place}: the most similar other position is ${v.best} (cosine ${v.most}). Mean cosine with its neighbours ${v.near}, ` +
      `with the rest of its row and column ${v.lines}, with all other positions ${v.rest}.`,
    filters: v => `The ${v.count} filter components shown hold ${v.all} of the variance of the filters, the first one ${v.first}.`,
    falls: "Neighbours are more alike than distant positions.", flat: "Neighbours are no more alike than distant positions.",
    corner: "row \\ column",
  },
  ko: {
    title: "입력층은 위치와 패치를 어떻게 나타내는가?",
    model: "모델", position: "위치",
    mapLabel: "고른 위치와 다른 모든 위치의 코사인 유사도, 화살표 키로 위치 이동",
    filterLabel: "패치 임베딩 필터의 주성분",
    mapTitle: "위치 임베딩", cosine: "코사인 유사도", filterTitle: "패치 임베딩 필터의 주성분",
    noFilters: "패치의 픽셀을 선형으로 읽지 않는 모델",
    caption: v => `위치 ${v.place}: 가장 비슷한 다른 위치는 ${v.best}이다(코사인 유사도 ${v.most}). 코사인 유사도의 평균은 이웃과 ${v.near}, ` +
      `같은 행과 열의 나머지와 ${v.lines}, 그 밖의 모든 위치와 ${v.rest}이다.`,
    filters: v => `그림의 주성분 ${v.count}개에 필터 분산의 ${v.all}가 들어 있고, 첫째 주성분의 몫은 ${v.first}이다.`,
    falls: "이웃한 위치가 먼 위치보다 서로 더 비슷하다.", flat: "이웃한 위치라고 먼 위치보다 더 비슷하지는 않다.",
    corner: "행 \\ 열",
  },
};

const mapCells = ([rows, columns], width) => ({ x: 0, y: 24, width, height: width * rows / columns, rows, columns });

function drawPositions(g, { t, ink, grid, position, cosines, low, hover }, width) {
  const cells = mapCells(grid, width), columns = grid[1];
  write(g, ink.text, t.mapTitle, 0, 14);
  if (hover) write(g, ink.text, `(${hover.row}, ${hover.column}): ${fixed(cosines[hover.row * columns + hover.column])}`, width, 14, "right");
  drawCells(g, ink, cells, (row, column) => (cosines[row * columns + column] - low) / (1 - low));
  markCell(g, cells, Math.floor(position / columns), position % columns);
  drawLegend(g, ink, { x: 0, y: cells.y + cells.height + 28, width, low: fixed(low, 1), high: fixed(1, 1), label: t.cosine });
}

/** Tiles for `count` filters: how many in a row, and the room for each. */
function tilesOf(count, width) {
  const across = Math.ceil(Math.sqrt(count)), pitch = width / across;
  return { across, pitch, height: pitch * Math.ceil(count / across) };
}

function drawFilters(g, { t, ink, filters, shares }, width) {
  write(g, ink.text, wrap(g, t.filterTitle, width)[0], 0, 14);
  if (!filters) { wrap(g, t.noFilters, width).forEach((text, i) => write(g, ink.muted, text, 0, 44 + 18 * i)); return; }
  const { across, pitch } = tilesOf(shares.length, width), [, height, wide] = filters.shape;
  shares.forEach((_, k) => {
    const box = { x: pitch * (k % across), y: 24 + pitch * Math.floor(k / across), width: pitch - 4, height: (pitch - 4) * height / wide };
    drawCrisp(g, box, pixelCanvas(height, wide, (row, column) => [0, 1, 2].map(c => filters.get(k, row, column, c)).concat(255)));
  });
}

/** Mean cosine of a position with its neighbours, the rest of its row and column, and all others; and the most similar one. */
function readPosition(cosines, position, [, columns]) {
  const groups = /** @type {Record<string, number[]>} */ ({ near: [], lines: [], rest: [] }), y = Math.floor(position / columns), x = position % columns;
  cosines.forEach((value, i) => {
    const dy = Math.abs(Math.floor(i / columns) - y), dx = Math.abs(i % columns - x);
    if (i !== position) groups[dx + dy === 1 ? "near" : dx === 0 || dy === 0 ? "lines" : "rest"].push(value);
  });
  const best = largest(cosines.map((value, i) => i === position ? -2 : value));
  const means = Object.entries(groups).map(([name, values]) => [name, values.length ? fixed(average(values)) : "–"]);
  return { ...Object.fromEntries(means), best, most: fixed(cosines[best]), falls: average(groups.near) - average(groups.rest) > 0.05 };
}

const explorer = defineExplorer({
  name: "posembed",
  strings: STRINGS,
  columns: "1fr 1fr",
  controls(t, view) {
    const { models } = view.get("about");
    return [
      choice({ key: "model", label: t.model, options: Object.entries(models).map(([key, { name }]) => [key, view.say(name)]) }),
      picked({ key: "position", count: () => models[view.get("model")].grid.reduce((a, b) => a * b) }),
    ];
  },
  setup(view) {
    const { t, ink } = view, { models, low } = view.get("about"), percent = percentIn(view.lang);
    const gridNow = () => models[view.get("model")].grid;
    let now = /** @type {any} */ ({});
    function update() {
      const position = view.get("position"), { cosines: table, filters, shares } = view.part(view.get("model"));
      const cosines = Array.from({ length: table.shape[0] }, (_, i) => table.get(position, i));
      now = { t, ink, low, grid: gridNow(), position, filters, shares, cosines, hover: view.hover };
    }
    function caption() {
      const { grid, position, cosines, shares } = now, reading = readPosition(cosines, position, grid);
      const numbers = t.caption({ ...reading, place: placeText(position, grid), best: placeText(reading.best, grid) });
      const text = `${numbers} ${reading.falls ? t.falls : t.flat}`;
      if (!shares) return text;
      return `${text} ${t.filters({ count: shares.length, all: percent(shares.reduce((a, b) => a + b)), first: percent(shares[0]) })}`;
    }
    function table() {
      const { grid: [rows, columns], position, cosines } = now, upTo = count => [...Array(count).keys()];
      return {
        head: [t.corner, ...upTo(columns).map(String)],
        rows: upTo(rows).map(row => [String(row), ...upTo(columns).map(column => fixed(cosines[row * columns + column]))]),
        current: Math.floor(position / columns),
      };
    }
    const pick = pickCells(view, {
      panel: "map",
      cells: width => mapCells(gridNow(), width),
      now: () => [Math.floor(view.get("position") / gridNow()[1]), view.get("position") % gridNow()[1]],
      set: (row, column) => view.set({ position: row * gridNow()[1] + column }),
      text: () => `${t.position} ${placeText(view.get("position"), gridNow())}`,
    });
    const height = width => 24 + width * gridNow()[0] / gridNow()[1] + 60;
    return {
      update, caption, table, parts: () => [view.get("model")],
      panels: [
        { label: t.mapLabel, height, pick, draw: (g, width) => drawPositions(g, now, width) },
        {
          label: t.filterLabel, height: width => 24 + (now.shares ? tilesOf(now.shares.length, width).height : 60),
          draw: (g, width) => drawFilters(g, now, width),
        },
      ],
    };
  },
});
export default explorer;
