// Explorer of chapter 3: self-attention step by step with the reader's own numbers; the computing is in qkv_steps.js.

const STRINGS = {
  en: {
    title: "Attention by hand, with your own numbers",
    tokens: "Tokens x", wq: "W_q", wk: "W_k", wv: "W_v", step: "Step", query: "Token that asks", scaled: "Divide by √2", yes: "yes", no: "no",
    steps: { qkv: "q,\u00a0k,\u00a0v", scores: "scores", softmax: "softmax", mix: "mix" },
    cell: (name, row, column) => `${name}, row ${row}, column ${column}`,
    planeLabel: "Vectors of this step in the plane", matrixLabel: "Matrices of this step; arrow keys change the token that asks",
    token: i => `token ${i}`,
    now: {
      qkv: v => `Token ${v.i} asks with q = ${v.q}; it is found by k = ${v.k} and gives v = ${v.v}.`,
      scores: v => `Token ${v.i} asks: q · k is ${v.products}${v.scaled ? `, divided by √2: ${v.scores}` : ", not divided"}.`,
      softmax: v => `Scores ${v.scores} become weights ${v.weights}, which add up to 1. Entropy ${v.entropy} of at most ${v.most}.`,
      mix: v => `With weights ${v.weights} the values mix to y = ${v.y}.`,
    },
    leads: {
      qkv: () => "Each token plays three roles, by three matrices.",
      scores: v => v.tie ? "Several tokens score highest." : `Token ${v.best} scores highest.`,
      softmax: v => v.sharp ? "Almost everything goes to one token." : v.flat ? "Almost everybody gets the same." : "",
      mix: () => "It lies between the values: no mix can leave the area that they span.",
    },
    columns: ["token", "x", "q", "k", "v", "q · k", "score", "weight", "weight · v", "y"],
  },
  ko: {
    title: "내가 정한 수로 손수 해 보는 어텐션",
    tokens: "토큰 x", wq: "W_q", wk: "W_k", wv: "W_v", step: "단계", query: "묻는 토큰", scaled: "√2로 나누기", yes: "예", no: "아니요",
    steps: { qkv: "q,\u00a0k,\u00a0v", scores: "점수", softmax: "소프트맥스", mix: "섞기" },
    cell: (name, row, column) => `${name}, ${row}행 ${column}열`,
    planeLabel: "이 단계의 벡터들", matrixLabel: "이 단계의 행렬들, 화살표 키로 묻는 토큰 변경",
    token: i => `토큰 ${i}`,
    now: {
      qkv: v => `토큰 ${v.i}의 질의는 q = ${v.q}이고, 남이 찾을 때 쓰이는 키는 k = ${v.k}, 내주는 값은 v = ${v.v}이다.`,
      scores: v => `토큰 ${v.i}의 질의와 키들의 내적 q · k: ${v.products}.${v.scaled ? ` √2로 나눈 점수: ${v.scores}.` : " 나누지 않는다."}`,
      softmax: v => `점수 ${v.scores}에 소프트맥스를 하면 가중치는 ${v.weights}이고, 더하면 1이다. 엔트로피는 최대 ${v.most} 가운데 ${v.entropy}이다.`,
      mix: v => `값들을 가중치 ${v.weights}로 섞은 결과는 y = ${v.y}이다.`,
    },
    leads: {
      qkv: () => "토큰마다 세 행렬을 거쳐 세 가지 역할을 한다.",
      scores: v => v.tie ? "점수가 가장 높은 토큰이 여럿이다." : `점수가 가장 높은 것은 토큰 ${v.best}이다.`,
      softmax: v => v.sharp ? "거의 전부가 한 토큰에 간다." : v.flat ? "모두에게 거의 똑같이 간다." : "",
      mix: () => "섞은 결과는 값들 사이에 놓인다. 어떻게 섞어도 값들이 이루는 영역을 벗어날 수 없다.",
    },
    columns: ["토큰", "x", "q", "k", "v", "q · k", "점수", "가중치", "가중치 · v", "y"],
  },
};

const STEPS = ["qkv", "scores", "softmax", "mix"], LARGEST = 99, CELL_HEIGHT = 30, HEAD = 44;
const pair = vector => `(${vector.map(value => fixed(value, 2)).join(", ")})`, list = values => values.map(value => fixed(value, 2)).join(", ");

/** Number fields for a table with `rows()` rows of two numbers: a control like those of controls.js. */
function numberTable({ key, label, cell, rows }) {
  const legal = text => text.trim() !== "" && Number.isFinite(Number(text)) && Math.abs(Number(text)) <= LARGEST;
  return {
    key,
    accept(text) { // 1,0,0,1,… of a share link
      const numbers = text.split(",");
      if (!numbers.every(legal) || numbers.length !== 2 * rows()) return undefined;
      return Array.from({ length: rows() }, (_, i) => [Number(numbers[2 * i]), Number(numbers[2 * i + 1])]);
    },
    build(view, id) {
      const inputs = Array.from({ length: rows() }, (_, i) => [0, 1].map(j =>
        make("input", { type: "number", step: 0.5, min: -LARGEST, max: LARGEST, "aria-label": cell(i + 1, j + 1) })));
      inputs.forEach((row, i) => row.forEach((input, j) => {
        input.addEventListener("input", () => { // a field that is half typed waits
          if (legal(input.value)) view.set({ [key]: view.get(key).map((old, r) => r === i ? old.map((value, c) => c === j ? Number(input.value) : value) : old) });
        });
        input.addEventListener("blur", () => { if (!legal(input.value)) input.value = view.get(key)[i][j]; });
      }));
      const grid = make("div", { className: "ex-numbers", style: "--ex-fields: 2" }, ...inputs.flat());
      const element = make("div", { className: "ex-control", role: "group", "aria-labelledby": `${id}-name` },
        make("span", { id: `${id}-name`, className: "ex-name" }, label), grid);
      return {
        element,
        update() {
          const table = view.get(key);
          inputs.forEach((row, i) => row.forEach((input, j) => { if (Number(input.value) !== table[i][j] || input.value === "") input.value = table[i][j]; }));
        },
      };
    },
  };
}

/** A control that takes a row of its own. */
const wholeRow = control => ({
  ...control,
  build(view, id) {
    const built = control.build(view, id);
    built.element.style.gridColumn = "1 / -1";
    return built;
  },
});

// --- matrices -------------------------------------------------------------------------------------------------------

/** Black or white, whichever can be read on the colour of a share. */
const readableOn = share => { const [r, g, b] = rgb(share); return 0.2126 * r + 0.7152 * g + 0.0722 * b > 120 ? "#000" : "#fff"; };

/** Matrices side by side, each with a name and its numbers; the row of the token that asks is marked if `marked`. */
function drawMatrices(g, { ink, matrices, query }, width) {
  const columns = matrices.reduce((sum, { rows }) => sum + rows[0].length, 0), gap = 18, edge = 3; // room for the mark
  const cell = Math.min(64, (width - 2 * edge - gap * (matrices.length - 1)) / columns);
  let x = edge;
  for (const { name, rows, low, high, write: say, marked } of matrices) {
    const share = value => (value - low) / (high - low || 1), wide = cell * rows[0].length;
    write(g, ink.text, name, x, 16);
    rows.forEach((row, i) => row.forEach((value, j) => {
      const box = [x + cell * j, HEAD - 18 + CELL_HEIGHT * i];
      g.fillStyle = colour(share(value));
      g.fillRect(...box, cell, CELL_HEIGHT);
      write(g, readableOn(share(value)), say(value), box[0] + cell / 2, box[1] + 20, "center");
    }));
    if (marked) for (const [style, lineWidth] of [["#000", 4], ["#fff", 2]]) {
      Object.assign(g, { strokeStyle: style, lineWidth });
      g.strokeRect(x, HEAD - 18 + CELL_HEIGHT * query, wide, CELL_HEIGHT);
    }
    x += wide + gap;
  }
}

/** What each step shows. */
function matricesOf(step, { q, k, v, scores, weights, mixed }) {
  const plain = (name, rows, marked) => {
    const all = rows.flat(), most = Math.max(0.01, ...all.map(Math.abs));
    return { name, rows, low: -most, high: most, write: value => fixed(value, 1), marked };
  };
  const share = { name: "A", rows: weights, low: 0, high: 1, write: value => fixed(value, 2), marked: true };
  return {
    qkv: [plain("Q", q, true), plain("K", k, true), plain("V", v, true)],
    scores: [plain("Q", q, true), plain("K", k, false), plain("S", scores, true)],
    softmax: [plain("S", scores, true), share],
    mix: [share, plain("V", v, false), plain("Y", mixed, true)],
  }[step];
}

// --- the plane ------------------------------------------------------------------------------------------------------

/** @param {CanvasRenderingContext2D} g @param {string} style @param {number[]} from @param {number[]} to @param {{ width?: number, dash?: number[] }} [look] */
function arrow(g, style, [x0, y0], [x, y], { width = 2, dash = [] } = {}) {
  line(g, style, [[x0, y0], [x, y]], { width, dash });
  const angle = Math.atan2(y - y0, x - x0), tip = turn => [x - 9 * Math.cos(angle + turn), y - 9 * Math.sin(angle + turn)];
  if (Math.hypot(x - x0, y - y0) > 4) fillShape(g, style, [[x, y], tip(0.4), tip(-0.4)]);
}

/** Arrows of this step: [vector, name, kind]. */
function arrowsOf(step, { q, k, v, mixed }, query) {
  const named = (vectors, letter) => vectors.map((vector, i) => [vector, `${letter}${i + 1}`, letter]);
  const asks = [q[query], `q${query + 1}`, "q"];
  return { qkv: [asks, [k[query], `k${query + 1}`, "k"], [v[query], `v${query + 1}`, "v"]], scores: [...named(k, "k"), asks], softmax: [...named(k, "k"), asks],
    mix: [...named(v, "v"), [mixed[query], `y${query + 1}`, "y"]] }[step];
}

function drawPlane(g, { ink, step, steps, query }, side) {
  const arrows = arrowsOf(step, steps, query), looks = { q: lookOf(ink, 0), k: lookOf(ink, 1), v: lookOf(ink, 2), y: lookOf(ink, 3) };
  const reach = 1.25 * Math.max(0.5, ...arrows.flatMap(([vector]) => vector.map(Math.abs))), box = { x: 6, y: 6, width: side - 12, height: side - 12 };
  const px = value => box.x + box.width * (value + reach) / (2 * reach), py = value => box.y + box.height * (reach - value) / (2 * reach);
  for (const [from, to] of [[[-reach, 0], [reach, 0]], [[0, -reach], [0, reach]]]) line(g, ink.line, [[px(from[0]), py(from[1])], [px(to[0]), py(to[1])]], { width: 1.5 });
  if (step === "mix") line(g, ink.line, [...steps.v, steps.v[0]].map(([x, y]) => [px(x), py(y)]), { width: 1.5, dash: [3, 3] });
  arrows.forEach(([[x, y], name, kind]) => {
    const weight = (step === "softmax" || step === "mix") && "kv".includes(kind) ? steps.weights[query][Number(name.slice(1)) - 1] : null;
    arrow(g, looks[kind].style, [px(0), py(0)], [px(x), py(y)], { width: weight === null ? 2.5 : 1 + 7 * weight, dash: kind === "k" && step !== "softmax" ? [6, 3] : [] });
    const left = x < 0, up = y >= 0;
    Object.assign(g, { strokeStyle: ink.paper, lineWidth: 4, textAlign: left ? "right" : "left" });
    g.strokeText(name, px(x) + (left ? -6 : 6), py(y) + (up ? -5 : 14));
    write(g, looks[kind].style, name, px(x) + (left ? -6 : 6), py(y) + (up ? -5 : 14), left ? "right" : "left");
  });
}

// --- the explorer ---------------------------------------------------------------------------------------------------

const explorer = defineExplorer({
  name: "qkv",
  strings: STRINGS,
  columns: "1fr 1.5fr",
  controls(t, view) {
    const table = (key, name) => numberTable({ key, label: name, cell: (row, column) => t.cell(name, row, column), rows: () => view.get(key).length });
    const asking = view.get("tokens").map((_, i) => [i, String(i + 1)]);
    return [
      table("tokens", t.tokens), table("w_q", t.wq), table("w_k", t.wk), table("w_v", t.wv),
      tabs({ key: "query", label: t.query, options: asking }),
      tabs({ key: "scaled", label: t.scaled, options: [["yes", t.yes], ["no", t.no]], when: () => view.get("step") !== "qkv" }),
      wholeRow(tabs({ key: "step", label: t.step, options: STEPS.map(step => [step, t.steps[step]]) })),
    ];
  },
  setup(view) {
    const { t, ink } = view;
    let now = /** @type {any} */ ({});
    function update() {
      const [tokens, wq, wk, wv] = ["tokens", "w_q", "w_k", "w_v"].map(view.get), scaled = view.get("scaled") === "yes", step = view.get("step");
      const steps = attentionSteps({ tokens, wq, wk, wv, scaled });
      now = { t, ink, tokens, step, steps, scaled, query: view.get("query"), matrices: matricesOf(step, steps) };
    }
    function caption() {
      const { steps: { q, k, v, products, scores, weights, mixed }, query: i, step, scaled } = now, most = Math.max(...scores[i]);
      const values = { i: i + 1, q: pair(q[i]), k: pair(k[i]), v: pair(v[i]), products: list(products[i]), scores: list(scores[i]), weights: list(weights[i]), y: pair(mixed[i]),
        scaled, entropy: fixed(entropyOf(weights[i]), 2), most: fixed(Math.log(weights.length), 2), best: largest(scores[i]) + 1,
        tie: scores[i].filter(score => most - score < 1e-9).length > 1, sharp: Math.max(...weights[i]) > 0.95, flat: Math.max(...weights[i]) - Math.min(...weights[i]) < 0.05 };
      return `${t.now[step](values)} ${t.leads[step](values)}`.trim();
    }
    function table() {
      const { tokens, steps: { q, k, v, products, scores, weights, mixed }, query: i } = now;
      const rows = tokens.map((x, j) => [t.token(j + 1), ...[x, q[j], k[j], v[j]].map(pair), ...[products, scores, weights].map(matrix => fixed(matrix[i][j])),
        pair(v[j].map(value => weights[i][j] * value)), j === i ? pair(mixed[i]) : ""]);
      return { head: t.columns, rows, current: i };
    }
    const count = () => view.get("tokens").length, turn = by => view.set({ query: Math.max(0, Math.min(count() - 1, view.get("query") + by)) });
    const rowAt = y => Math.max(0, Math.min(count() - 1, Math.floor((y - HEAD + 18) / CELL_HEIGHT)));
    return {
      update, caption, table,
      panels: [
        { label: t.planeLabel, height: width => Math.min(width, 260), draw: (g, width) => drawPlane(g, now, Math.min(width, 260)) },
        {
          label: t.matrixLabel, height: () => HEAD + CELL_HEIGHT * count(), draw: (g, width) => drawMatrices(g, now, width),
          pick: { at: (x, y) => view.set({ query: rowAt(y) }), move: (right, up) => turn(right - up), value: () => ({ now: view.get("query"), max: count() - 1, text: t.token(view.get("query") + 1) }) },
        },
      ],
    };
  },
});
export default explorer;
