// CKA of blocks from Gram matrices of the same images, and how sure it is.

/** The upper triangle of a U-centred Gram matrix, as u_centre of helpers: ⟨U(K), U(L)⟩ = 2 u · v.
 *  @param {Float64Array} gram n × n, of which the first `images` (indices) are taken @param {number} n @param {number[]} images */
function centredTriangle(gram, n, images) {
  const m = images.length, rows = images.map(i => images.reduce((sum, j) => i === j ? sum : sum + gram[i * n + j], 0) / (m - 2));
  const half = rows.reduce((a, b) => a + b, 0) / (2 * (m - 1)), triangle = new Float64Array(m * (m - 1) / 2);
  let at = 0;
  for (let a = 0; a < m; a++) for (let b = a + 1; b < m; b++) triangle[at++] = gram[images[a] * n + images[b]] - (rows[a] - half) - (rows[b] - half);
  return triangle;
}

const inner = (u, v) => { let sum = 0; for (let i = 0; i < u.length; i++) sum += u[i] * v[i]; return sum; };
const upTo = count => [...Array(count).keys()];

/** CKA of all pairs of blocks [blocks][other blocks] over the first `count` of n images. */
function ckaOf(grams, others, n, count = n) {
  const [mine, theirs] = [grams, others].map(list => list.map(gram => centredTriangle(gram, n, upTo(count))));
  const [own, their] = [mine, theirs].map(list => list.map(u => inner(u, u)));
  return mine.map((u, i) => theirs.map((v, j) => inner(u, v) / Math.sqrt(own[i] * their[j])));
}

/** CKA of one pair with a 95 % interval: the jackknife, which leaves out one image at a time. */
function ckaWithInterval(gram, other, n, count) {
  const of = images => {
    const u = centredTriangle(gram, n, images), v = centredTriangle(other, n, images);
    return inner(u, v) / Math.sqrt(inner(u, u) * inner(v, v));
  };
  const value = of(upTo(count)), without = upTo(count).map(left => of(upTo(count).filter(i => i !== left))), mean = average(without);
  const error = Math.sqrt((count - 1) / count * without.reduce((sum, w) => sum + (w - mean) ** 2, 0));
  return { value, low: value - 1.96 * error, high: value + 1.96 * error };
}
