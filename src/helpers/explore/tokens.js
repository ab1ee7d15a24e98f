// Explorer of single tokens: the CKA of one with every input patch, and what a probe finds in it, in several networks at once.

const STRINGS = {
  en: {
    title: "What does a single token still know?",
    view: "Shown", similarity: "Similarity to patches", probe: "Probe accuracy", depth: "Relative depth",
    mapLabel: "The chosen token against the grid of every network, one map each; arrow keys move the token",
    chartLabel: "The chosen token by depth, one chart for each network",
    legends: { similarity: "CKA with the patch", probe: "accuracy of a probe on the token" },
    own: "with its own patch", others: "with the other patches, mean", 
    token: "this token", layer: i => `layer ${i}`, chance: "chance", depthAxis: "depth, %",
    lead: { similarity: place => `Token ${place} compared with the input patches.`, probe: place => `A linear probe on token ${place} alone.` },
    similarityOf: v => `${v.name}, ${v.layer}: CKA ${v.own} with its own patch, ${v.others} with the others on average; ` +
      `most similar is ${v.best}${v.hit ? ", its own" : ""}.`,
    probeOf: v => `${v.name}, layer ${v.layer} (of 0–${v.last}): right on ${v.token} of the test images${v.lines}.`,
    lines: list => ` (${list.map(([name, value]) => `${name} ${value}`).join(", ")})`,
    hits: (hits, count) => `The own patch is the most similar one in ${hits} of ${count}.`,
    alone: "Where one token does as well as the mean of all, every token carries the class.",
    columns: { similarity: ["network", "layer", "own patch", "other patches", "most similar"], probe: ["network", "layer", "this token"] },
  },
  ko: {
    title: "토큰 하나에는 무엇이 남아 있는가?",
    view: "보기", similarity: "패치와의 유사도", probe: "프로브 정확도", depth: "상대 깊이",
    mapLabel: "모델마다 한 장씩, 격자 위의 고른 토큰, 화살표 키로 토큰 이동",
    chartLabel: "고른 토큰의 깊이별 변화, 모델마다 한 장",
    legends: { similarity: "패치와의 CKA", probe: "토큰 하나로 학습한 프로브의 정확도" },
    own: "자기 패치", others: "다른 패치의 평균", token: "이 토큰", layer: i => `층 ${i}`, chance: "우연 수준", depthAxis: "깊이, %",
    lead: { similarity: place => `토큰 ${place}: 입력 패치와 비교한 결과이다.`, probe: place => `토큰 ${place} 하나로 학습한 선형 프로브의 정확도이다.` },
    similarityOf: v => `${v.name}, ${v.layer}: 자기 패치와의 CKA는 ${v.own}, 다른 패치와는 평균 ${v.others}이고, ` +
      `가장 비슷한 패치는 ${v.hit ? "자기 패치인 " : ""}${v.best}이다.`,
    probeOf: v => `${v.name}, 층 ${v.layer}(0–${v.last} 가운데): 시험 이미지의 ${v.token}를 맞힌다${v.lines}.`,
    lines: list => `(${list.map(([name, value]) => `${name} ${value}`).join(", ")})`,
    hits: (hits, count) => `${count}개 모델 가운데 ${hits}개에서 자기 패치가 가장 비슷하다.`,
    alone: "토큰 하나가 모든 토큰의 평균만큼 맞힌다면 토큰마다 클래스가 담겨 있는 것이다.",
    columns: { similarity: ["모델", "층", "자기 패치", "다른 패치", "가장 비슷한 패치"], probe: ["모델", "층", "이 토큰"] },
  },
};

const HEAD = 40, GAP = 16, CHART = 186;

/** The maps of all networks in one canvas, side by side. */
function mapsOf(networks, width) {
  const side = Math.min(260, (width - GAP * (networks.length - 1)) / networks.length);
  const place = i => ({ x: i * (side + GAP), y: HEAD, width: side });
  return networks.map(({ grid: [rows, columns] }, i) => ({ ...place(i), height: side * rows / columns, rows, columns }));
}
const bottomOf = maps => Math.max(...maps.map(map => map.y + map.height));

function drawMaps(g, { t, ink, view, networks, percent, hover }, width) {
  const maps = mapsOf(networks, width), all = networks.flatMap(({ cells }) => cells);
  const low = Math.min(...all, view === "probe" ? 1 : 0), high = Math.max(...all); // one scale for all networks
  const say = view === "probe" ? value => percent(value) : value => fixed(value);
  networks.forEach(({ name, token, cells, grid, mapLayer }, i) => {
    const map = maps[i], columns = grid[1];
    wrap(g, name, map.width).slice(0, 2).reverse().forEach((text, up) => write(g, ink.text, text, map.x, HEAD - 8 - 16 * up));
    drawCells(g, ink, map, (row, column) => (cells[row * columns + column] - low) / (high - low || 1));
    markCell(g, map, Math.floor(token / columns), token % columns);
    const seen = hover === null ? null : sameSpot(hover, networks[0].grid, grid);
    write(g, ink.muted, seen === null ? mapLayer : `${placeText(seen, grid)}: ${say(cells[seen])}`, map.x, map.y + map.height + 17);
  });
  const end = maps.at(-1).x + maps.at(-1).width, wide = Math.min(end, 320);
  drawLegend(g, ink, { x: (end - wide) / 2, y: bottomOf(maps) + 48, width: wide, low: say(low), high: say(high), label: t.legends[view] });
}

const chartsAcross = (count, width) => width < 480 ? 1 : count;
const chartRows = (count, width) => Math.ceil(count / chartsAcross(count, width));

function drawCharts(g, { t, ink, view, networks, depth }, width) {
  const across = chartsAcross(networks.length, width), side = across === 1 ? width : mapsOf(networks, width)[0].width;
  const all = networks.flatMap(network => network.series.flatMap(({ values }) => values));
  const high = 1.08 * Math.max(...all, 0.05), low = Math.min(0, ...all);
  /** @type {[string, Look][]} */
  const names = [...new Map(networks.flatMap(network => network.series.map(({ name, look }) => [name, look])))];
  const top = drawKeys(g, ink, [...names, ...(view === "probe" ? [/** @type {[string, Look]} */ ([t.chance, { style: ink.muted, dash: [3, 3] }])] : [])], 0, 14, width);
  networks.forEach(({ name, series, index, chance }, i) => {
    const box = { x: (i % across) * (side + GAP) + 32, y: top + 14 + CHART * Math.floor(i / across), width: side - 50, height: CHART - 78 };
    const ticks = ticksTo(high, value => view === "probe" ? fixed(100 * value, 0) : String(value));
    const { px, py } = drawAxes(g, ink, box, depthAxis(t.depthAxis), { low, high, label: "", ticks });
    write(g, ink.muted, wrap(g, name, side)[0], box.x - 32, box.y - 8);
    line(g, ink.muted, [[px(depth), box.y], [px(depth), box.y + box.height]], { width: 1 });
    if (view === "probe") line(g, ink.muted, [[box.x, py(chance)], [box.x + box.width, py(chance)]], { width: 1.5, dash: [3, 3] });
    for (const { values, look } of series) {
      const at = depthSteps(values.length, px);
      drawSeries(g, { px: at, py }, values, look, { size: 2.5 });
      drawDot(g, at(index), py(values[index]), 4.5, [[ink.paper, 2.5]], look.style);
    }
  });
}

/** Moving the token: a click on any of the maps, or arrows on the grid of the first. */
function tokenPick(view, models) {
  const first = models[0].grid, [rows, columns] = first, limit = (value, count) => Math.max(0, Math.min(count - 1, value));
  /** The token, in the first grid, at a point of any map; outside of all maps null, or the nearest if `clamp`. */
  function tokenAt(x, y, width, clamp) {
    const maps = mapsOf(models, width), i = limit(Math.floor((x + GAP / 2) / (maps[0].width + GAP)), maps.length);
    const cell = cellAt(maps[i], x, y, clamp);
    return cell && sameSpot(cell[0] * models[i].grid[1] + cell[1], models[i].grid, first);
  }
  return {
    at: (x, y, width) => view.set({ token: tokenAt(x, y, width, true) }),
    hover: hovering(view, (x, y, width) => tokenAt(x, y, width, false)),
    move(right, up) {
      const token = view.get("token");
      view.set({ token: limit(Math.floor(token / columns) - up, rows) * columns + limit(token % columns + right, columns) });
    },
    value: () => ({ now: view.get("token"), max: rows * columns - 1, text: placeText(view.get("token"), first) }),
  };
}

const explorer = defineExplorer({
  name: "token",
  strings: STRINGS,
  captionAfter: 1,
  controls(t, view) {
    const { models, views } = view.get("about"), all = Object.values(models), probing = () => view.get("view") === "probe";
    const counts = () => all.map(model => probing() ? model.probeLayers : model.layers.length), percent = percentIn(view.lang);
    return [
      tabs({ key: "view", label: t.view, options: views.map(name => [name, t[name]]), when: () => views.length > 1 }),
      slider({ key: "depth", label: t.depth, values: () => depthsOf(counts()), text: value => percent(value, 0), when: () => Math.max(...counts()) > 1 }),
      picked({ key: "token", count: () => all[0].grid[0] * all[0].grid[1] }),
    ];
  },
  setup(view) {
    const { t, ink } = view, { models } = view.get("about"), keys = Object.keys(models), first = models[keys[0]].grid;
    const lineNames = [...new Set(keys.flatMap(key => Object.keys(models[key].lines)))]; // a line looks the same for every network
    const percent = percentIn(view.lang), all = count => [...Array(count).keys()];
    let now = /** @type {any} */ ({});

    /** CKA of one token in one layer: all its cells, its own, the mean of the others, and which is largest. */
    function similarity(map, token) {
      const cells = all(map.shape[0]).map(i => map.at(token * map.shape[0] + i)), total = cells.reduce((a, b) => a + b), best = largest(cells);
      return { cells, own: cells[token], others: (total - cells[token]) / (cells.length - 1), best, hit: best === token };
    }
    function readSimilarity(key, token, depth) {
      const { layers } = models[key], index = layerAt(depth, layers.length), readings = view.part(key).maps.map(map => similarity(map, token));
      const line = (name, field, i) => ({ name, look: lookOf(ink, i), values: readings.map(reading => reading[field]) });
      const series = [line(t.own, "own", 0), line(t.others, "others", 1)];
      return { ...readings[index], index, readings, series, mapLayer: layerName(layers[index], view.lang) };
    }
    function readProbe(key, token, depth) {
      const { token: table, ...others } = view.part(key).probes, [count, tokens] = table.shape, index = layerAt(depth, count);
      const line = (name, i, value) => ({ name, look: lookOf(ink, i), values: all(count).map(value) });
      const series = [line(t.token, 0, layer => table.get(layer, token)),
        ...Object.entries(others).map(([name, values]) => line(view.say(models[key].lines[name]), 1 + lineNames.indexOf(name), values.at))];
      return { index, series, cells: all(tokens).map(i => table.get(index, i)), mapLayer: t.layer(index), last: count - 1 };
    }
    function update() {
      const [shown, depth] = [view.get("view"), view.get("depth")];
      const networks = keys.map(key => {
        const { name, grid, chance } = models[key], token = sameSpot(view.get("token"), first, grid);
        return { name: view.say(name), grid, token, chance, ...(shown === "probe" ? readProbe : readSimilarity)(key, token, depth) };
      });
      now = { t, ink, view: shown, depth, networks, percent, hover: view.hover };
    }
    function caption() {
      const lead = t.lead[now.view](placeText(view.get("token"), first)), texts = now.networks.map(network => {
        const { name, grid, series, index } = network;
        if (now.view === "similarity") {
          const { mapLayer: layer, own, others, best, hit } = network;
          return t.similarityOf({ name, layer, own: fixed(own), others: fixed(others), best: placeText(best, grid), hit });
        }
        const [token, ...lines] = series.map(line => [line.name, percent(line.values[index])]);
        return t.probeOf({ name, layer: index, last: network.last, token: token[1], lines: lines.length ? t.lines(lines) : "" });
      });
      const reading = now.view === "probe" ? t.alone : t.hits(now.networks.filter(network => network.hit).length, keys.length);
      return [lead, ...texts, reading].join(" ");
    }
    function table() {
      const lines = now.view === "probe" ? [...new Set(now.networks.flatMap(({ series }) => series.slice(1).map(line => line.name)))] : [];
      const similar = ({ name, readings, grid }, key) => readings.map(({ own, others, best }, layer) =>
        [name, layerName(models[key].layers[layer], view.lang), fixed(own), fixed(others), placeText(best, grid)]);
      const probed = ({ name, series }) => series[0].values.map((token, layer) => [name, String(layer), percent(token), ...lines.map(line => {
        const values = series.find(other => other.name === line)?.values;
        return values ? percent(values[layer]) : "–";
      })]);
      const rows = now.networks.flatMap((network, i) => (now.view === "probe" ? probed : similar)(network, keys[i]));
      return { head: [...t.columns[now.view], ...lines], rows, current: now.networks[0].index };
    }

    const list = keys.map(key => models[key]);
    return {
      update, caption, table, parts: () => keys,
      panels: [
        {
          label: t.mapLabel, wide: true, pick: tokenPick(view, list),
          height: width => bottomOf(mapsOf(list, width)) + 82, draw: (g, width) => drawMaps(g, now, width),
        },
        {
          label: t.chartLabel, wide: true,
          height: width => 40 + CHART * chartRows(keys.length, width), draw: (g, width) => drawCharts(g, now, width),
        },
      ],
    };
  },
});
export default explorer;
