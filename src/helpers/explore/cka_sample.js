// Biased and unbiased CKA of two Gaussian samples, computed in the page.
//
// Rows x_i of X and z_i of Z are independent standard normal in p dimensions, Y = √s X + √(1−s) Z: the true CKA is s.
// CKA sees only inner products, so instead of p numbers per row we draw the Bartlett factor of the rows x_1, z_1, x_2, z_2, …:
// row r (from 0) has normal entries in its first r places, a χ(p − r) in place r and zeros after it (p normal entries if r ≥ p).
// The cost no longer grows with p, and adding an example adds a row, so one pass gives both estimators for every n.

const MAX_N = 1024;

/** Random numbers of one row: sfc32 (Doty-Humphrey) started from (seed, row), Box–Muller, Marsaglia–Tsang for χ. */
function randomRow(seed, row) {
  let a = seed | 0, b = row | 0, c = 0x9e3779b9 | 0, count = 1, spare = /** @type {number | null} */ (null);
  function uniform() { // in (0, 1)
    const sum = (a + b | 0) + count | 0;
    count = count + 1 | 0;
    a = b ^ b >>> 9;
    b = c + (c << 3) | 0;
    c = (c << 21 | c >>> 11) + sum | 0;
    return ((sum >>> 0) + 0.5) / 4294967296;
  }
  for (let i = 0; i < 15; i++) uniform();
  function normal() {
    if (spare !== null) { const value = spare; spare = null; return value; }
    const radius = Math.sqrt(-2 * Math.log(uniform())), angle = 2 * Math.PI * uniform();
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  }
  function chi(freedom) {
    if (freedom === 1) return Math.abs(normal());
    const d = freedom / 2 - 1 / 3, c = 1 / Math.sqrt(9 * d);
    for (;;) {
      const x = normal(), v = (1 + c * x) ** 3;
      if (v > 0 && Math.log(uniform()) < x * x / 2 + d - d * v + d * Math.log(v)) return Math.sqrt(2 * d * v);
    }
  }
  return { uniform, normal, chi };
}

/** Row `row` of the Bartlett factor, `length` ≥ min(row + 1, p) places. */
function bartlettRow(seed, row, p, length) {
  const random = randomRow(seed, row), values = new Float64Array(length), normals = Math.min(row, p);
  for (let k = 0; k < normals; k++) values[k] = random.normal();
  if (row < p) values[row] = random.chi(p - row);
  return values;
}

function dot(a, b, length) {
  let s0 = 0, s1 = 0, s2 = 0, s3 = 0, k = 0;
  for (; k + 3 < length; k += 4) { // four sums at once: about twice as fast as one
    s0 += a[k] * b[k]; s1 += a[k + 1] * b[k + 1]; s2 += a[k + 2] * b[k + 2]; s3 += a[k + 3] * b[k + 3];
  }
  for (; k < length; k++) s0 += a[k] * b[k];
  return s0 + s1 + s2 + s3;
}

/** Sums over a pair of Gram matrices that both HSIC estimators need; examples are added one at a time. */
class HsicPair {
  constructor(A, B) { this.A = A; this.B = B; this.off = 0; this.diagonal = 0; }
  add(n) { // the new last rows stand in A.row and B.row
    for (let j = 0; j < n; j++) this.off += 2 * this.A.row[j] * this.B.row[j];
    this.diagonal += this.A.row[n] * this.B.row[n];
  }
  estimate(n) {
    const { A, B } = this;
    let rows = 0, fullRows = 0;
    for (let i = 0; i < n; i++) {
      rows += A.sums[i] * B.sums[i];
      fullRows += (A.sums[i] + A.diagonal[i]) * (B.sums[i] + B.diagonal[i]);
    }
    const biased = this.off + this.diagonal - 2 / n * fullRows + (A.total + A.trace) * (B.total + B.trace) / (n * n); // tr(HAHB)
    const unbiased = this.off + A.total * B.total / ((n - 1) * (n - 2)) - 2 / (n - 2) * rows; // HSIC₁ × n(n − 3)
    return [biased, unbiased];
  }
}

/** One Gram matrix of which we keep the last row, the row sums without the diagonal, and the diagonal. */
class GramSums {
  constructor() {
    /** @type {Float64Array[]} */
    this.vectors = [];
    this.total = 0; this.trace = 0;
    this.row = new Float64Array(MAX_N); this.sums = new Float64Array(MAX_N); this.diagonal = new Float64Array(MAX_N);
  }
  add(vector) {
    const n = this.vectors.length;
    this.vectors.push(vector);
    for (let j = 0; j <= n; j++) this.row[j] = dot(this.vectors[j], vector, this.vectors[j].length);
    for (let j = 0; j < n; j++) { this.sums[j] += this.row[j]; this.sums[n] += this.row[j]; }
    this.total += 2 * this.sums[n];
    this.diagonal[n] = this.row[n];
    this.trace += this.row[n];
  }
}

/** Adds examples one by one; after each, path.biased[n] and path.unbiased[n] are set (NaN where not defined). */
function* addExamples(path, { p, signal, seed }) {
  const K = new GramSums(), L = new GramSums(), pairs = [new HsicPair(K, L), new HsicPair(K, K), new HsicPair(L, L)];
  const own = Math.sqrt(1 - signal), shared = Math.sqrt(signal);
  for (let i = 0; i < MAX_N; i++) {
    const places = Math.min(2 * i + 2, p), x = bartlettRow(seed, 2 * i, p, places), y = bartlettRow(seed, 2 * i + 1, p, places);
    for (let k = 0; k < places; k++) y[k] = shared * x[k] + own * y[k];
    K.add(x);
    L.add(y);
    pairs.forEach(pair => pair.add(i));
    path.reached = i + 1;
    if (path.reached > 3) {
      const [[b, u], [bK, uK], [bL, uL]] = pairs.map(pair => pair.estimate(path.reached));
      path.biased[path.reached] = b / Math.sqrt(bK * bL);
      path.unbiased[path.reached] = uK > 0 && uL > 0 ? u / Math.sqrt(uK * uL) : NaN;
    }
    yield;
  }
}

/** A sample whose estimates appear as `work.next()` adds examples: { biased, unbiased: by n, reached: n so far, work }. */
function samplePath(parameters) {
  const path = { biased: new Float64Array(MAX_N + 1).fill(NaN), unbiased: new Float64Array(MAX_N + 1).fill(NaN), reached: 0 };
  path.work = addExamples(path, parameters);
  return path;
}

/** Expected biased CKA: ratio of the expected HSICs of two Wishart matrices that share a part s. */
const expectedBiased = (n, p, s) => s + (1 - s) * p / (n + p);
