// How far all heads of all layers reach, as a strip of dots, and the heads worth a look.

function stripOf({ distance, uniform }, width, height) {
  const box = { x: 34, y: 46, width: width - 42, height: height - 92 }, heads = distance[0].length;
  const high = 1.08 * Math.max(uniform, ...distance.flat());
  const axes = { x: indexAxis(distance.length, ""), y: { low: 0, high, ticks: ticksTo(high) } };
  const px = value => box.x + box.width * shareOf(axes.x, value);
  return { box, axes, spot: (layer, head) => head === "mean" ? px(layer) : px(layer + 0.7 * ((head + 0.5) / heads - 0.5)) };
}

function drawStrip(g, { t, ink, model: { distance, uniform, twin }, layer, head, view, beside }, width, height) {
  const { box, axes, spot } = stripOf({ distance, uniform }, width, height);
  const { px, py } = drawAxes(g, ink, box, { ...axes.x, label: t.stripX }, { ...axes.y, label: "" });
  g.fillStyle = ink.line;
  g.fillRect(px(layer - 0.5), box.y, px(layer + 0.5) - px(layer - 0.5), box.height);
  for (const [value] of axes.y.ticks) line(g, ink.line, [[box.x, py(value)], [box.x + box.width, py(value)]], { width: 1 });
  line(g, ink.text, [[box.x, py(uniform)], [box.x + box.width, py(uniform)]], { width: 1.5, dash: [5, 5] });
  const compared = twin && beside === "untrained", size = distance[0].length > 8 ? 2.5 : 3.5;
  if (compared) twin.distance.forEach((heads, l) => heads.forEach((value, h) => drawDot(g, spot(l, h), py(value), size, [[ink.muted, 1.5]])));
  distance.forEach((heads, l) => heads.forEach((value, h) => drawDot(g, spot(l, h), py(value), size, [], ink.second)));
  if (view === "query") {
    const value = head === "mean" ? average(distance[layer]) : distance[layer][head];
    if (head === "mean") line(g, ink.first, [[px(layer - 0.4), py(value)], [px(layer + 0.4), py(value)]], { width: 3 });
    else drawDot(g, spot(layer, head), py(value), 6, [[ink.paper, 4], [ink.first, 2.5]], ink.first);
  }
  write(g, ink.muted, t.stripY, 0, 14);
  /** @type {[string, Look][]} */
  const twins = compared ? [[t.twinHeads, { style: ink.muted, marker: "ring" }]] : [];
  drawKeys(g, ink, [[t.even, { style: ink.text, dash: [5, 5] }], ...twins], box.x, 34, box.width);
}

/** Moving through the heads: a click takes the nearest dot; left and right change the layer, up and down go to the next farther head. */
function headPick(view, modelOf, t) {
  const set = (layer, head) => view.set({ layer, head });
  return {
    at(x, y, width, height) {
      const { distance } = modelOf();
      const { box, axes, spot } = stripOf(modelOf(), width, height), py = value => box.y + box.height * (1 - shareOf(axes.y, value));
      const dots = distance.flatMap((heads, layer) => heads.map((value, head) => ({ layer, head, value })));
      const { layer, head } = dots[largest(dots.map(dot => -Math.hypot(spot(dot.layer, dot.head) - x, py(dot.value) - y)))];
      set(layer, head);
    },
    move(right, up) {
      const { distance } = modelOf();
      const layer = Math.max(0, Math.min(distance.length - 1, view.get("layer") + right)), head = view.get("head");
      const order = distance[layer].map((value, h) => [value, h]).sort((a, b) => a[0] - b[0]).map(([, h]) => h);
      const place = head === "mean" ? (up > 0 ? -1 : order.length) : order.indexOf(head);
      set(layer, up ? order[Math.max(0, Math.min(order.length - 1, place + up))] : head);
    },
    value() {
      const { distance } = modelOf();
      const layer = view.get("layer"), head = view.get("head"), heads = distance[layer].length;
      const far = head === "mean" ? average(distance[layer]) : distance[layer][head];
      return { now: layer * (heads + 1) + (head === "mean" ? 0 : head + 1), max: distance.length * (heads + 1) - 1,
        text: `${t.layer} ${layer}, ${head === "mean" ? t.allHeads : t.oneHead(head)}: ${fixed(far, 1)} px` };
    },
  };
}

/** The head whose distance is the smallest (sign 1) or the largest (−1). @param {number[][]} distance @param {1 | -1} sign */
function farthest(distance, sign) {
  const flat = distance.flat(), place = largest(flat.map(value => -sign * value)), heads = distance[0].length;
  return { layer: Math.floor(place / heads), head: place % heads };
}
