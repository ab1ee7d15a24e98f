// Explorer of effective receptive fields: two networks side by side at the same relative depth.

const STRINGS = {
  en: {
    title: "How much of the image reaches the centre of a layer?",
    left: "Left", right: "Right", depth: "Relative depth", skip: "Skip connection", after: "after", before: "before",
    mapLabel: "Effective receptive field of the network on the ", sides: ["left", "right"],
    radiusLabel: "Radius that holds half of the gradient, by depth; arrow keys move the depth",
    centreLabel: "Share of the gradient at the centre position, by depth; arrow keys move the depth",
    photo: "Photo", presets: [["The narrowest layer on the left", 1], ["The widest layer on the left", -1]],
    attn_out: "attention", mlp_out: "MLP", lit: value => `bright where gradient is; peak ${value}× even`,
    radius: "half-mass radius, px", centre: "centre share, %", depthAxis: "depth, %", 
    density: "gradient per pixel, root scale", times: value => `${value}× even`,
    one: v => `${v.name}, ${v.layer}: half of the gradient lies within ${v.half} px, 90 % within ${v.most} px; the centre position has ${v.centre} ` +
      `(even: ${v.even}), ${v.ratio} times its even share. `,
    columns: ["depth", "layer", "50\u00a0%, px", "90\u00a0%, px", "centre", "layer", "50\u00a0%, px", "90\u00a0%, px", "centre"],
    wider: (a, b) => `At this depth ${a} reaches further than ${b}.`, alike: "At this depth both reach equally far.",
    marks: "The circles hold 50 % and 90 % of the gradient, the square is the centre position.",
  },
  ko: {
    title: "한 층의 중앙에는 이미지가 얼마나 모이는가?",
    left: "왼쪽", right: "오른쪽", depth: "상대 깊이", skip: "스킵 연결", after: "더한 뒤", before: "더하기 전",
    mapLabel: "유효 수용 영역, ", sides: ["왼쪽 모델", "오른쪽 모델"],
    radiusLabel: "기울기의 절반을 담는 반지름의 깊이별 변화, 화살표 키로 깊이 이동",
    centreLabel: "중앙 위치가 차지하는 기울기 몫의 깊이별 변화, 화살표 키로 깊이 이동",
    photo: "사진", presets: [["왼쪽에서 가장 좁은 층", 1], ["왼쪽에서 가장 넓은 층", -1]],
    attn_out: "어텐션", mlp_out: "MLP", lit: value => `기울기가 클수록 밝음, 최대 ${value}배`,
    radius: "절반 반지름, 픽셀", centre: "중앙의 몫, %", depthAxis: "깊이, %", 
    density: "픽셀당 기울기, 제곱근 눈금", times: value => `균등의 ${value}배`,
    one: v => `${v.name}, ${v.layer}: 기울기의 절반이 ${v.half}픽셀, 90%가 ${v.most}픽셀 안에 있다. 중앙 위치의 몫은 ${v.centre}로, ` +
      `균등할 때(${v.even})의 ${v.ratio}배이다. `,
    columns: ["깊이", "층", "50%, 픽셀", "90%, 픽셀", "중앙", "층", "50%, 픽셀", "90%, 픽셀", "중앙"],
    wider: (a, b) => `이 깊이에서 더 멀리 미치는 쪽은 ${a}이고, ${b} 쪽은 더 좁다.`, alike: "이 깊이에서는 둘이 미치는 거리가 같다.",
    marks: "원은 기울기의 50%와 90%를 담고, 사각형은 중앙 위치이다.",
  },
};

const SIDES = ["left", "right"], TITLE = 40;

/** Centre of the position in the middle of `count` positions on `pixels` pixels: [start, end]. */
function centreSpan(count, pixels) {
  const start = Math.floor(Math.floor(count / 2) * pixels / count);
  return [start, Math.max(start + 1, Math.floor((Math.floor(count / 2) + 1) * pixels / count))];
}

/** Two digits of a ratio are enough. */
const rounded = value => fixed(value, value < 10 ? 1 : 0);

function drawField(g, { t, ink, size: [height, width], layer, picture, photo, name, look, said }, panelWidth) {
  const scale = panelWidth / width, map = picture.map, [rows, columns] = map.shape;
  const cells = { x: 0, y: TITLE, width: panelWidth, height: height * scale, rows, columns };
  drawKeys(g, { ...ink, muted: ink.text }, [[name, look]], 0, 14, panelWidth);
  write(g, ink.muted, said, 0, 33);
  if (photo) {
    drawPixels(g, cells, photo.pixels);
    drawCrisp(g, cells, pixelCanvas(rows, columns, (row, column) => [0, 0, 0, 210 * (1 - map.get(row, column) / 255)]));
  } else drawCells(g, ink, cells, (row, column) => map.get(row, column) / 255);
  const [[top, bottom], [left, right]] = layer.grid.map((count, axis) => centreSpan(count, [height, width][axis]));
  for (const [strokeStyle, lineWidth] of [["#000", 3.5], ["#fff", 1.5]]) {
    Object.assign(g, { strokeStyle, lineWidth });
    g.strokeRect(scale * left, TITLE + scale * top, scale * (right - left), scale * (bottom - top));
    g.save();
    g.beginPath(); g.rect(0, TITLE, panelWidth, cells.height); g.clip();
    for (const [radius, dash] of [[picture.half, []], [picture.most, [5, 4]]]) {
      g.setLineDash(dash);
      g.beginPath();
      g.arc(scale * (left + right) / 2, TITLE + scale * (top + bottom) / 2, scale * Math.max(0.5, radius), 0, 2 * Math.PI);
      g.stroke();
    }
    g.restore();
  }
  if (photo) write(g, ink.muted, t.lit(rounded(picture.peak)), panelWidth / 2, TITLE + cells.height + 20, "center");
  else drawLegend(g, ink, { x: 0, y: TITLE + cells.height + 28, width: panelWidth, low: "0", high: t.times(rounded(picture.peak)), label: t.density });
}

/** Layers before the skip by the branch they end, {"attn_out": [0, 2, …], "mlp_out": [1, 3, …]}: each has a line of its own. */
function branchesOf(layers, skip) {
  const ends = layers.map(({ name }) => skip === "before" ? name.split(".").at(-1) : "");
  return new Map(ends.map(end => [end, layers.map((_, i) => i).filter(i => ends[i] === end)]));
}

const chartBox = (width, height) => ({ x: 34, y: 28, width: width - 46, height: height - 74 });

/** A word beside a line, readable on top of it. */
function label(g, ink, style, text, x, y) {
  Object.assign(g, { strokeStyle: ink.paper, lineWidth: 4, textAlign: "left" });
  g.strokeText(text, x, y);
  write(g, style, text, x, y);
}

function drawChart(g, { t, ink, depth, sides }, key, title, scale, width, height) {
  const box = chartBox(width, height), high = 1.06 * scale * Math.max(...sides.flatMap(side => side.numbers.map(layer => layer[key])));
  const { px, py } = drawAxes(g, ink, box, depthAxis(t.depthAxis), { low: 0, high, label: "", ticks: ticksTo(high) });
  write(g, ink.muted, title, 0, 14);
  line(g, ink.muted, [[px(depth), box.y], [px(depth), box.y + box.height]], { width: 1 });
  for (const { numbers, look, index, branches } of sides) {
    const at = depthSteps(numbers.length, px);
    for (const [name, places] of branches) {
      drawSeries(g, { px: i => at(places[i]), py }, places.map(i => scale * numbers[i][key]), look, { size: 2.5 });
      if (branches.size > 1) label(g, ink, look.style, t[name] ?? name, at(places[0]), py(scale * numbers[places[0]][key]) - 8);
    }
    drawDot(g, at(index), py(scale * numbers[index][key]), 5, [[ink.paper, 3]], look.style);
  }
}

/** A chart is moved along its depth. */
function depthPick(view, depths) {
  const place = () => nearest(depths(), view.get("depth"));
  return {
    at(x, y, width, height) {
      const box = chartBox(width, height), value = valueAt(depthAxis(""), (x - box.x) / box.width);
      view.set({ depth: depths()[nearest(depths(), value)] });
    },
    move: (right, up) => view.set({ depth: depths()[Math.max(0, Math.min(depths().length - 1, place() + right + up))] }),
    value: () => ({ now: place(), max: depths().length - 1, text: percentIn(view.lang)(view.get("depth"), 0) }),
  };
}

const explorer = defineExplorer({
  name: "field",
  strings: STRINGS,
  columns: "1fr 1fr",
  narrowColumns: "1fr 1fr",
  captionAfter: 2,
  presets(t, view) {
    const radii = () => view.part(view.get("left"))[view.get("skip")].map(layer => layer.half);
    const depthOf = place => radii().length === 1 ? 1 : place / (radii().length - 1);
    return t.presets.map(([label, sign]) => ({ label, find: () => ({ depth: depthOf(largest(radii().map(radius => -sign * radius))) }) }));
  },
  controls(t, view) {
    const { models, skips, photos } = view.get("about"), options = Object.entries(models).map(([key, { name }]) => /** @type {Option} */ ([key, view.say(name)]));
    const counts = () => SIDES.map(side => models[view.get(side)].layers[view.get("skip")].length);
    return [
      choice({ key: "left", label: t.left, options }),
      choice({ key: "right", label: t.right, options }),
      tabs({ key: "skip", label: t.skip, options: skips.map(skip => [skip, t[skip]]), when: () => skips.length > 1 }),
      ...(photos.length ? [choice({ key: "photo", label: t.photo, options: photos.map(({ name }, i) => [i, view.say(name)]),
        when: () => SIDES.some(side => models[view.get(side)].photographed) })] : []),
      slider({ key: "depth", label: t.depth, values: () => depthsOf(counts()), text: value => percentIn(view.lang)(value, 0) }),
    ];
  },
  setup(view) {
    const { t, ink } = view, { models, photos } = view.get("about"), percent = percentIn(view.lang);
    let now = /** @type {any} */ ({});
    const layersOf = side => models[view.get(side)].layers[view.get("skip")];
    const depths = () => depthsOf(SIDES.map(side => layersOf(side).length));
    function update() {
      const depth = view.get("depth"), sides = SIDES.map((side, i) => {
        const key = view.get(side), skip = view.get("skip"), layers = layersOf(side), index = layerAt(depth, layers.length);
        const numbers = view.part(key)[skip], shown = models[key].photographed && photos[view.get("photo")];
        return { t, ink, layers, numbers, index, branches: branchesOf(layers, skip), layer: layers[index], picture: numbers[index],
          said: layerName(layers[index].name, view.lang), photo: shown && view.part(shown.part),
          size: models[key].size, name: view.say(models[key].name), look: lookOf(ink, i) };
      });
      now = { t, ink, depth, sides };
    }
    function caption() {
      const texts = now.sides.map(({ name, layer, said, picture }) => t.one({ name, layer: said, half: fixed(picture.half, 1), most: fixed(picture.most, 1),
        centre: percent(picture.centre), even: percent(layer.uniform), ratio: rounded(picture.centre / layer.uniform) }));
      if (view.get("left") === view.get("right")) return texts[0] + t.marks;
      const [a, b] = now.sides, gap = a.picture.half - b.picture.half;
      return `${texts.join("")}${gap === 0 ? t.alike : gap > 0 ? t.wider(a.name, b.name) : t.wider(b.name, a.name)} ${t.marks}`;
    }
    function table() {
      const steps = depths();
      const cells = ({ layers, numbers }, depth) => {
        const place = layerAt(depth, layers.length), layer = numbers[place];
        return [layerName(layers[place].name, view.lang), fixed(layer.half, 1), fixed(layer.most, 1), percent(layer.centre)];
      };
      const rows = steps.map(depth => [percent(depth, 0), ...now.sides.flatMap(side => cells(side, depth))]);
      return { head: t.columns, rows, current: nearest(steps, now.depth) };
    }
    const sizeOf = side => models[view.get(side)].size;
    const map = (side, i) => ({
      label: t.mapLabel + t.sides[i], height: width => TITLE + width * sizeOf(side)[0] / sizeOf(side)[1] + (models[view.get(side)].photographed ? 34 : 60),
      draw: (g, width) => drawField(g, now.sides[i], width),
    });
    const chart = (label, key, title, scale) => ({
      label, height: () => 210, pick: depthPick(view, depths), draw: (g, width, height) => drawChart(g, now, key, title, scale, width, height),
    });
    return {
      update, caption, table, parts: () => [...new Set(SIDES.map(view.get)), ...(SIDES.some(side => models[view.get(side)].photographed)
        ? [photos[view.get("photo")].part] : [])],
      panels: [...SIDES.map(map), chart(t.radiusLabel, "half", t.radius, 1), chart(t.centreLabel, "centre", t.centre, 100)],
    };
  },
});
export default explorer;
