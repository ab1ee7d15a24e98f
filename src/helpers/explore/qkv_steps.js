// Self-attention of a few tokens, every step kept. Rows are tokens, as in the papers: q = x W_q.

/** Rows times a matrix. */
const times = (rows, matrix) => rows.map(row => matrix[0].map((_, j) => row.reduce((sum, value, i) => sum + value * matrix[i][j], 0)));
const dotProduct = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

/** Shares that add up to 1; the largest score is taken off first, so that no exponential is too large. */
function softmaxRow(scores) {
  const most = Math.max(...scores), powers = scores.map(score => Math.exp(score - most)), total = powers.reduce((a, b) => a + b);
  return powers.map(power => power / total);
}

/** − Σ w ln w of a row of weights: ln N if they are all equal, 0 if one is 1. */
const entropyOf = weights => -weights.reduce((sum, weight) => sum + (weight > 0 ? weight * Math.log(weight) : 0), 0);

/** { q, k, v, products: q kᵀ, scores: what enters the softmax, weights, mixed } */
function attentionSteps({ tokens, wq, wk, wv, scaled }) {
  const [q, k, v] = [wq, wk, wv].map(matrix => times(tokens, matrix)), unit = scaled ? Math.sqrt(q[0].length) : 1;
  const products = q.map(query => k.map(key => dotProduct(query, key))), scores = products.map(row => row.map(value => value / unit));
  const weights = scores.map(softmaxRow);
  return { q, k, v, products, scores, weights, mixed: times(weights, v) };
}
