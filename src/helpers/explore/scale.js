// Explorer of scale: networks trained on a part of the data beside the one trained on all of it.

const STRINGS = {
  en: {
    title: "What does a network learn from less data?",
    model: "Model", fraction: "Part of the data", layerAxis: "layer", ckaAxis: "CKA with the full-data network", distanceAxis: "mean distance of a head (px)",
    ckaLabel: "CKA of each layer with the same layer of the full-data network, a line for each part of the data; arrow keys move the layer",
    distanceLabel: "Mean attention distance of every head, by block; arrow keys move the block",
    uniform: "looking everywhere equally", all: "all data", part: share => `${share} of the data`, undefined: "not compared",
    network: v => `${v.model} trained on ${v.share} of the data, accuracy ${v.accuracy}.`,
    layer: v => `Layer ${v.layer}: CKA ${v.value} with the same layer of the full-data network.`,
    itself: v => `Layer ${v.layer} belongs to the full-data network itself.`,
    lowest: v => `They differ most in ${v.layer} (${v.value}).`,
    heads: v => `Its heads look ${v.low} to ${v.high} px far on average (everywhere equally: ${v.uniform} px).`,
    columns: ["layer", "CKA", "nearest head (px)", "farthest head (px)"],
  },
  ko: {
    title: "데이터가 적으면 무엇을 배우는가?",
    model: "모델", fraction: "데이터 비율", layerAxis: "층", ckaAxis: "전체 데이터로 학습한 신경망과의 CKA", distanceAxis: "헤드의 평균 어텐션 거리 (px)",
    ckaLabel: "전체 데이터로 학습한 신경망의 같은 층과의 CKA, 데이터 비율마다 선 하나, 화살표 키로 층 이동",
    distanceLabel: "블록별 모든 헤드의 평균 어텐션 거리, 화살표 키로 블록 이동",
    uniform: "모든 곳을 고르게 볼 때", all: "전체 데이터", part: share => `데이터 ${share}`, undefined: "비교하지 않음",
    network: v => `데이터의 ${v.share}로 학습한 ${v.model}, 정확도 ${v.accuracy}.`,
    layer: v => `${v.layer} 층: 전체 데이터로 학습한 신경망의 같은 층과의 CKA ${v.value}.`,
    itself: v => `${v.layer} 층은 전체 데이터로 학습한 신경망 자신의 층이다.`,
    lowest: v => `가장 크게 다른 층은 ${v.layer}(${v.value})이다.`,
    heads: v => `이 블록의 헤드는 평균 ${v.low}–${v.high} px 떨어진 곳을 본다(모든 곳을 고르게 볼 때 ${v.uniform} px).`,
    columns: ["층", "CKA", "가장 가까이 보는 헤드 (px)", "가장 멀리 보는 헤드 (px)"],
  },
};

/** 0.03 → 3%, 0.005 → 0.5% */
const shortPercent = share => `${Number((100 * share).toPrecision(3))}%`;

const explorer = defineExplorer({
  name: "scale",
  strings: STRINGS,
  columns: "1fr 1fr",
  controls(t, view) {
    const { models, fractions, layers } = view.get("about");
    return [
      choice({ key: "model", label: t.model, options: Object.entries(models).map(([key, name]) => [key, view.say(name)]), when: () => Object.keys(models).length > 1 }),
      slider({ key: "fraction", label: t.fraction, values: () => fractions[view.get("model")], text: shortPercent }),
      picked({ key: "layer", count: () => layers[view.get("model")] }),
    ];
  },
  setup(view) {
    const { t, ink } = view;
    let now = {};

    function update() {
      const part = view.part(view.get("model")), index = part.fractions.indexOf(view.get("fraction"));
      const lines = part.fractions.map((_, f) => part.layers.map((_, layer) => part.cka.get(f, layer)));
      now = { ...part, index, lines, line: lines[index], heads: part.distances[index] };
    }

    /** Distances of all heads of a block, nearest first; none for a ResNet. */
    const headsOf = (distances, block) => distances
      ? Array.from({ length: distances.pixels.shape[1] }, (_, head) => distances.pixels.get(block, head)).sort((a, b) => a - b) : [];

    function reading(layer) {
      const value = now.line[layer], compared = now.line.some(v => !Number.isNaN(v));
      return compared ? t.layer({ layer: now.layers[layer], value: Number.isNaN(value) ? t.undefined : fixed(value) }) : t.itself({ layer: now.layers[layer] });
    }

    function caption() {
      const layer = view.hover?.column ?? view.get("layer"), heads = headsOf(now.heads, layer);
      const least = now.line.reduce((best, v, i) => v < now.line[best] || Number.isNaN(now.line[best]) ? i : best, 0);
      return [
        t.network({ model: view.say(view.get("about").models[view.get("model")]), share: shortPercent(view.get("fraction")), accuracy: percent(now.accuracy[now.index]) }),
        reading(layer),
        Number.isNaN(now.line[least]) ? "" : t.lowest({ layer: now.layers[least], value: fixed(now.line[least]) }),
        heads.length ? t.heads({ low: fixed(heads[0], 2), high: fixed(heads.at(-1), 2), uniform: fixed(now.heads.uniform, 2) }) : "",
      ].filter(Boolean).join(" ");
    }

    function table() {
      const columns = now.heads ? t.columns : t.columns.slice(0, 2);
      return {
        head: columns, current: view.get("layer"),
        rows: now.layers.map((name, layer) => {
          const heads = headsOf(now.heads, layer), ends = heads.length ? [heads[0], heads.at(-1)].map(value => fixed(value, 2)) : ["–", "–"];
          return [name, Number.isNaN(now.line[layer]) ? "–" : fixed(now.line[layer]), ...ends].slice(0, columns.length);
        }),
      };
    }

    const cells = (width, height) => ({ x: 38, y: 74, width: width - 48, height: height - 118, rows: 1, columns: now.layers.length });
    const column = () => view.hover?.column ?? view.get("layer");
    const upright = (g, box, px) => line(g, ink.muted, [[px(column()), box.y], [px(column()), box.y + box.height]], { width: 1 });

    function drawLines(g, width, height) {
      const keys = now.fractions.map((fraction, f) => [fraction === 1 ? t.all : shortPercent(fraction), lookOf(ink, f), f]).filter(([, , f]) => !now.lines[f].every(Number.isNaN));
      drawKeys(g, ink, keys, 0, 14, width);
      const box = cells(width, height), low = Math.min(0, ...now.lines.flat().filter(value => value < 0));
      const { px, py } = drawAxes(g, ink, box, indexAxis(box.columns, t.layerAxis),
        { low, high: 1, label: t.ckaAxis, ticks: [0, 0.25, 0.5, 0.75, 1].map(value => [value, String(value)]) });
      upright(g, box, px);
      for (const [, look, f] of keys) {
        g.globalAlpha = f === now.index ? 1 : 0.45;
        drawSeries(g, { px, py }, now.lines[f], look, f === now.index ? { width: 4, size: 5 } : { width: 1.5, size: 3 });
      }
      g.globalAlpha = 1;
    }

    function drawDistances(g, width, height) {
      const box = cells(width, height), full = now.distances.at(-1), blocks = now.heads.pixels.shape[0];
      const all = distances => Array.from({ length: blocks }, (_, block) => headsOf(distances, block));
      const high = Math.max(now.heads.uniform, ...all(now.heads).flat(), ...all(full).flat()) * 1.08;
      const step = [1, 2, 5, 10, 20, 50, 100].find(s => high / s <= 6) ?? high;
      const { px, py } = drawAxes(g, ink, box, indexAxis(box.columns, t.layerAxis),
        { low: 0, high, label: t.distanceAxis, ticks: Array.from({ length: Math.floor(high / step) + 1 }, (_, i) => [i * step, String(i * step)]) });
      const own = { ...lookOf(ink, now.index), dash: undefined }, behind = { style: ink.muted, marker: "ring" }, even = { style: ink.text, dash: [4, 4] };
      /** @type {[string, Look][]} */
      const keys = [[view.get("fraction") === 1 ? t.all : shortPercent(view.get("fraction")), own], ...(full && full !== now.heads ? [/** @type {[string, Look]} */ ([t.all, behind])] : []), [t.uniform, even]];
      drawKeys(g, ink, keys, 0, 14, width);
      upright(g, box, px);
      line(g, even.style, [[box.x, py(now.heads.uniform)], [box.x + box.width, py(now.heads.uniform)]], { width: 1.5, dash: even.dash });
      const dots = (distances, look, shift) => all(distances).forEach((heads, block) => heads.forEach(value => drawMarker(g, look, px(block) + shift, py(value), 3)));
      if (full && full !== now.heads) dots(full, behind, -5);
      dots(now.heads, own, full && full !== now.heads ? 5 : 0);
    }

    const pick = panel => pickCells(view, { panel, cells, now: () => [0, view.get("layer")], set: (_, layer) => view.set({ layer }), text: () => reading(view.get("layer")) });
    return {
      parts: () => [view.get("model")], update, caption, table,
      panels: [
        { label: t.ckaLabel, height: () => 340, draw: drawLines, pick: pick("cka") },
        { label: t.distanceLabel, height: () => 340, draw: drawDistances, pick: pick("distance"), when: () => Boolean(now.heads) },
      ],
    };
  },
});
export default explorer;
