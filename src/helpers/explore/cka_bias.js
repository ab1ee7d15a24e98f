// Explorer of chapter 17: the biased and the unbiased CKA part; the numbers come from cka_sample.js.

const MIN_N = 8, MAX_P = 4096, SLICE_MS = 12, LOWEST = -0.25;
const DASHED = { width: 1.5, dash: [5, 5] }, DOTTED = { width: 1.5, dash: [2, 3] };
/** Whole numbers from low to high, four to a doubling. */
const geometric = (low, high) => [...new Set(Array.from({ length: 4 * Math.log2(high / low) + 1 }, (_, i) => Math.round(low * 2 ** (i / 4))))];
const N_VALUES = geometric(MIN_N, MAX_N), P_VALUES = geometric(1, MAX_P), SIGNALS = Array.from({ length: 21 }, (_, i) => i / 20);
const ALL_N = Array.from({ length: MAX_N - MIN_N + 1 }, (_, i) => MIN_N + i);
/** @param {number[]} values @returns {[number, string][]} */
const ticks = (...values) => values.map(value => [value, String(value)]);
const N_AXIS = { low: MIN_N, high: MAX_N, log: true }, P_AXIS = { low: 1, high: MAX_P, log: true };

const STRINGS = {
  en: {
    title: "How many examples does CKA need?",
    n: "Examples n", p: "Features p", signal: "Shared signal s", again: "New sample",
    biased: "biased", unbiased: "unbiased", expected: "biased, expected", truth: "true value",
    nAxis: "examples n", pAxis: "features p", yAxis: "CKA", excess: "expected biased − true CKA",
    barLabel: "Biased and unbiased CKA now", curveLabel: "Biased and unbiased CKA against the number of examples",
    mapLabel: "Expected excess of the biased CKA by examples and features; arrow keys move the point",
    waiting: "computing …", undefined: "not defined",
    caption: v => `n = ${v.n} examples, p = ${v.p} features, true CKA ${v.truth}. Biased estimator: ${v.biased} (expected ${v.expected}); ` +
      `unbiased estimator: ${v.unbiased}.`,
    same: "The two representations are the same, and both estimators say so.",
    wide: "With more features than examples the biased estimator calls even unrelated representations alike.",
    close: "More examples, or fewer features, bring the two together.",
    tall: "With so many examples per feature little excess is left.",
    columns: ["n", "biased", "biased, expected", "unbiased", "true value"],
  },
  ko: {
    title: "CKA에는 표본이 몇 개 필요한가?",
    n: "표본 수 n", p: "특징 수 p", signal: "공유 신호 s", again: "새로 뽑기",
    biased: "편향", unbiased: "비편향", expected: "편향 CKA의 기댓값", truth: "참값",
    nAxis: "표본 수 n", pAxis: "특징 수 p", yAxis: "CKA", excess: "편향 CKA의 기댓값 − 참값",
    barLabel: "지금의 편향 CKA와 비편향 CKA", curveLabel: "표본 수에 따른 편향 CKA와 비편향 CKA",
    mapLabel: "표본 수와 특징 수에 따른 편향 CKA 초과분의 기댓값, 화살표 키로 점 이동",
    waiting: "계산 중…", undefined: "정의되지 않음",
    caption: v => `표본 n = ${v.n}개, 특징 p = ${v.p}개, 참 CKA ${v.truth}. 편향 추정량: ${v.biased} (기댓값 ${v.expected}), ` +
      `비편향 추정량: ${v.unbiased}.`,
    same: "두 표현은 같고, 두 추정량도 같다고 답한다.",
    wide: "특징이 표본보다 많으면 편향 추정량은 서로 무관한 표현도 닮았다고 답한다.",
    close: "표본을 늘리거나 특징을 줄이면 두 값이 가까워진다.",
    tall: "특징 수에 비해 표본이 넉넉해서 초과분이 거의 없다.",
    columns: ["n", "편향", "편향 CKA의 기댓값", "비편향", "참값"],
  },
};

/** What the text says about a series at n: a number, or why there is none. */
const reading = (t, path, series, n) => path.reached < n ? t.waiting : Number.isNaN(series[n]) ? t.undefined : fixed(series[n]);

function drawBars(g, { t, ink, now: { n, signal }, path }, width) {
  const left = 76, span = width - left - 86, x = value => left + span * value;
  [[t.biased, ink.first, path.biased], [t.unbiased, ink.second, path.unbiased]].forEach(([name, style, series], row) => {
    const y = 6 + 30 * row, value = Math.max(-0.02, series[n] || 0); // a longer bar to the left would cover the name
    write(g, ink.text, name, 0, y + 15);
    write(g, ink.text, reading(t, path, series, n), width, y + 15, "right");
    g.fillStyle = ink.line;
    g.fillRect(left, y, span, 20);
    g.fillStyle = style;
    g.fillRect(x(Math.min(0, value)), y, Math.abs(span * value), 20);
  });
  line(g, ink.text, [[x(signal), 0], [x(signal), 62]], DOTTED);
}

function drawCurves(g, { t, ink, now: { n, p, signal }, path }, width, height) {
  const box = { x: 36, y: 40, width: width - 54, height: height - 84 };
  const { px, py } = drawAxes(g, ink, box, { ...N_AXIS, label: t.nAxis, ticks: ticks(8, 16, 32, 64, 128, 256, 512, 1024) },
    { low: LOWEST, high: 1, label: t.yAxis, ticks: ticks(0, 0.25, 0.5, 0.75, 1) });
  const points = series => ALL_N.filter(k => k <= path.reached && !Number.isNaN(series[k])).map(k => [px(k), py(series[k])]);
  line(g, ink.muted, [[px(n), box.y], [px(n), box.y + box.height]], { width: 1 });
  g.save();
  g.beginPath(); g.rect(box.x, box.y - 2, box.width, box.height + 4); g.clip();
  line(g, ink.first, points(path.biased), { width: 4 });
  line(g, ink.second, points(path.unbiased));
  line(g, ink.text, ALL_N.map(k => [px(k), py(expectedBiased(k, p, signal))]), DASHED);
  line(g, ink.text, [[box.x, py(signal)], [box.x + box.width, py(signal)]], DOTTED);
  g.restore();
  for (const [series, style] of [[path.biased, ink.first], [path.unbiased, ink.second]]) {
    if (path.reached >= n && series[n] >= LOWEST) drawDot(g, px(n), py(series[n]), 5.5, [[ink.paper, 2.5]], style);
  }
  let x = box.x + box.width;
  for (const [text, look] of [[t.truth, DOTTED], [t.expected, DASHED]]) {
    write(g, ink.muted, text, x, 14, "right");
    x -= g.measureText(text).width + 6;
    line(g, ink.text, [[x - 22, 10], [x, 10]], look);
    x -= 38;
  }
}

const mapBox = (width, height) => ({ x: 40, y: 40, width: width - 58, height: height - 144 });

/** Excess at every (n, p). It depends on log p − log n only, which is linear on the map: one gradient paints it. */
function excessGradient(g, signal, { x, y, width, height }) {
  const a = -Math.log(N_AXIS.high / N_AXIS.low) / width, b = -Math.log(P_AXIS.high / P_AXIS.low) / height; // of log(p/n), per pixel
  const highest = Math.log(P_AXIS.high / N_AXIS.low), lowest = Math.log(P_AXIS.low / N_AXIS.high); // two opposite corners
  const reach = (highest - lowest) / (a * a + b * b) / 2, [cx, cy] = [x + width / 2, y + height / 2];
  const gradient = g.createLinearGradient(cx - a * reach, cy - b * reach, cx + a * reach, cy + b * reach);
  for (let i = 0; i <= 48; i++) {
    const ratio = Math.exp(lowest + (highest - lowest) * i / 48);
    gradient.addColorStop(i / 48, colour(expectedBiased(1, ratio, signal) - signal));
  }
  return gradient;
}

function drawMap(g, { t, ink, now: { n, p, signal } }, width, height) {
  const box = mapBox(width, height);
  g.fillStyle = excessGradient(g, signal, box);
  g.fillRect(box.x, box.y, box.width, box.height);
  const { px, py } = drawAxes(g, { ...ink, line: "transparent" }, box, { ...N_AXIS, label: t.nAxis, ticks: ticks(8, 64, 1024) },
    { ...P_AXIS, label: t.pAxis, ticks: ticks(1, 16, 256, 4096) });
  drawDot(g, px(n), py(p), 7, [["#000", 5], ["#fff", 2.5]]);
  drawLegend(g, ink, { x: box.x, y: height - 32, width: box.width, low: "0", high: "1", label: t.excess });
}

/** Moving the point of the map by pointer or arrow keys sets n and p. */
function mapPick(view) {
  const step = (values, value, by) => values[Math.min(values.length - 1, Math.max(0, nearest(values, value) + by))];
  const within = (axis, share) => Math.round(valueAt(axis, Math.min(1, Math.max(0, share))));
  return {
    at(x, y, width, height) {
      const box = mapBox(width, height);
      view.set({ n: within(N_AXIS, (x - box.x) / box.width), p: within(P_AXIS, 1 - (y - box.y) / box.height) });
    },
    move: (dx, dy) => view.set({ n: step(N_VALUES, view.get("n"), dx), p: step(P_VALUES, view.get("p"), dy) }),
    value: () => ({
      now: nearest(P_VALUES, view.get("p")) * N_VALUES.length + nearest(N_VALUES, view.get("n")),
      max: N_VALUES.length * P_VALUES.length - 1,
      text: `n = ${view.get("n")}, p = ${view.get("p")}`,
    }),
  };
}

const explorer = defineExplorer({
  name: "cka_bias",
  strings: STRINGS,
  controls: t => [
    slider({ key: "n", label: t.n, values: N_VALUES, between: true }),
    slider({ key: "p", label: t.p, values: P_VALUES, between: true }),
    slider({ key: "signal", label: t.signal, values: SIGNALS, between: true, text: value => fixed(value, 2) }),
    button({ key: "seed", label: t.again, next: seed => (seed + 1) % 2 ** 31 }),
  ],
  setup(view) {
    const { t, ink } = view, paths = new Map();
    let timer = 0, now = /** @type {any} */ ({}), path = /** @type {any} */ (null);

    /** Finds the sample of the current state and works on it for one slice; the rest follows frame by frame. */
    function update() {
      now = { n: view.get("n"), p: view.get("p"), signal: view.get("signal"), seed: view.get("seed") };
      const key = `${now.p} ${now.signal} ${now.seed}`, stop = performance.now() + SLICE_MS;
      if (!paths.has(key)) paths.set(key, samplePath(now));
      if (paths.size > 50) paths.delete(paths.keys().next().value);
      path = paths.get(key);
      while (path.reached < MAX_N && performance.now() < stop) path.work.next();
      clearTimeout(timer);
      if (path.reached < MAX_N) timer = setTimeout(view.redraw); else path.work = null; // null frees the vectors
    }

    function caption() {
      const { n, p, signal } = now, numbers = {
        n, p, truth: fixed(signal, 2), expected: fixed(expectedBiased(n, p, signal)),
        biased: reading(t, path, path.biased, n), unbiased: reading(t, path, path.unbiased, n),
      };
      return `${t.caption(numbers)} ${signal === 1 ? t.same : p > n ? t.wide : p > n / 10 ? t.close : t.tall}`;
    }

    function table() {
      const { n, p, signal } = now, powers = [8, 16, 32, 64, 128, 256, 512, 1024];
      const shown = [...new Set([...powers, n])].sort((a, b) => a - b);
      return {
        head: t.columns,
        rows: shown.map(k => [String(k), reading(t, path, path.biased, k), fixed(expectedBiased(k, p, signal)),
          reading(t, path, path.unbiased, k), fixed(signal)]),
        current: shown.indexOf(n),
      };
    }

    const panel = (label, height, draw, more = {}) =>
      ({ label, height, draw: (g, width, tall) => draw(g, { t, ink, now, path }, width, tall), ...more });
    return {
      update, caption, table, stop: () => clearTimeout(timer),
      panels: [
        panel(t.barLabel, () => 64, drawBars, { wide: true }),
        panel(t.curveLabel, () => 320, drawCurves),
        panel(t.mapLabel, () => 320, drawMap, { pick: mapPick(view) }),
      ],
    };
  },
});
export default explorer;
