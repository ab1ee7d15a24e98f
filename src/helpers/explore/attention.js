// Explorer of attention: an image with the attention of one token over it, beside the reach of all heads.

const STRINGS = {
  en: {
    title: "What does a token look at?",
    view: "Shown", query: "One query", rollout: "Rollout", image: "Image", layer: "Layer", head: "Head", mean: "mean of heads",
    mapLabel: "Query token on the image, and its attention to all patches; arrow keys move the query",
    stripLabel: "Mean attention distance of every head of every layer; left and right choose the layer, up and down the head",
    bright: "image, bright where attention goes", weight: "attention weight", gathered: "share gathered by rollout",
    stripX: "layer", stripY: "mean attention distance, px", even: "equal attention everywhere",
    token: (name, patch) => patch ? `patch ${name}` : name,
    caption: v => `Layer ${v.layer}, ${v.head}, query ${v.query}: ${v.onPrefix}the patch that gets most is ${v.best} with ${v.most}` +
      `${v.near ? `, and the query's own mean distance is ${v.near} px` : ""}. Over all query patches of ${v.images} images this averages ` +
      `${v.far} px (equal attention everywhere: ${v.even} px)${v.prefixMean ? `, with ${v.prefixMean} on ${v.cls}` : ""}.`,
    onPrefix: (share, cls) => `${share} of its attention goes to ${cls}; `,
    oneHead: head => `head ${head}`, allHeads: "mean of all heads",
    local: "That is local: it stays near the query.", wide: "That is as wide as looking everywhere, which does not mean looking at everything.",
    between: "That is wider than a neighbourhood, but not the whole image.",
    rolled: v => `Rollout through layers 0–${v.layer} from query ${v.query}: ${v.own} of what it gathers comes from its own place` +
      `${v.onPrefix}, and of the other patches ${v.best} gives most, ${v.most}.`,
    rolledPrefix: (share, cls) => `, ${share} from ${cls}`,
    rolledRead: "Each layer counts half as its skip and half as attention averaged over heads; what values and MLPs do is left out.",
    headColumns: cls => ["head", "distance, px", ...(cls ? [`on ${cls}`, `this query on ${cls}`] : []), "this query, px", "most to", "weight"],
    layerColumns: cls => ["layers", "own place", ...(cls ? [`from ${cls}`] : []), "most from", "share"],
  },
  ko: {
    title: "토큰은 무엇을 보는가?",
    view: "보기", query: "질의 하나", rollout: "롤아웃", image: "이미지", layer: "층", head: "헤드", mean: "헤드 평균",
    mapLabel: "이미지 위의 질의 토큰과 모든 패치로 향한 어텐션, 화살표 키로 질의 이동",
    stripLabel: "모든 층 모든 헤드의 평균 어텐션 거리, 좌우 키로 층 선택, 상하 키로 헤드 선택",
    bright: "이미지, 어텐션이 갈수록 밝음", weight: "어텐션 가중치", gathered: "롤아웃으로 모인 몫",
    stripX: "층", stripY: "평균 어텐션 거리, 픽셀", even: "모든 곳을 고르게 볼 때",
    token: (name, patch) => patch ? `패치 ${name}` : name,
    caption: v => `층 ${v.layer}, ${v.head}, 질의 ${v.query}: ${v.onPrefix}가중치가 가장 큰 패치는 ${v.best}, 그 값은 ${v.most}이다` +
      `${v.near ? `. 이 질의에서 잰 평균 거리는 ${v.near}픽셀이다` : ""}. 이미지 ${v.images}장의 모든 질의 패치에서 잰 평균 어텐션 거리는 ` +
      `${v.far}픽셀이고(모든 곳을 고르게 볼 때 ${v.even}픽셀)${v.prefixMean ? `, ${v.cls} 토큰으로 가는 몫은 평균 ${v.prefixMean}이다` : "이다"}.`,
    onPrefix: (share, cls) => `어텐션의 ${share}가 ${cls} 토큰으로 간다. `,
    oneHead: head => `헤드 ${head}`, allHeads: "모든 헤드의 평균",
    local: "질의 가까이에 머무는 지역적 어텐션이다.", wide: "모든 곳을 볼 때만큼 멀리 본다. 그렇다고 모든 것을 보는 것은 아니다.",
    between: "이웃보다는 넓지만 이미지 전체에는 미치지 않는다.",
    rolled: v => `질의 ${v.query}에서 층 0–${v.layer}에 걸친 롤아웃: 모인 것의 ${v.own}가 제자리에서 온다` +
      `${v.onPrefix}. 다른 패치 가운데서는 ${v.best}의 몫이 ${v.most}로 가장 크다.`,
    rolledPrefix: (share, cls) => `. ${cls} 토큰에서 온 몫은 ${share}이다`,
    rolledRead: "층마다 절반은 스킵 연결, 절반은 헤드를 평균한 어텐션으로 센다. 값과 MLP가 하는 일은 빠져 있다.",
    headColumns: cls => ["헤드", "거리, 픽셀", ...(cls ? [`${cls} 몫`, `이 질의의 ${cls} 몫`] : []), "이 질의, 픽셀", "최대 패치", "가중치"],
    layerColumns: cls => ["층", "제자리", ...(cls ? [`${cls} 몫`] : []), "최대 패치", "몫"],
  },
};

const BAND = 34; // above the maps, for tokens that have no place in the image
const tokenName = (i, { prefix, grid }) => i >= prefix ? placeText(i - prefix, grid) : i === 0 ? "[CLS]" : `[R${i}]`;

/** Both maps of a canvas: the image on the left, the weights on the right; and the box of any token in them. */
function layoutOf({ prefix, grid: [rows, columns] }, width) {
  const gap = 18, side = (width - gap) / 2, top = BAND, height = side * rows / columns;
  const maps = [0, side + gap].map(x => ({ x, y: top, width: side, height, rows, columns }));
  const boxOf = (map, token) => token >= prefix ? cellBox(map, Math.floor((token - prefix) / columns), (token - prefix) % columns)
    : { x: map.x + (token ? 26 + 34 * token : 0), y: 2, width: token ? 30 : 54, height: BAND - 10 };
  return { maps, boxOf, bottom: top + height };
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

function drawMaps(g, { t, ink, about, part, weights, query, view, percent, hover }, width) {
  const { prefix, grid: [rows, columns] } = about, { maps: [left, right], boxOf, bottom } = layoutOf(about, width);
  const patches = weights.subarray(prefix), peak = Math.max(...patches), share = (row, column) => patches[row * columns + column] / peak;
  drawPixels(g, left, part.pixels);
  drawCrisp(g, left, pixelCanvas(rows, columns, (row, column) => [0, 0, 0, 190 * (1 - Math.sqrt(share(row, column)))]));
  drawCells(g, ink, right, share);
  for (let token = 0; token < prefix; token++) {
    const relative = Math.min(1, weights[token] / peak);
    drawPrefix(g, ink, boxOf(left, token), tokenName(token, about), null, ink.line);
    drawPrefix(g, ink, boxOf(right, token), tokenName(token, about), relative, colour(relative));
  }
  if (prefix) write(g, ink.text, percent(weights[0]), boxOf(right, prefix - 1).x + boxOf(right, prefix - 1).width + 8, 19);
  if (hover !== null) write(g, ink.text, `${tokenName(hover, about)}: ${percent(weights[hover])}`, width, 19, "right");
  for (const map of [left, right]) outline(g, boxOf(map, query));
  write(g, ink.muted, t.bright, left.x + left.width / 2, bottom + 22, "center");
  const label = view === "rollout" ? t.gathered : t.weight;
  drawLegend(g, ink, { x: right.x, y: bottom + 30, width: right.width, low: "0", high: percent(peak), label });
}

/** Moving the query: a click on either map, or arrows; above the first row are the prefix tokens. */
function queryPick(view, about, t) {
  const { prefix, grid: [rows, columns] } = about, set = query => view.set({ query });
  function tokenAt(x, y, width) {
    const { maps, boxOf } = layoutOf(about, width), map = maps[x < maps[1].x - 9 ? 0 : 1], cell = cellAt(map, x, y);
    if (cell) return prefix + cell[0] * columns + cell[1];
    const inside = token => { const box = boxOf(map, token); return y < BAND && x >= box.x && x <= box.x + box.width; };
    return [...Array(prefix).keys()].find(inside) ?? null;
  }
  return {
    at(x, y, width) { const token = tokenAt(x, y, width); if (token !== null) set(token); },
    hover: hovering(view, tokenAt),
    move(right, up) {
      const query = view.get("query"), row = Math.floor((query - prefix) / columns), column = (query - prefix) % columns;
      if (query < prefix) set(up < 0 ? prefix + Math.floor(columns / 2) : Math.max(0, Math.min(prefix - 1, query + right)));
      else if (up > 0 && row === 0) set(prefix ? 0 : query);
      else set(prefix + Math.min(rows - 1, row - up) * columns + Math.max(0, Math.min(columns - 1, column + right)));
    },
    value() {
      const query = view.get("query");
      return { now: query, max: prefix + rows * columns - 1, text: t.token(tokenName(query, about), query >= prefix) };
    },
  };
}

// --- the strip of all heads -----------------------------------------------------------------------------------------

function stripOf({ distance, uniform }, width, height) {
  const box = { x: 34, y: 46, width: width - 42, height: height - 92 }, heads = distance[0].length;
  const high = 1.08 * Math.max(uniform, ...distance.flat());
  const axes = { x: indexAxis(distance.length, ""), y: { low: 0, high, ticks: ticksTo(high) } };
  const px = value => box.x + box.width * shareOf(axes.x, value);
  return { box, axes, spot: (layer, head) => head === "mean" ? px(layer) : px(layer + 0.7 * ((head + 0.5) / heads - 0.5)) };
}

function drawStrip(g, { t, ink, about: { distance, uniform }, layer, head, view }, width, height) {
  const { box, axes, spot } = stripOf({ distance, uniform }, width, height);
  const { px, py } = drawAxes(g, ink, box, { ...axes.x, label: t.stripX }, { ...axes.y, label: "" });
  g.fillStyle = ink.line;
  g.fillRect(px(layer - 0.5), box.y, px(layer + 0.5) - px(layer - 0.5), box.height);
  for (const [value] of axes.y.ticks) line(g, ink.line, [[box.x, py(value)], [box.x + box.width, py(value)]], { width: 1 });
  line(g, ink.text, [[box.x, py(uniform)], [box.x + box.width, py(uniform)]], { width: 1.5, dash: [5, 5] });
  distance.forEach((heads, l) => heads.forEach((value, h) => drawDot(g, spot(l, h), py(value), heads.length > 8 ? 2.5 : 3.5, [], ink.second)));
  if (view === "query") {
    const value = head === "mean" ? average(distance[layer]) : distance[layer][head];
    if (head === "mean") line(g, ink.first, [[px(layer - 0.4), py(value)], [px(layer + 0.4), py(value)]], { width: 3 });
    else drawDot(g, spot(layer, head), py(value), 6, [[ink.paper, 4], [ink.first, 2.5]], ink.first);
  }
  write(g, ink.muted, t.stripY, 0, 14);
  drawKeys(g, ink, [[t.even, { style: ink.text, dash: [5, 5] }]], box.x, 34, box.width);
}

/** Moving through the heads: a click takes the nearest dot; left and right change the layer, up and down go to the next farther head. */
function headPick(view, about, t) {
  const { distance } = about, set = (layer, head) => view.set({ layer, head });
  return {
    at(x, y, width, height) {
      const { box, axes, spot } = stripOf(about, width, height), py = value => box.y + box.height * (1 - shareOf(axes.y, value));
      const dots = distance.flatMap((heads, layer) => heads.map((value, head) => ({ layer, head, value })));
      const { layer, head } = dots[largest(dots.map(dot => -Math.hypot(spot(dot.layer, dot.head) - x, py(dot.value) - y)))];
      set(layer, head);
    },
    move(right, up) {
      const layer = Math.max(0, Math.min(distance.length - 1, view.get("layer") + right)), head = view.get("head");
      const order = distance[layer].map((value, h) => [value, h]).sort((a, b) => a[0] - b[0]).map(([, h]) => h);
      const place = head === "mean" ? (up > 0 ? -1 : order.length) : order.indexOf(head);
      set(layer, up ? order[Math.max(0, Math.min(order.length - 1, place + up))] : head);
    },
    value() {
      const layer = view.get("layer"), head = view.get("head"), heads = distance[layer].length;
      const far = head === "mean" ? average(distance[layer]) : distance[layer][head];
      return { now: layer * (heads + 1) + (head === "mean" ? 0 : head + 1), max: distance.length * (heads + 1) - 1,
        text: `${t.layer} ${layer}, ${head === "mean" ? t.allHeads : t.oneHead(head)}: ${fixed(far, 1)} px` };
    },
  };
}

const explorer = defineExplorer({
  name: "attention",
  strings: STRINGS,
  controls(t, view) {
    const { images, distance, prefix, grid } = view.get("about"), upTo = count => [...Array(count).keys()];
    /** @type {Option[]} */
    const heads = [["mean", t.mean], ...upTo(distance[0].length).map(head => /** @type {Option} */ ([head, String(head)]))];
    return [
      tabs({ key: "view", label: t.view, options: [["query", t.query], ["rollout", t.rollout]] }),
      choice({ key: "image", label: t.image, options: images.map((name, i) => [i, view.say(name)]) }),
      slider({ key: "layer", label: t.layer, values: upTo(distance.length) }),
      choice({ key: "head", label: t.head, options: heads, when: () => view.get("view") === "query" }),
      picked({ key: "query", count: () => prefix + grid[0] * grid[1] }),
    ];
  },
  setup(view) {
    const { t, ink } = view, about = view.get("about"), { prefix, distance } = about, cls = prefix ? tokenName(0, about) : "";
    const percent = percentIn(view.lang), readers = new WeakMap();
    let now = {};

    function update() {
      const [image, layer, head, query, shown] = ["image", "layer", "head", "query", "view"].map(view.get), part = view.part(String(image));
      if (!readers.has(part)) readers.set(part, attentionRows(part, about));
      const rows = readers.get(part);
      const weights = shown === "rollout" ? rows.rollout(layer, query) : rows.row(layer, head, query);
      now = { t, ink, about, part, rows, weights, layer, head, query, view: shown, percent, hover: view.hover };
    }
    const name = token => t.token(tokenName(token, about), token >= prefix);
    /** The patch with the largest weight, the query itself left out if `others`. */
    function top(weights, others = -1) {
      const best = prefix + largest(weights.subarray(prefix).map((value, p) => prefix + p === others ? -1 : value));
      return { best: tokenName(best, about), most: percent(weights[best]) };
    }
    function caption() {
      const { rows, weights, layer, head, query } = now;
      const v = { layer, query: name(query), cls, even: fixed(about.uniform, 1), images: about.measured };
      if (now.view === "rollout") {
        const more = { own: percent(weights[query]), onPrefix: cls && query > 0 ? t.rolledPrefix(percent(weights[0]), cls) : "" };
        return `${t.rolled({ ...v, ...top(weights, query), ...more })} ${t.rolledRead}`;
      }
      const of = values => head === "mean" ? average(values[layer]) : values[layer][head];
      const near = rows.distance(weights, query), far = of(distance);
      const reading = far < about.uniform / 2 ? t.local : far > 0.9 * about.uniform ? t.wide : t.between;
      const more = { head: head === "mean" ? t.allHeads : t.oneHead(head), near: Number.isNaN(near) ? "" : fixed(near, 1), far: fixed(far, 1),
        onPrefix: cls && t.onPrefix(percent(weights[0]), cls), prefixMean: cls && percent(of(about.onPrefix)) };
      return `${t.caption({ ...v, ...top(weights), ...more })} ${reading}`;
    }
    function table() {
      const { rows, layer, head, query } = now, heads = distance[0].length;
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
        return [h === "mean" ? t.mean : String(h), fixed(of(distance), 1), ...(cls ? [percent(of(about.onPrefix)), percent(weights[0])] : []),
          Number.isNaN(near) ? "–" : fixed(near, 1), best, most];
      });
      return { head: t.headColumns(cls), rows: body, current: head === "mean" ? heads : head };
    }

    const panel = (label, height, draw, pick) => ({ label, wide: true, height, pick, draw: (g, width, tall) => draw(g, now, width, tall) });
    return {
      update, caption, table, parts: () => [String(view.get("image"))],
      panels: [
        panel(t.mapLabel, width => layoutOf(about, width).bottom + 58, drawMaps, queryPick(view, about, t)),
        panel(t.stripLabel, () => 250, drawStrip, headPick(view, about, t)),
      ],
    };
  },
});
export default explorer;
