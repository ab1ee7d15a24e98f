// Explorer of skip connections: norm ratios by block, and the CKA map of a network without one block's skip.

const INTACT = -1;
const STRINGS = {
  en: {
    title: "What do skip connections carry?",
    branch: "Branch", attn: "attention", mlp: "MLP", conv: "convolution", variant: "The skip is missing", trained: "from the start", cut: "after training",
    block: "Block without skip", none: "none", cls: "class token", spatial: "spatial tokens", blocks: "",
    ratioLabel: "Norm of the skip over norm of the branch, by block; arrow keys move the block that is read",
    ratioAxis: "‖skip‖ / ‖branch‖", blockAxis: "block", layers: "layers",
    intactLabel: "CKA between the layers of the network with all skips; arrow keys move the cell",
    removedLabel: "CKA between the layers of the network without this skip; arrow keys move the cell",
    intact: "all skips", removed: block => `no skip in block ${block}`, undefined: "undefined",
    reading: (block, list) => `Block ${block}: ${list}.`, above: "Where the ratio is above 1 the skip outweighs what the block adds.",
    nothing: "Choose a block whose skip is taken away.",
    accuracy: v => `Without the skip of block ${v.block} accuracy is ${v.now} instead of ${v.intact}.`,
    cell: v => `CKA of ${v.column} with ${v.row}: ${v.now}, with all skips ${v.intact}.`,
    same: v => `CKA of ${v.column} with ${v.row}: ${v.now}; accuracy ${v.intact}.`,
    columns: ["block"], accuracyColumn: "accuracy without its skip",
  },
  ko: {
    title: "스킵 연결은 무엇을 나르는가?",
    branch: "가지", attn: "어텐션", mlp: "MLP", conv: "합성곱", variant: "스킵을 없앤 시점", trained: "처음부터", cut: "학습한 뒤",
    block: "스킵 없는 블록", none: "없음", cls: "[CLS] 토큰", spatial: "공간 토큰", blocks: "",
    ratioLabel: "블록별 노름 비(스킵의 노름 ÷ 변환 가지의 노름), 화살표 키로 읽을 블록 이동",
    ratioAxis: "‖스킵‖ / ‖변환 가지‖", blockAxis: "블록", layers: "층",
    intactLabel: "스킵이 모두 있는 신경망의 층 사이 CKA, 화살표 키로 칸 이동",
    removedLabel: "스킵을 없앤 신경망의 층 사이 CKA, 화살표 키로 칸 이동",
    intact: "스킵 모두 있음", removed: block => `블록 ${block}에 스킵 없음`, undefined: "정의되지 않음",
    reading: (block, list) => `블록 ${block}: ${list}.`, above: "비가 1보다 크면 스킵이 블록이 더하는 것보다 무겁다.",
    nothing: "스킵을 없앨 블록을 고른다.",
    accuracy: v => `블록 ${v.block}의 스킵이 없으면 정확도는 ${v.intact}에서 ${v.now}로 달라진다.`,
    cell: v => `${v.column} 층과 ${v.row} 층의 CKA: ${v.now}, 스킵이 모두 있을 때 ${v.intact}.`,
    same: v => `${v.column} 층과 ${v.row} 층의 CKA: ${v.now}. 정확도 ${v.intact}.`,
    columns: ["블록"], accuracyColumn: "그 스킵이 없을 때 정확도",
  },
};

const explorer = defineExplorer({
  name: "skip",
  strings: STRINGS,
  columns: "1fr 1fr",
  narrowColumns: "1fr 1fr",
  captionAfter: 1,
  controls(t, view) {
    const { branches, depth, blocks, layers } = view.get("about"), named = list => list.map(key => [key, t[key]]);
    return [
      tabs({ key: "branch", label: t.branch, options: named(branches), when: () => branches.length > 1 }),
      picked({ key: "at", count: () => depth }),
      tabs({ key: "variant", label: t.variant, options: named(Object.keys(blocks)), when: () => Object.keys(blocks).length > 1 }),
      slider({ key: "block", label: t.block, values: () => blocks[view.get("variant")], text: block => block === INTACT ? t.none : String(block),
        when: () => blocks[view.get("variant")].length > 1 }),
      picked({ key: "row", count: () => layers }),
      picked({ key: "column", count: () => layers }),
    ];
  },
  setup(view) {
    const { t, ink } = view, { models, curves, depth, accuracy } = view.get("about");
    const all = curves.map(curve => ({ ...curve, values: unpack(curve.values) }));
    const chosen = () => view.get("block") === INTACT ? "intact" : `${view.get("variant")} ${view.get("block")}`;
    const title = ({ model, tokens }) => [view.say(models[model]), t[tokens]].filter(Boolean).join(" · ");
    const valuesOf = curve => Array.from({ length: depth }, (_, i) => i < curve.values.shape[0] ? curve.values.at(i) : NaN);
    const anyCut = Object.keys(accuracy).length > 1;
    let shown = [];

    const update = () => { shown = all.filter(({ branch }) => branch === "conv" || branch === view.get("branch")); };

    function readings(block) {
      const there = shown.filter(({ values }) => block < values.shape[0]);
      return t.reading(block, there.map(curve => `${title(curve)} ${fixed(curve.values.at(block), 2)}`).join(", "));
    }

    function caption() {
      const { hover } = view, onMap = hover && hover.panel !== "ratio" ? hover : null, intact = view.part("intact"), now = view.part(chosen());
      const [row, column] = [onMap?.row ?? view.get("row"), onMap?.column ?? view.get("column")];
      const value = part => ckaText(t, part.values.get(row, column)), names = { row: layerName(now.rows[row], view.lang), column: layerName(now.columns[column], view.lang) };
      const ratio = readings(hover?.panel === "ratio" ? hover.column : view.get("at"));
      if (chosen() === "intact") {
        const more = anyCut ? t.nothing : "";
        return [ratio, t.above, t.same({ ...names, now: value(now), intact: percent(accuracy.intact) }), more].join(" ").trim();
      }
      return [ratio, t.accuracy({ block: view.get("block"), now: percent(now.accuracy), intact: percent(accuracy.intact) }),
        t.cell({ ...names, now: value(now), intact: value(intact) })].join(" ");
    }

    const accuracyWithout = block => { const name = `${view.get("variant")} ${block}`; return name in accuracy ? percent(accuracy[name]) : "–"; };
    const table = () => ({
      head: [...t.columns, ...shown.map(title), ...(anyCut ? [t.accuracyColumn] : [])],
      rows: Array.from({ length: depth }, (_, block) => [String(block),
        ...shown.map(({ values }) => block < values.shape[0] ? fixed(values.at(block), 2) : "–"),
        ...(anyCut ? [accuracyWithout(block)] : [])]),
      current: view.get("at"),
    });

    const ratioCells = (width, height) => ({ x: 40, y: 64, width: width - 52, height: height - 108, rows: 1, columns: depth });
    function drawRatios(g, width, height) {
      const keys = shown.map((curve, i) => /** @type {[string, Look]} */ ([title(curve), lookOf(ink, i)])), top = drawKeys(g, ink, keys, 0, 14, width);
      const box = { ...ratioCells(width, height), y: top + 18, height: height - top - 62 };
      const most = Math.max(1, ...shown.flatMap(({ values }) => Array.from({ length: values.shape[0] }, (_, i) => values.at(i))));
      const step = [0.5, 1, 2, 5, 10, 20, 50, 100].find(s => most / s <= 6) ?? most, high = Math.ceil(most / step) * step;
      const marks = Array.from({ length: Math.round(high / step) + 1 }, (_, i) => /** @type {[number, string]} */ ([i * step, String(i * step)]));
      const { px, py } = drawAxes(g, ink, box, indexAxis(depth, t.blockAxis, 14), { low: 0, high, label: t.ratioAxis, ticks: marks });
      const upright = (block, style, look) => line(g, style, [[px(block), box.y], [px(block), box.y + box.height]], look);
      line(g, ink.muted, [[box.x, py(1)], [box.x + box.width, py(1)]], { width: 1, dash: [4, 4] });
      upright(view.hover?.panel === "ratio" ? view.hover.column : view.get("at"), ink.muted, { width: 1 });
      if (view.get("block") !== INTACT) upright(view.get("block"), ink.first, { width: 1.5, dash: [2, 3] });
      shown.forEach((curve, i) => drawSeries(g, { px, py }, valuesOf(curve), lookOf(ink, i), { size: 4 }));
    }

    const mapCells = (width, height) => ckaCells(width, height, view.part("intact").values.shape);
    const mapPanel = (panel, label, name, heading, more = {}) => ({
      label, height: ckaMapHeight, ...more,
      draw(g, width, height) {
        const { values } = view.part(name()), hover = view.hover && view.hover.panel !== "ratio" ? view.hover : null;
        drawCkaMap(g, ink, mapCells(width, height), { values, row: view.get("row"), column: view.get("column"), hover, xLabel: t.layers, yLabel: heading() });
      },
      pick: pickCells(view, {
        panel, cells: mapCells, now: () => [view.get("row"), view.get("column")], set: (row, column) => view.set({ row, column }),
        text: () => { const { rows, columns, values } = view.part(name()), [r, c] = [view.get("row"), view.get("column")];
          return `${layerName(columns[c], view.lang)}, ${layerName(rows[r], view.lang)}: CKA ${ckaText(t, values.get(r, c))}`; },
      }),
    });
    const headed = (text, name) => `${text} · ${percent(accuracy[name])}`;
    return {
      parts: () => [...new Set(["intact", chosen()])], update, caption, table,
      panels: [
        { label: t.ratioLabel, wide: true, height: () => 280, draw: drawRatios,
          pick: pickCells(view, { panel: "ratio", cells: ratioCells, now: () => [0, view.get("at")], set: (_, at) => view.set({ at }), text: () => readings(view.get("at")) }) },
        mapPanel("intact", t.intactLabel, () => "intact", () => headed(t.intact, "intact")),
        mapPanel("removed", t.removedLabel, chosen, () => headed(t.removed(view.get("block")), chosen()), { when: () => chosen() !== "intact" }),
      ],
    };
  },
});
export default explorer;
