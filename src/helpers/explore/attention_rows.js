// Attention of one token in one image, from the bytes that attention.py packed, and rollout through the layers.

/** A reader of one part; `about` has the grid and the number of prefix tokens. Tokens are prefix tokens, then patches. */
function attentionRows(part, { prefix, grid: [rows, columns], size: [height, width] }) {
  const [layers, heads, tokens, patches] = part.shares.shape;

  /** sum += factor × the weights of `query` in one head. */
  function add(sum, layer, head, query, factor) {
    const row = (layer * heads + head) * tokens + query, unit = factor * part.peaks.at(row) / part.levels ** 2;
    for (let k = 0; k < prefix; k++) sum[k] += factor * part.onPrefix.at(row * prefix + k);
    for (let p = 0; p < patches; p++) sum[prefix + p] += unit * part.shares.at(row * patches + p) ** 2;
  }
  const means = new Map();
  /** Mean of the heads of one layer, [tokens × tokens]; kept, since rollout needs it at every move. */
  function meanOf(layer) {
    if (!means.has(layer)) {
      const mean = new Float32Array(tokens * tokens);
      for (let i = 0; i < tokens; i++) {
        for (let head = 0; head < heads; head++) add(mean.subarray(i * tokens, (i + 1) * tokens), layer, head, i, 1 / heads);
      }
      means.set(layer, mean);
    }
    return means.get(layer);
  }

  return {
    /** Weights of `query` on all tokens, in one head or in the "mean" of them. */
    row(layer, head, query) {
      if (head === "mean") return meanOf(layer).slice(query * tokens, (query + 1) * tokens);
      const sum = new Float32Array(tokens);
      add(sum, layer, head, query, 1);
      return sum;
    },
    /** Row of Π (A + I)/2 over the layers 0 … layer, A being the mean of the heads: one vector times one matrix at a time. */
    rollout(layer, query) {
      let sum = new Float32Array(tokens);
      sum[query] = 1;
      for (let l = layer; l >= 0; l--) {
        const mean = meanOf(l), next = sum.map(value => value / 2);
        for (let i = 0; i < tokens; i++) for (let j = 0; j < tokens; j++) next[j] += sum[i] / 2 * mean[i * tokens + j];
        sum = next;
      }
      return sum;
    },
    /** Where a patch gives most to one patch: { layer, head, query }. */
    sharpest() {
      let best = { layer: 0, head: 0, query: prefix, weight: 0 };
      for (let row = 0; row < layers * heads * tokens; row++) {
        const query = row % tokens, weight = part.peaks.at(row);
        if (query >= prefix && weight > best.weight) {
          best = { layer: Math.floor(row / tokens / heads), head: Math.floor(row / tokens) % heads, query, weight };
        }
      }
      return { layer: best.layer, head: best.head, query: best.query };
    },
    /** Mean distance in pixels from a query patch to the patches it looks at; NaN for a prefix token, which is nowhere. */
    distance(weights, query) {
      const own = query - prefix, y = Math.floor(own / columns), x = own % columns;
      let reach = 0, mass = 0;
      for (let p = 0; p < patches; p++) {
        const away = Math.hypot((Math.floor(p / columns) - y) * height / rows, (p % columns - x) * width / columns);
        reach += weights[prefix + p] * away;
        mass += weights[prefix + p];
      }
      return own < 0 ? NaN : reach / mass;
    },
  };
}
