// Drawing on canvas: colour scale, axes, legend, picking, and the picture for slides.

// Nine colours of viridis: brightness rises all the way, so it reads the same with any colour vision and in grey.
const VIRIDIS = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99],
  [170, 220, 50], [253, 231, 37]];

/** Colour of a value in 0…1, as numbers and for a canvas. @param {number} value @returns {number[]} */
function rgb(value) {
  const x = Math.min(1, Math.max(0, value)) * (VIRIDIS.length - 1), i = Math.min(VIRIDIS.length - 2, Math.floor(x));
  return VIRIDIS[i].map((c, k) => Math.round(c + (x - i) * (VIRIDIS[i + 1][k] - c)));
}
/** @param {number} value */
const colour = value => `rgb(${rgb(value).join(" ")})`;

/** How wide a text may be at x before the canvas cuts it. @param {CanvasRenderingContext2D} g @param {number} x @param {CanvasTextAlign} align */
function roomAt(g, x, align) {
  const { a, e } = g.getTransform(), left = x + e / a, right = (g.canvas.width - e) / a - x;
  return align === "left" ? right : align === "right" ? left : 2 * Math.min(left, right);
}

/** A text that is squeezed rather than cut where a narrow screen leaves too little room.
 *  @param {CanvasRenderingContext2D} g @param {string} style @param {string} text @param {number} x @param {number} y @param {CanvasTextAlign} [align] */
function write(g, style, text, x, y, align = "left") {
  g.fillStyle = style; g.textAlign = align;
  g.fillText(text, x, y, Math.max(1, roomAt(g, x, align)));
}

/** @param {CanvasRenderingContext2D} g @param {string} style @param {number[][]} points @param {{ width?: number, dash?: number[] }} [look] */
function line(g, style, points, { width = 2, dash = [] } = {}) {
  g.strokeStyle = style; g.lineWidth = width; g.lineJoin = "round";
  g.setLineDash(dash);
  g.beginPath();
  for (const [x, y] of points) g.lineTo(x, y);
  g.stroke();
  g.setLineDash([]);
}

/** A dot with rings [[style, width]], the widest first so that it shows on any background.
 *  @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} radius @param {[string, number][]} rings @param {string | null} [fill] */
function drawDot(g, x, y, radius, rings, fill = null) {
  g.beginPath(); g.arc(x, y, radius, 0, 2 * Math.PI);
  for (const [style, width] of rings) { g.strokeStyle = style; g.lineWidth = width; g.stroke(); }
  if (fill) { g.fillStyle = fill; g.fill(); }
}

/** A colour bar with a label above and its two ends named below.
 *  @param {CanvasRenderingContext2D} g @param {Ink} ink @param {{ x: number, y: number, width: number, low: string, high: string, label: string }} bar */
function drawLegend(g, ink, { x, y, width, low, high, label }) {
  for (let i = 0; i < width; i++) { g.fillStyle = colour(i / (width - 1)); g.fillRect(x + i, y, Math.min(1.5, width - i), 8); }
  write(g, ink.muted, label, x + width / 2, y - 8, "center");
  write(g, ink.muted, low, x, y + 23, "left");
  write(g, ink.muted, high, x + width, y + 23, "right");
}

// An axis: { low, high, log, ticks: [[value, text]], label }.
/** @param {{ low: number, high: number, log?: boolean }} axis @param {number} value */
const shareOf = ({ low, high, log }, value) => log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
/** @param {{ low: number, high: number, log?: boolean }} axis @param {number} share */
const valueAt = ({ low, high, log }, share) => log ? low * (high / low) ** share : low + (high - low) * share;

/** Axes around a box; returns functions from values to pixels.
 *  @param {CanvasRenderingContext2D} g @param {Ink} ink @param {Box} box @param {Axis} xAxis @param {Axis} yAxis @returns {{ px: Scale, py: Scale }} */
function drawAxes(g, ink, box, xAxis, yAxis) {
  const px = value => box.x + box.width * shareOf(xAxis, value), py = value => box.y + box.height * (1 - shareOf(yAxis, value));
  for (const [value, text] of yAxis.ticks) {
    line(g, ink.line, [[box.x, py(value)], [box.x + box.width, py(value)]], { width: 1 });
    write(g, ink.muted, text, box.x - 6, py(value) + 4, "right");
  }
  for (const [value, text] of xAxis.ticks) write(g, ink.muted, text, px(value), box.y + box.height + 18, "center");
  write(g, ink.muted, xAxis.label, box.x + box.width / 2, box.y + box.height + 38, "center");
  write(g, ink.muted, yAxis.label, 0, box.y - 14);
  return { px, py };
}

/** @param {HTMLCanvasElement} canvas */
const contextOf = canvas => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/** Draws a panel on its canvas, sharp on any screen. @param {{ panel: Panel, canvas: HTMLCanvasElement }} shown @param {string} font */
function paint({ panel, canvas }, font) {
  const width = canvas.clientWidth, height = panel.height(width), ratio = globalThis.devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const g = contextOf(canvas);
  g.scale(ratio, ratio);
  g.font = font;
  panel.draw(g, width, height);
}

/** @type {Record<string, Point>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** Pointer and arrow keys on a canvas; screen readers meet it as a slider. Returns what to call after drawing.
 *  pick = { at(x, y, width, height), move(right, up), value() → { now, max, text }, hover({ x, y, width, height } or null) }
 *  hover is optional: where the mouse is while no button is down. @param {HTMLCanvasElement} canvas @param {Picking} pick */
function makePickable(canvas, pick) {
  const place = (/** @type {MouseEvent} */ event) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top, width, height };
  };
  const point = event => { const { x, y, width, height } = place(event); pick.at(x, y, width, height); };
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "slider");
  canvas.addEventListener("click", point); // a finger taps; dragging it still scrolls the page
  canvas.addEventListener("pointermove", event => {
    if (event.pointerType !== "mouse") return;
    if (event.buttons & 1) point(event); else if (!event.buttons) pick.hover?.(place(event));
  });
  canvas.addEventListener("pointerleave", () => pick.hover?.(null));
  canvas.addEventListener("keydown", event => {
    if (ARROWS[event.key]) { event.preventDefault(); pick.hover?.(null); pick.move(...ARROWS[event.key]); }
  });
  return () => {
    const { now, max, text } = pick.value();
    for (const [key, value] of Object.entries({ min: 0, max, now, text })) canvas.setAttribute(`aria-value${key}`, String(value));
  };
}

/** Words of a text in lines no wider than `width`. @param {CanvasRenderingContext2D} g @param {string} text @param {number} width */
function wrap(g, text, width) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (g.measureText(longer).width > width) lines.push(word); else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** A picture for slides, twice as sharp: title, then panels and caption as they stand in `frame`.
 *  @param {{ title: string, caption: HTMLElement, ink: Ink, fontFamily: string, panels: Shown[], frame: HTMLElement }} parts */
function picture({ title, caption, ink, fontFamily, panels, frame }) {
  const canvas = document.createElement("canvas"), g = contextOf(canvas), pad = 24, head = 40;
  const font = `13px ${fontFamily}`, { clientWidth: width, clientHeight: height } = frame;
  g.font = font;
  const lines = wrap(g, caption.textContent ?? "", width); // smaller than on the page, so they fit in its place
  canvas.width = 2 * (width + 2 * pad);
  canvas.height = 2 * (head + height + 2 * pad);
  g.scale(2, 2);
  g.fillStyle = ink.paper;
  g.fillRect(0, 0, canvas.width, canvas.height);
  g.translate(pad, pad);
  g.font = `600 16px ${fontFamily}`;
  write(g, ink.text, title, 0, 16);
  g.font = font;
  const top = head + caption.offsetTop - frame.offsetTop;
  lines.forEach((text, i) => write(g, ink.text, text, 0, top + 20 * (i + 1)));
  for (const { panel, canvas: part } of panels.filter(({ canvas }) => !canvas.hidden)) {
    g.save();
    g.translate(part.offsetLeft - frame.offsetLeft, head + part.offsetTop - frame.offsetTop);
    panel.draw(g, part.clientWidth, part.clientHeight);
    g.restore();
  }
  return canvas;
}
