// Explorer of attention: an image with the attention of one token over it, beside the reach of all heads.

const STRINGS = {
  en: {
    title: "What does a token look at?",
    view: "Shown", query: "Query", rollout: "Rollout", network: "Network", image: "Image", layer: "Block", head: "Head", mean: "mean of heads",
    beside: "Beside it", map: "map", untrained: "untrained", twinName: "untrained twin",
    presets: [["A local head", "local"], ["A global head", "global"], ["The most concentrated patch", "sharpest"]],
    mapLabel: "Query token on the image, lit by its attention; arrow keys move the query",
    besideLabel: "Attention of the query to all patches as a map, or that of the untrained twin; arrow keys move the query",
    stripLabel: "Mean attention distance of every head of every block; left and right choose the block, up and down the head",
    bright: "image, bright where attention goes", brightest: (name, most) => `${name}, brightest patch ${most}`, trained: "trained", weight: "attention weight", gathered: "share gathered by rollout",
    stripX: "block", twinHeads: "heads of the untrained twin", stripY: "mean attention distance, px", even: "equal attention everywhere",
    token: (name, patch) => patch ? `patch ${name}` : name,
    caption: v => `${v.network}Block ${v.layer}, ${v.head}, query ${v.query}: ${v.onPrefix}the patch that gets most is ${v.best} with ${v.most}` +
      `${v.near ? `, and the query's own mean distance is ${v.near} px` : ""}. Over all query patches of ${v.images} images this averages ` +
      `${v.far} px (equal attention everywhere: ${v.even} px)${v.prefixMean ? `, with ${v.prefixMean} on ${v.cls}` : ""}.`,
    onPrefix: (share, cls) => `${share} of its attention goes to ${cls}; `,
    oneHead: head => `head ${head}`, allHeads: "mean of all heads",
    twin: (best, most) => `In its untrained twin ${best} gets most, ${most}.`,
    said: list => `The networks take this photo for: ${list.map(([name, label, share]) => `${name} ${label} (${share})`).join(", ")}.`,
    local: "That is local: it stays near the query.", wide: "That is as wide as looking everywhere, which does not mean looking at everything.",
    between: "That is wider than a neighbourhood, but not the whole image.",
    rolled: v => `${v.network}Rollout through blocks 0–${v.layer} from query ${v.query}: ${v.own} of what it gathers comes from its own place` +
      `${v.onPrefix}, and of the other patches ${v.best} gives most, ${v.most}.`,
    rolledPrefix: (share, cls) => `, ${share} from ${cls}`,
    rolledRead: "Each block counts half as its skip and half as attention averaged over heads; what values and MLPs do is left out.",
    headColumns: cls => ["head", "distance, px", ...(cls ? [`on ${cls}`, `this query on ${cls}`] : []), "this query, px", "most to", "weight"],
    layerColumns: cls => ["blocks", "own place", ...(cls ? [`from ${cls}`] : []), "most from", "share"],
  },
  ko: {
    title: "토큰은 무엇을 보는가?",
    view: "보기", query: "질의", rollout: "롤아웃", network: "신경망", image: "이미지", layer: "블록", head: "헤드", mean: "헤드 평균",
    beside: "나란히", map: "지도", untrained: "학습 전", twinName: "학습하지 않은 쌍둥이",
    presets: [["지역적 헤드", "local"], ["전역적 헤드", "global"], ["한곳만 보는 패치", "sharpest"]],
    mapLabel: "이미지 위의 질의 토큰, 어텐션이 가는 곳이 밝음, 화살표 키로 질의 이동",
    besideLabel: "그 질의가 모든 패치에 주는 가중치의 지도, 또는 학습하지 않은 쌍둥이의 어텐션, 화살표 키로 질의 이동",
    stripLabel: "모든 블록 모든 헤드의 평균 어텐션 거리, 좌우 키로 블록 선택, 상하 키로 헤드 선택",
    bright: "이미지, 어텐션이 갈수록 밝음", brightest: (name, most) => `${name}, 가장 밝은 패치 ${most}`, trained: "학습함", weight: "어텐션 가중치", gathered: "롤아웃으로 모인 몫",
    stripX: "블록", twinHeads: "학습하지 않은 쌍둥이의 헤드", stripY: "평균 어텐션 거리, 픽셀", even: "모든 곳을 고르게 볼 때",
    token: (name, patch) => patch ? `패치 ${name}` : name,
    caption: v => `${v.network}블록 ${v.layer}, ${v.head}, 질의 ${v.query}: ${v.onPrefix}가중치가 가장 큰 패치는 ${v.best}, 그 값은 ${v.most}이다` +
      `${v.near ? `. 이 질의에서 잰 평균 거리는 ${v.near}픽셀이다` : ""}. 이미지 ${v.images}장의 모든 질의 패치에서 잰 평균 어텐션 거리는 ` +
      `${v.far}픽셀이고(모든 곳을 고르게 볼 때 ${v.even}픽셀)${v.prefixMean ? `, ${v.cls} 토큰으로 가는 몫은 평균 ${v.prefixMean}이다` : "이다"}.`,
    onPrefix: (share, cls) => `어텐션의 ${share}가 ${cls} 토큰으로 간다. `,
    oneHead: head => `헤드 ${head}`, allHeads: "모든 헤드의 평균",
    twin: (best, most) => `학습하지 않은 쌍둥이에서는 ${best}의 가중치가 ${most}로 가장 크다.`,
    said: list => `신경망들이 답한 이 사진의 클래스: ${list.map(([name, label, share]) => `${name} ${label}(${share})`).join(", ")}.`,
    local: "질의 가까이에 머무는 지역적 어텐션이다.", wide: "모든 곳을 볼 때만큼 멀리 본다. 그렇다고 모든 것을 보는 것은 아니다.",
    between: "이웃보다는 넓지만 이미지 전체에는 미치지 않는다.",
    rolled: v => `${v.network}질의 ${v.query}에서 블록 0–${v.layer}에 걸친 롤아웃: 모인 것의 ${v.own}가 제자리에서 온다` +
      `${v.onPrefix}. 다른 패치 가운데서는 ${v.best}의 몫이 ${v.most}로 가장 크다.`,
    rolledPrefix: (share, cls) => `. ${cls} 토큰에서 온 몫은 ${share}이다`,
    rolledRead: "블록마다 절반은 스킵 연결, 절반은 헤드를 평균한 어텐션으로 센다. 값과 MLP가 하는 일은 빠져 있다.",
    headColumns: cls => ["헤드", "거리, 픽셀", ...(cls ? [`${cls} 몫`, `이 질의의 ${cls} 몫`] : []), "이 질의, 픽셀", "최대 패치", "가중치"],
    layerColumns: cls => ["블록", "제자리", ...(cls ? [`${cls} 몫`] : []), "최대 패치", "몫"],
  },
};

const BAND = 34; // above a map, for tokens that have no place in the image
const PHONE = matchMedia("(max-width: 600px)"); // where the maps stand below each other, and the caption must stay in sight
const tokenName = (i, { prefix, grid }) => i >= prefix ? placeText(i - prefix, grid) : i === 0 ? "[CLS]" : `[R${i}]`;

/** The map of a panel, and the box of any token in it. */
function layoutOf({ prefix, grid: [rows, columns] }, width) {
  const side = Math.min(width, PHONE.matches ? 285 : 340), map = { x: (width - side) / 2, y: BAND, width: side, height: side * rows / columns, rows, columns };
  const boxOf = token => token >= prefix ? cellBox(map, Math.floor((token - prefix) / columns), (token - prefix) % columns)
    : { x: map.x + (token ? 26 + 34 * token : 0), y: 2, width: token ? 30 : 54, height: BAND - 10 };
  return { map, boxOf, bottom: BAND + map.height };
}

function outline(g, { x, y, width, height }) {
  for (const [strokeStyle, lineWidth] of [["#000", 4.5], ["#fff", 2]]) {
    Object.assign(g, { strokeStyle, lineWidth });
    g.strokeRect(x, y, width, height);
  }
}

function drawPrefix(g, ink, box, name, share, fill) {
  g.fillStyle = fill;
  g.fillRect(box.x, box.y, box.width, box.height);
  const bright = share === null ? ink.text : share > 0.55 ? "#000" : "#fff";
  write(g, bright, name, box.x + box.width / 2, box.y + 17, "center");
}

/** What both maps share: tokens without a place above, the query's outline, and what lies under the pointer. */
function drawTokens(g, { ink, model, query, percent, hover }, { map, boxOf }, weights, fillOf) {
  const { prefix } = model;
  for (let token = 0; token < prefix; token++) drawPrefix(g, ink, boxOf(token), tokenName(token, model), ...fillOf(token));
  if (prefix) write(g, ink.text, percent(weights[0]), boxOf(prefix - 1).x + boxOf(prefix - 1).width + 8, 19);
  if (hover !== null) write(g, ink.text, `${tokenName(hover, model)}: ${percent(weights[hover])}`, map.x + map.width, 19, "right");
  outline(g, boxOf(query));
}

/** The image, bright where the weights are. */
function drawLit(g, now, weights, label, width) {
  const { ink, model, pixels } = now, layout = layoutOf(model, width), { map } = layout;
  const patches = weights.subarray(model.prefix), peak = Math.max(...patches);
  drawPixels(g, map, pixels);
  drawCrisp(g, map, pixelCanvas(map.rows, map.columns, (row, column) => [0, 0, 0, 190 * (1 - Math.sqrt(patches[row * map.columns + column] / peak))]));
  drawTokens(g, now, layout, weights, () => [null, ink.line]);
  write(g, ink.muted, label(now.percent(peak)), map.x + map.width / 2, layout.bottom + 22, "center");
}

function drawWeights(g, now, width) {
  const { t, ink, model, weights, view, percent } = now, layout = layoutOf(model, width), { map, bottom } = layout;
  const patches = weights.subarray(model.prefix), peak = Math.max(...patches);
  drawCells(g, ink, map, (row, column) => patches[row * map.columns + column] / peak);
  drawTokens(g, now, layout, weights, token => { const share = Math.min(1, weights[token] / peak); return [share, colour(share)]; });
  const label = view === "rollout" ? t.gathered : t.weight;
  drawLegend(g, ink, { x: map.x, y: bottom + 30, width: map.width, low: "0", high: percent(peak), label });
}

/** Moving the query: a click on either map, or arrows; above the first row are the prefix tokens. */
function queryPick(view, modelOf, t) {
  const set = query => view.set({ query });
  function tokenAt(x, y, width) {
    const { prefix, grid: [, columns] } = modelOf(), { map, boxOf } = layoutOf(modelOf(), width), cell = cellAt(map, x, y);
    if (cell) return prefix + cell[0] * columns + cell[1];
    const inside = token => { const box = boxOf(token); return y < BAND && x >= box.x && x <= box.x + box.width; };
    return [...Array(prefix).keys()].find(inside) ?? null;
  }
  return {
    at(x, y, width) { const token = tokenAt(x, y, width); if (token !== null) set(token); },
    hover: hovering(view, tokenAt),
    move(right, up) {
      const { prefix, grid: [rows, columns] } = modelOf();
      const query = view.get("query"), row = Math.floor((query - prefix) / columns), column = (query - prefix) % columns;
      if (query < prefix) set(up < 0 ? prefix + Math.floor(columns / 2) : Math.max(0, Math.min(prefix - 1, query + right)));
      else if (up > 0 && row === 0) set(prefix ? 0 : query);
      else set(prefix + Math.min(rows - 1, row - up) * columns + Math.max(0, Math.min(columns - 1, column + right)));
    },
    value() {
      const { prefix, grid: [rows, columns] } = modelOf(), query = view.get("query");
      return { now: query, max: prefix + rows * columns - 1, text: t.token(tokenName(query, modelOf()), query >= prefix) };
    },
  };
}

/** The place of a query in another network's grid. */
function sameQuery(query, from, to) {
  return query < from.prefix ? Math.min(query, Math.max(0, to.prefix - 1)) : to.prefix + sameSpot(query - from.prefix, from.grid, to.grid);
}

const explorer = defineExplorer({
  name: "attention",
  strings: STRINGS,
  columns: "1fr 1fr",
  captionAfter: 1,
  presets(t, view) {
    const model = () => view.get("about").models[view.get("network")];
    const finders = {
      local: () => farthest(model().distance, 1), global: () => farthest(model().distance, -1),
      sharpest: () => attentionRows(view.part(model().images[view.get("image")].weights), model()).sharpest(),
    };
    return t.presets.map(([label, what]) => ({ label, find: () => ({ view: "query", ...finders[what]() }) }));
  },
  controls(t, view) {
    const { models } = view.get("about"), keys = Object.keys(models), model = () => models[view.get("network")];
    const upTo = count => [...Array(count).keys()], twins = keys.some(key => models[key].twin);
    /** @type {() => Option[]} */
    const heads = () => [["mean", t.mean], ...upTo(model().distance[0].length).map(head => /** @type {Option} */ ([head, String(head)]))];
    return [
      ...(keys.length > 1 ? [choice({ key: "network", label: t.network, options: keys.map(key => [key, view.say(models[key].name)]),
        more: key => ({ query: sameQuery(view.get("query"), model(), models[key]) }) })] : []),
      choice({ key: "image", label: t.image, options: () => model().images.map(({ name }, i) => [i, view.say(name)]) }),
      slider({ key: "layer", label: t.layer, values: () => upTo(model().distance.length) }),
      choice({ key: "head", label: t.head, options: heads, when: () => view.get("view") === "query" }),
      tabs({ key: "view", label: t.view, options: [["query", t.query], ["rollout", t.rollout]] }),
      ...(twins ? [tabs({ key: "beside", label: t.beside, options: [["untrained", t.untrained], ["map", t.map]], when: () => Boolean(model().twin) })] : []),
      picked({ key: "query", count: () => model().prefix + model().grid[0] * model().grid[1] }),
    ];
  },
  setup(view) {
    const { t, ink } = view, { models } = view.get("about"), modelOf = () => models[view.get("network")];
    const percent = percentIn(view.lang), readers = new WeakMap(), several = Object.keys(models).length > 1;
    const imageOf = () => modelOf().images[view.get("image")], compared = () => modelOf().twin && view.get("beside") === "untrained";
    const twinPart = () => modelOf().twin.weights[view.get("image")];
    let now = /** @type {any} */ ({});

    function reader(name, model) {
      const part = view.part(name);
      if (!readers.has(part)) readers.set(part, attentionRows(part, model));
      return readers.get(part);
    }
    function update() {
      const [layer, head, query, shown, beside] = ["layer", "head", "query", "view", "beside"].map(view.get), model = modelOf();
      const weightsOf = rows => shown === "rollout" ? rows.rollout(layer, query) : rows.row(layer, head, query);
      const rows = reader(imageOf().weights, model), twin = compared() ? weightsOf(reader(twinPart(), model)) : null;
      now = { t, ink, model, pixels: view.part(imageOf().photo).pixels, rows, weights: weightsOf(rows), twin, layer, head, query, beside,
        view: shown, percent, hover: view.hover, cls: model.prefix ? tokenName(0, model) : "" };
    }
    const name = token => t.token(tokenName(token, now.model), token >= now.model.prefix);
    /** The patch with the largest weight, the query itself left out if `others`. */
    function top(weights, others = -1) {
      const { prefix } = now.model, best = prefix + largest(weights.subarray(prefix).map((value, p) => prefix + p === others ? -1 : value));
      return { best: tokenName(best, now.model), most: percent(weights[best]) };
    }
    /** How the networks name the photo, and what the twin looks at. */
    function further(others = -1) {
      const { said = [] } = imageOf(), twin = now.twin && top(now.twin, others);
      return [twin && t.twin(twin.best, twin.most),
        said.length && t.said(said.map(one => [view.say(one.network), view.say(one.class), percent(one.share)]))].filter(Boolean).join(" ");
    }
    function caption() {
      const { rows, weights, layer, head, query, cls, model: { distance, uniform, measured, onPrefix, name: called } } = now;
      const v = { layer, query: name(query), cls, even: fixed(uniform, 1), images: measured, network: several ? `${view.say(called)}: ` : "" };
      if (now.view === "rollout") {
        const more = { own: percent(weights[query]), onPrefix: cls && query > 0 ? t.rolledPrefix(percent(weights[0]), cls) : "" };
        return `${t.rolled({ ...v, ...top(weights, query), ...more })} ${further(query)} ${t.rolledRead}`.replace("  ", " ");
      }
      const of = values => head === "mean" ? average(values[layer]) : values[layer][head];
      const near = rows.distance(weights, query), far = of(distance);
      const reading = far < uniform / 2 ? t.local : far > 0.9 * uniform ? t.wide : t.between;
      const more = { head: head === "mean" ? t.allHeads : t.oneHead(head), near: Number.isNaN(near) ? "" : fixed(near, 1), far: fixed(far, 1),
        onPrefix: cls && t.onPrefix(percent(weights[0]), cls), prefixMean: cls && percent(of(onPrefix)) };
      return `${t.caption({ ...v, ...top(weights), ...more })} ${reading} ${further()}`.trim();
    }
    function table() {
      const { rows, layer, head, query, cls, model: { distance, onPrefix } } = now, heads = distance[0].length;
      if (now.view === "rollout") {
        const body = distance.map((_, l) => {
          const weights = rows.rollout(l, query), { best, most } = top(weights, query);
          return [`0–${l}`, percent(weights[query]), ...(cls ? [percent(weights[0])] : []), best, most];
        });
        return { head: t.layerColumns(cls), rows: body, current: layer };
      }
      const body = [...Array(heads).keys(), "mean"].map(h => {
        const weights = rows.row(layer, h, query), near = rows.distance(weights, query), { best, most } = top(weights);
        const of = values => h === "mean" ? average(values[layer]) : values[layer][h];
        return [h === "mean" ? t.mean : String(h), fixed(of(distance), 1), ...(cls ? [percent(of(onPrefix)), percent(weights[0])] : []),
          Number.isNaN(near) ? "–" : fixed(near, 1), best, most];
      });
      return { head: t.headColumns(cls), rows: body, current: head === "mean" ? heads : head };
    }

    const lit = (g, width) => drawLit(g, now, now.weights, most => now.twin ? t.brightest(t.trained, most) : t.bright, width);
    function beside(g, width) {
      if (now.twin) drawLit(g, now, now.twin, most => t.brightest(t.twinName, most), width); else drawWeights(g, now, width);
    }
    const map = (label, draw, height) => ({ label, height, draw, pick: queryPick(view, modelOf, t) });
    const bottom = width => layoutOf(modelOf(), width).bottom;
    return {
      update, caption, table, parts: () => [imageOf().photo, imageOf().weights, ...(compared() ? [twinPart()] : [])],
      panels: [
        map(t.mapLabel, lit, width => bottom(width) + 32),
        map(t.besideLabel, beside, width => bottom(width) + (compared() ? 32 : 58)),
        { label: t.stripLabel, wide: true, height: () => 250, pick: headPick(view, modelOf, t), draw: (g, width, tall) => drawStrip(g, now, width, tall) },
      ],
    };
  },
});
export default explorer;
