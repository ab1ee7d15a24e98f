// What a network's answer about one image says: classes, attention, distances.

/** @param {Float32Array} logits */
function softmax(logits) {
  const most = Math.max(...logits), parts = Array.from(logits, value => Math.exp(value - most)), sum = parts.reduce((a, b) => a + b, 0);
  return parts.map(part => part / sum);
}

/** A reader of one answer { lens, ratios, attention } of a network `about`. */
function lookReader({ lens, ratios, attention }, about, cut) {
  const [steps, classes] = lens.dims, [layers = 0, heads = 0, tokens = 0] = attention?.dims ?? [], prefix = about.prefix;
  const probabilities = Array.from({ length: steps }, (_, i) => softmax(lens.data.subarray(i * classes, (i + 1) * classes)));
  const weight = (layer, head, query, key) => attention.data[((layer * heads + head) * tokens + query) * tokens + key];
  const patches = tokens - prefix;

  /** Weights of `query` on all tokens, in one head or the "mean" of them. */
  function row(layer, head, query) {
    const which = head === "mean" ? [...Array(heads).keys()] : [head];
    return Float32Array.from({ length: tokens }, (_, key) => which.reduce((sum, h) => sum + weight(layer, h, query, key), 0) / which.length);
  }
  /** Row of Π (A + I)/2 over the layers 0 … layer; a block whose skip is cut passes on A alone. */
  function rollout(layer, query) {
    let sum = new Float32Array(tokens);
    sum[query] = 1;
    for (let l = layer; l >= 0; l--) {
      const own = l === cut ? 0 : 0.5, next = sum.map(value => own * value);
      for (let i = 0; i < tokens; i++) {
        if (sum[i]) row(l, "mean", i).forEach((value, j) => { next[j] += (1 - own) * sum[i] * value; });
      }
      sum = next;
    }
    return sum;
  }
  /** Mean distance in pixels over the query patches, [layers][heads], prefix tokens dropped, as helpers.attention_distance. */
  function distances() {
    const away = (p, q) => CELL * Math.hypot(Math.floor(p / CELLS) - Math.floor(q / CELLS), p % CELLS - q % CELLS);
    return Array.from({ length: layers }, (_, layer) => Array.from({ length: heads }, (_, head) => {
      let sum = 0;
      for (let p = 0; p < patches; p++) {
        let reach = 0, mass = 0;
        for (let q = 0; q < patches; q++) {
          const value = weight(layer, head, prefix + p, prefix + q);
          reach += value * away(p, q);
          mass += value;
        }
        sum += reach / mass / patches;
      }
      return sum;
    }));
  }
  /** ‖z‖ / ‖f(z)‖ of every branch: mean over the patches, and of one token if the network has tokens. */
  function norms(token) {
    const [branches, places] = ratios.dims;
    return Array.from({ length: branches }, (_, i) => {
      const values = ratios.data.subarray(i * places, (i + 1) * places);
      return { mean: average([...values.subarray(places > 1 ? prefix : 0)]), token: places > 1 ? values[token] : NaN };
    });
  }
  return { probabilities, final: probabilities[steps - 1], row, rollout, distances, norms, layers, heads };
}
