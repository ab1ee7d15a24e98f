// Explorer of shifts: an image moves; do the maps of two networks move along, and what do they predict?

const STRINGS = {
  en: {
    title: "The image moves. What moves along?",
    image: "Image", upper: "Above", lower: "Below", depth: "Relative depth", right: "Right, px", down: "Down, px",
    mapsLabel: "For two networks: the moved image with the cells of the layer, the map of the moved image, the moved map of the image, and their difference",
    latticeLabel: "Error of both networks for every shift; arrow keys move the image",
    barsLabel: "Predicted classes of both networks, before and after the shift",
    heads: ["moved image Tx", "f(Tx)", "T f(x)", "difference"],
    value: "one channel, lowest to highest", difference: "0 to the same range", low: "low", high: "high",
    error: "‖f(Tx) − T f(x)‖ / ‖f(x)‖ by shift", rightAxis: "right →, down ↓", before: "before", after: "after the shift",
    classOf: i => `class ${i}`,
    lead: v => `Image moved ${v.right} px right and ${v.down} px down.`,
    one: v => `${v.name}, ${v.layer}: the map misses its own moved copy by ${v.moved} and the unmoved one by ${v.still}; predicts ${v.label} with ${v.p}` +
      ` (before: ${v.labelBefore}, ${v.pBefore}).`,
    both: "Both maps moved along exactly.", none: "Neither map moved along exactly.", only: name => `Only the map of ${name} moved along exactly.`,
    columns: ["right, px", "down, px", "network", "layer", "moved along", "stayed", "class", "probability"],
  },
  ko: {
    title: "이미지를 움직이면 무엇이 따라 움직이는가?",
    image: "이미지", upper: "위", lower: "아래", depth: "상대 깊이", right: "오른쪽, 픽셀", down: "아래쪽, 픽셀",
    mapsLabel: "두 모델의 옮긴 이미지와 층의 칸, 옮긴 이미지의 특징 맵, 특징 맵을 옮긴 것, 두 맵의 차이",
    latticeLabel: "모든 이동에서 두 모델의 오차, 화살표 키로 이미지 이동",
    barsLabel: "두 모델이 예측한 클래스, 이동 전과 이동 후",
    heads: ["옮긴 이미지 Tx", "f(Tx)", "T f(x)", "차이"],
    value: "채널 하나, 가장 작은 값부터", difference: "0부터 같은 폭", low: "작음", high: "큼",
    error: "이동별 ‖f(Tx) − T f(x)‖ / ‖f(x)‖", rightAxis: "오른쪽 →, 아래 ↓", before: "이동 전", after: "이동 후",
    classOf: i => `클래스 ${i}`,
    lead: v => `이미지를 오른쪽으로 ${v.right}픽셀, 아래로 ${v.down}픽셀 옮겼다.`,
    one: v => `${v.name}, ${v.layer}: 맵이 어긋난 정도는 함께 옮긴 맵과 견주어 ${v.moved}, 옮기지 않은 맵과 견주어 ${v.still}이다. 예측은 ${v.label} ${v.p}` +
      `이다(이동 전 ${v.labelBefore} ${v.pBefore}).`,
    both: "두 맵 모두 정확히 따라 움직였다.", none: "어느 맵도 정확히 따라 움직이지 않았다.", only: name => `정확히 따라 움직인 맵은 ${name} 쪽뿐이다.`,
    columns: ["오른쪽, 픽셀", "아래쪽, 픽셀", "모델", "층", "따라 움직임", "그대로 있음", "클래스", "확률"],
  },
};

const SIDES = ["upper", "lower"], HEAD = 22, NAME = 26, SPACE = 8, SHOWN_CLASSES = 4, BAR = 34;
const EXACT = 0.0005; // errors on the page have three decimals

const likeliest = (classes, key) => classes.reduce((best, item) => item[key] > best[key] ? item : best);

const ranges = new WeakMap();
/** Smallest value of a packed map over all shifts, and how far the largest is from it. */
function rangeOf(map) {
  if (!ranges.has(map)) {
    let low = Infinity, high = -Infinity;
    for (let i = map.shape.reduce((a, b) => a * b) - 1; i >= 0; i--) { const value = map.at(i); low = Math.min(low, value); high = Math.max(high, value); }
    ranges.set(map, { low, range: high - low || 1 });
  }
  return ranges.get(map);
}

/** Boxes of one network's four pictures. */
function rowOf(i, width, [height, wide]) {
  const side = (width - 3 * SPACE) / 4, tall = side * height / wide, y = HEAD + NAME + i * (tall + NAME + 6);
  return { y, tall, boxes: [0, 1, 2, 3].map(k => ({ x: k * (side + SPACE), y, width: side, height: tall })) };
}
const mapsHeight = (width, size) => { const { y, tall } = rowOf(1, width, size); return y + tall + 62; };

/** An image that wraps round, moved by [right, down] pixels of `size`. */
function drawWrapped(g, box, image, [right, down], [height, wide]) {
  const dx = box.width * right / wide, dy = box.height * down / height;
  g.save();
  g.beginPath(); g.rect(box.x, box.y, box.width, box.height); g.clip();
  for (const [i, j] of [[0, 0], [1, 0], [0, 1], [1, 1]]) drawPixels(g, { ...box, x: box.x + dx - i * box.width, y: box.y + dy - j * box.height }, image);
  g.restore();
}

/** Lines between the cells of a layer, where there is room for them. */
function drawGrid(g, box, [rows, columns]) {
  if (box.width / columns < 6) return;
  for (let i = 1; i < columns; i++) line(g, "rgb(255 255 255 / 55%)", [[box.x + box.width * i / columns, box.y], [box.x + box.width * i / columns, box.y + box.height]], { width: 1 });
  for (let i = 1; i < rows; i++) line(g, "rgb(255 255 255 / 55%)", [[box.x, box.y + box.height * i / rows], [box.x + box.width, box.y + box.height * i / rows]], { width: 1 });
}

function drawMaps(g, { t, ink, networks, image, shift, size }, width) {
  t.heads.forEach((text, k) => write(g, ink.muted, wrap(g, text, rowOf(0, width, size).boxes[k].width)[0], rowOf(0, width, size).boxes[k].x, 14));
  networks.forEach(({ name, layer, now, carried, shape: [rows, columns], low, range, grid }, i) => {
    const { y, boxes } = rowOf(i, width, size), cells = k => ({ ...boxes[k], rows, columns });
    write(g, ink.text, wrap(g, `${name} · ${layer}`, width)[0], 0, y - 7);
    drawWrapped(g, boxes[0], image, shift, size);
    drawGrid(g, boxes[0], grid);
    drawCells(g, ink, cells(1), (row, column) => (now(row, column) - low) / range);
    drawCells(g, ink, cells(2), (row, column) => (carried(row, column) - low) / range);
    drawCells(g, ink, cells(3), (row, column) => Math.abs(now(row, column) - carried(row, column)) / range);
  });
  const { y, tall, boxes } = rowOf(1, width, size), below = y + tall + 30;
  drawLegend(g, ink, { x: boxes[1].x, y: below, width: boxes[2].x + boxes[2].width - boxes[1].x, low: t.low, high: t.high, label: wrap(g, t.value, 2 * boxes[1].width + SPACE)[0] });
  write(g, ink.muted, wrap(g, t.difference, boxes[3].width)[0], boxes[3].x, below - 8);
}

const latticeOf = (i, width, count) => {
  const side = Math.min(150, (width - 40) / 2);
  return { x: 16 + i * (side + 24), y: 46, width: side, height: side, rows: count, columns: count };
};

function drawLattices(g, { t, ink, networks, place, highest, shifts, hover }, width) {
  write(g, ink.muted, t.error, 0, 14);
  networks.forEach(({ name, errors }, i) => {
    const cells = latticeOf(i, width, shifts.length), seen = hover && hover.side === i ? errors[hover.row][hover.column] : null;
    write(g, ink.text, seen === null ? wrap(g, name, cells.width)[0] : `${shifts[hover.column]}, ${shifts[hover.row]}: ${fixed(seen)}`, cells.x, 36);
    drawCells(g, ink, cells, (row, column) => errors[row][column] / highest);
    markCell(g, cells, place[0], place[1]);
    write(g, ink.muted, String(shifts[0]), cells.x - 4, cells.y + 12, "right");
    write(g, ink.muted, String(shifts.at(-1)), cells.x - 4, cells.y + cells.height, "right");
    write(g, ink.muted, t.rightAxis, cells.x + cells.width / 2, cells.y + cells.height + 18, "center");
  });
  const last = latticeOf(1, width, shifts.length), from = latticeOf(0, width, shifts.length).x;
  drawLegend(g, ink, { x: from, y: last.y + last.height + 46, width: last.x + last.width - from, low: "0", high: fixed(highest, 2), label: "" });
}
const latticesHeight = (width, count) => { const { y, height } = latticeOf(1, width, count); return y + height + 76; };

/** Bars of the likeliest classes: filled after the shift, outlined before it. */
function drawBars(g, { t, ink, networks, percent }, width) {
  const top = drawKeys(g, ink, [[t.after, { style: ink.second, marker: "square" }], [t.before, { style: ink.text, marker: "ring" }]], 0, 14, width);
  networks.forEach(({ name, classes }, i) => {
    const y = top + 8 + i * (24 + SHOWN_CLASSES * BAR);
    write(g, ink.text, wrap(g, name, width)[0], 0, y);
    classes.forEach(({ label, p, before }, k) => {
      const bar = y + 10 + k * BAR, span = width - 58;
      write(g, ink.muted, label, 0, bar + 11);
      g.fillStyle = ink.line; g.fillRect(0, bar + 15, span, 10);
      g.fillStyle = ink.second; g.fillRect(0, bar + 15, span * p, 10);
      drawDot(g, span * before, bar + 20, 4, [[ink.paper, 4], [ink.text, 2]]);
      write(g, ink.text, percent(p), width, bar + 25, "right");
    });
  });
}
const barsHeight = () => 34 + 2 * (24 + SHOWN_CLASSES * BAR);

/** The shift at a point of either lattice; arrows move by one step, up means less down. */
function latticePick(view, shifts) {
  const limit = value => Math.max(0, Math.min(shifts.length - 1, value)), index = key => nearest(shifts, view.get(key));
  function at(x, y, width, clamp) {
    const second = latticeOf(1, width, shifts.length), side = x >= second.x - 12 ? 1 : 0;
    const cell = cellAt(latticeOf(side, width, shifts.length), x, y, clamp);
    return cell && { side, row: cell[0], column: cell[1] };
  }
  return {
    at(x, y, width) { const { row, column } = /** @type {{ row: number, column: number }} */ (at(x, y, width, true)); view.set({ right: shifts[column], down: shifts[row] }); },
    move: (right, up) => view.set({ right: shifts[limit(index("right") + right)], down: shifts[limit(index("down") - up)] }),
    hover(point) {
      const next = point && at(point.x, point.y, point.width, false);
      if (JSON.stringify(next) === JSON.stringify(view.hover)) return;
      view.hover = next;
      view.redraw();
    },
    value: () => ({ now: index("down") * shifts.length + index("right"), max: shifts.length ** 2 - 1, text: `${view.get("right")}, ${view.get("down")}` }),
  };
}

const explorer = defineExplorer({
  name: "shift",
  strings: STRINGS,
  columns: "1fr 1fr",
  controls(t, view) {
    const { models, images, shifts } = view.get("about"), options = Object.entries(models).map(([key, { name }]) => /** @type {Option} */ ([key, view.say(name)]));
    const counts = () => SIDES.map(side => models[view.get(side)].layers.length), px = value => String(value);
    return [
      choice({ key: "image", label: t.image, options: images.map((name, i) => [i, view.say(name)]), when: () => images.length > 1 }),
      choice({ key: "upper", label: t.upper, options }),
      choice({ key: "lower", label: t.lower, options }),
      slider({ key: "depth", label: t.depth, values: () => depthsOf(counts()), text: value => percentIn(view.lang)(value, 0) }),
      slider({ key: "right", label: t.right, values: shifts, text: px }),
      slider({ key: "down", label: t.down, values: shifts, text: px }),
    ];
  },
  setup(view) {
    const { t, ink } = view, { models, shifts, size, classes: names } = view.get("about"), percent = percentIn(view.lang);
    const partOf = side => view.part(`${view.get(side)} ${view.get("image")}`), layerOf = side => layerAt(view.get("depth"), models[view.get(side)].layers.length);
    let now = /** @type {any} */ ({});

    /** Classes of one network at a shift, the likeliest (before or after) first. */
    function classesAt({ classes, probabilities }, row, column) {
      const label = k => names[classes[k]] ?? t.classOf(classes[k]);
      const all = classes.map((_, k) => ({ label: label(k), p: probabilities.get(row, column, k), before: probabilities.get(0, 0, k) }));
      return all.sort((a, b) => Math.max(b.p, b.before) - Math.max(a.p, a.before));
    }
    function readNetwork(side, row, column) {
      const { name, layers, cells } = models[view.get(side)], index = layerOf(side), part = partOf(side), map = part.maps[index];
      const [, , ...shape] = map.shape, grid = size.map((side, axis) => Math.round(side / cells[index][axis]));
      // Cells of the page by which T moves the map: whole cells of the layer, of which the page may show averages.
      const [down, right] = [row, column].map((i, axis) => Math.round(Math.floor(shifts[i] / cells[index][axis] + 0.5) * shape[axis] / grid[axis]));
      const around = (i, count) => (i + count) % count, errors = shifts.map((_, i) => shifts.map((_, j) => part.moved.get(i, j, index)));
      const classes = classesAt(part, row, column);
      return {
        name: view.say(name), layer: layers[index], index, part, grid, shape, ...rangeOf(map), errors, moved: errors[row][column], still: part.still.get(row, column, index),
        now: (y, x) => map.get(row, column, y, x), carried: (y, x) => map.get(0, 0, around(y - down, shape[0]), around(x - right, shape[1])),
        classes: classes.slice(0, SHOWN_CLASSES), best: likeliest(classes, "p"), start: likeliest(classes, "before"),
      };
    }
    function update() {
      const place = ["down", "right"].map(key => nearest(shifts, view.get(key))), networks = SIDES.map(side => readNetwork(side, ...place));
      const highest = Math.max(0.01, ...networks.flatMap(({ errors }) => errors.flat()));
      now = { t, ink, percent, size, shifts, place, networks, highest, hover: view.hover, shift: [view.get("right"), view.get("down")], image: view.part(`image ${view.get("image")}`).pixels };
    }
    function caption() {
      const texts = now.networks.map(({ name, layer, moved, still, best, start }) => t.one({ name, layer, moved: fixed(moved), still: fixed(still),
        label: best.label, p: percent(best.p), labelBefore: start.label, pBefore: percent(start.before) }));
      const exact = now.networks.map(({ moved }) => moved < EXACT), which = exact.every(Boolean) ? t.both : exact.some(Boolean) ? t.only(now.networks[exact.indexOf(true)].name) : t.none;
      return [t.lead({ right: now.shift[0], down: now.shift[1] }), ...(view.get("upper") === view.get("lower") ? texts.slice(0, 1) : texts), which].join(" ");
    }
    function table() {
      const [row, column] = now.place;
      const line = (i, { name, layer, index, part }) => {
        const best = likeliest(classesAt(part, row, i), "p");
        return [String(shifts[i]), String(shifts[row]), name, layer, fixed(part.moved.get(row, i, index)), fixed(part.still.get(row, i, index)), best.label, percent(best.p)];
      };
      return { head: t.columns, rows: now.networks.flatMap(network => shifts.map((_, i) => line(i, network))), current: column };
    }
    return {
      update, caption, table, parts: () => [`image ${view.get("image")}`, ...new Set(SIDES.map(side => `${view.get(side)} ${view.get("image")}`))],
      panels: [
        { label: t.mapsLabel, wide: true, height: width => mapsHeight(width, size), draw: (g, width) => drawMaps(g, now, width) },
        { label: t.latticeLabel, height: width => latticesHeight(width, shifts.length), pick: latticePick(view, shifts), draw: (g, width) => drawLattices(g, now, width) },
        { label: t.barsLabel, height: barsHeight, draw: (g, width) => drawBars(g, now, width) },
      ],
    };
  },
});
export default explorer;
