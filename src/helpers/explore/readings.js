// What the explorers of models share: places, depths and how numbers are written.

/** Per cent as the language writes them. @param {Language} lang @returns {(share: number, digits?: number) => string} */
const percentIn = lang => (share, digits = 1) => `${fixed(100 * share, digits)}${lang === "ko" ? "" : "\u00a0"}%`;
/** @param {number[]} values */
const average = values => values.reduce((sum, value) => sum + value, 0) / values.length;
/** @param {number[]} values */
const largest = values => values.reduce((best, value, i) => value > values[best] ? i : best, 0);
/** Place i of a grid, counted row by row, as (row, column). @param {number} i @param {number[]} grid */
const placeText = (i, [, columns]) => `(${Math.floor(i / columns)}, ${i % columns})`;

/** The place in one grid of a token of another. @param {number} token @param {number[]} grid @param {number[]} other */
function sameSpot(token, [rows, columns], [otherRows, otherColumns]) {
  const move = (i, from, to) => Math.min(to - 1, Math.floor((i + 0.5) * to / from));
  return move(Math.floor(token / columns), rows, otherRows) * otherColumns + move(token % columns, columns, otherColumns);
}

const LAYER_WORDS = {
  en: { block: i => `block ${i}`, staged: (s, i) => `stage ${s}, block ${i}`, embed: "embedding", attn_out: "attention output", mlp_out: "MLP output",
    mix_out: "mixing output", after_attn: "after attention", after_mix: "after mixing", mlp_hidden: "inside the MLP", norm1: "first norm", norm2: "second norm",
    branch: "branch" },
  ko: { block: i => `블록 ${i}`, staged: (s, i) => `스테이지 ${s} 블록 ${i}`, embed: "임베딩", attn_out: "어텐션 출력", mlp_out: "MLP 출력",
    mix_out: "섞기 출력", after_attn: "어텐션을 더한 뒤", after_mix: "섞은 뒤", mlp_hidden: "MLP 안", norm1: "첫째 정규화", norm2: "둘째 정규화",
    branch: "변환 가지" },
};
/** The end of a branch of a ResNet's block. */
const BRANCH_END = /^(conv|bn)3$/;

/** A layer as readers say it: "blocks.3.attn_out" → "block 3, attention output". ResNet's stages count from 0, as blocks do.
 *  @param {string} name @param {Language} lang @returns {string} */
function layerName(name, lang) {
  const words = LAYER_WORDS[lang], staged = name.match(/^(?:stages\.(\d+)\.blocks|layer(\d+))\.(\d+)(?:\.(.+))?$/), plain = name.match(/^blocks\.(\d+)(?:\.(.+))?$/);
  const inside = end => end ? `, ${words[BRANCH_END.test(end) ? "branch" : end] ?? end}` : "";
  if (staged) return words.staged(staged[1] ?? Number(staged[2]) - 1, staged[3]) + inside(staged[4]);
  return plain ? words.block(plain[1]) + inside(plain[2]) : words[name] ?? name;
}

/** Layer at a relative depth, 0 for the first and 1 for the last of `count`. @param {number} depth @param {number} count */
const layerAt = (depth, count) => Math.floor(depth * (count - 1) + 0.5);
/** Depths that reach every layer of networks with so many layers. @param {number[]} counts */
function depthsOf(counts) {
  const most = Math.max(...counts);
  return most === 1 ? [0] : Array.from({ length: most }, (_, i) => i / (most - 1));
}
/** @param {string} label @returns {Axis} */
const depthAxis = label => ({ low: -0.04, high: 1.04, label, ticks: [[0, "0"], [0.5, "50"], [1, "100"]] });
/** Where the layers of a network stand on that axis. @param {number} count @param {Scale} px @returns {Scale} */
const depthSteps = (count, px) => i => px(count === 1 ? 1 : i / (count - 1));

/** The `hover` of a pick: remembers what `find(x, y, width, height)` says is under the mouse, and redraws when that changes.
 *  @param {View} view @param {(x: number, y: number, width: number, height: number) => any} find @returns {(point: Box | null) => void} */
const hovering = (view, find) => point => {
  const next = point ? find(point.x, point.y, point.width, point.height) : null;
  if (next === view.hover) return;
  view.hover = next;
  view.redraw();
};

/** About five round numbers from 0 to `high`. @param {number} high @param {(value: number) => string} [text] @returns {[number, string][]} */
function ticksTo(high, text = String) {
  const size = 10 ** Math.floor(Math.log10(high)), step = [0.1, 0.2, 0.5, 1, 2].map(s => s * size).find(s => high / s <= 5) ?? high;
  return Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(6))).map(v => [v, text(v)]);
}
