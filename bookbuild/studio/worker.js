// Runs the networks, away from the page, so that the page never freezes. The page puts onnxruntime-web in front of this script.
// Every message is { id, task, … }; the answer is { id, result } or { id, error }.

const networks = new Map(); // name → { session, about }
const PATCHES = 64, SIDE = 8; // patches of an image, in a row of the grid

const TASKS = {
  /** The machine: the loader's script and its WebAssembly. */
  begin({ loader, machine }) {
    const mjs = URL.createObjectURL(new Blob([loader], { type: "text/javascript" })); // of this worker's own origin
    Object.assign(ort.env.wasm, { numThreads: 1, wasmPaths: { mjs }, wasmBinary: machine });
  },

  async open({ name, file, about }) {
    networks.set(name, { session: await ort.InferenceSession.create(file, { executionProviders: ["wasm"] }), about, kept: new Map() });
  },

  /** What the network makes of one image [3 × 32 × 32]: lens, ratios and, in a ViT, attention. */
  async look({ name, image, settings }) {
    const { about } = networks.get(name);
    const out = await run(name, image, settings, ["lens", "ratios", ...(about.heads ? ["attention"] : [])]);
    return Object.fromEntries(Object.entries(out).map(([key, { data, dims }]) => [key, { data, dims: dims.slice(1) }]));
  },

  /** How much every place of every block changes when one patch after another is covered: [blocks][places × patches], each
   *  row with sum 1. */
  async content({ name, image, settings, grey }) {
    const { about } = networks.get(name), whole = await features(name, image, settings);
    const rows = about.blocks.map(() => new Float32Array((about.prefix + PATCHES) * PATCHES));
    for (let patch = 0; patch < PATCHES; patch++) {
      const without = await features(name, covered(image, patch, grey), settings);
      forBlocks(about, (block, start, shape) => {
        const change = changes(whole, without, start, shape);
        change.forEach((value, place) => { rows[block][place * PATCHES + patch] = value; });
      });
    }
    for (const block of rows) {
      for (let start = 0; start < block.length; start += PATCHES) {
        const row = block.subarray(start, start + PATCHES), sum = row.reduce((total, value) => total + value, 0);
        if (sum) row.forEach((value, i) => { row[i] = value / sum; });
      }
    }
    return rows;
  },

  /** Gram matrices [blocks][n × n] of the outputs of all blocks, of the images [{ key, image }]. What was computed for an image
   *  is kept, so that a longer list costs what is new in it. */
  async grams({ name, images }) {
    const { about, kept } = networks.get(name), n = images.length;
    for (const { key, image } of images) {
      if (kept.has(key)) continue;
      const mine = await features(name, image, {}), products = new Map();
      for (const [other, { values }] of [...kept, [key, { values: mine }]]) products.set(other, dots(about, mine, values));
      kept.set(key, { values: mine, products });
    }
    return about.blocks.map((_, block) => {
      const gram = new Float64Array(n * n), product = (a, b) => kept.get(a).products.get(b) ?? kept.get(b).products.get(a);
      for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) gram[i * n + j] = product(images[i].key, images[j].key)[block];
      return gram;
    });
  },
};

/** One image through one network; skips and positions are 1 unless they are set. */
async function run(name, image, { cut = -1, positions = 1 }, wanted) {
  const { session, about } = networks.get(name), blocks = about.blocks.length;
  const feeds = {
    image: new ort.Tensor("float32", image, [1, 3, 32, 32]),
    skips: new ort.Tensor("float32", Float32Array.from({ length: blocks }, (_, i) => i === cut ? 0 : 1), [blocks]),
  };
  if (about.positions) feeds.positions = new ort.Tensor("float32", Float32Array.of(positions), [1]);
  return session.run(feeds, wanted);
}

const features = async (name, image, settings) => (await run(name, image, settings, ["features"])).features.data;

/** The image with one patch of 4 × 4 pixels in grey. */
function covered(image, patch, grey) {
  const copy = image.slice(), top = 4 * Math.floor(patch / SIDE), left = 4 * (patch % SIDE);
  for (let c = 0; c < 3; c++) for (let y = 0; y < 4; y++) copy.fill(grey[c] / 255, c * 1024 + (top + y) * 32 + left, c * 1024 + (top + y) * 32 + left + 4);
  return copy;
}

/** visit(block, where its numbers start, its shape) */
function forBlocks({ blocks }, visit) {
  let start = 0;
  blocks.forEach((shape, block) => { visit(block, start, shape); start += shape.reduce((a, b) => a * b, 1); });
}

/** Length of the difference at every place: tokens, or patches of a map [channels, rows, columns], whose positions are averaged. */
function changes(a, b, start, shape) {
  if (shape.length === 2) {
    const [tokens, width] = shape;
    return Float32Array.from({ length: tokens }, (_, token) => distance(a, b, start + token * width, width, 1));
  }
  const [channels, rows, columns] = shape, cell = rows / SIDE, places = new Float32Array(PATCHES);
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      places[Math.floor(y / cell) * SIDE + Math.floor(x / cell)] += distance(a, b, start + y * columns + x, channels, rows * columns) / cell ** 2;
    }
  }
  return places;
}

function distance(a, b, start, count, step) {
  let sum = 0;
  for (let i = 0, at = start; i < count; i++, at += step) sum += (a[at] - b[at]) ** 2;
  return Math.sqrt(sum);
}

/** Inner products of two images' features, block by block. */
function dots(about, a, b) {
  const sums = new Float64Array(about.blocks.length);
  forBlocks(about, (block, start, shape) => {
    const end = start + shape.reduce((x, y) => x * y, 1);
    let sum = 0;
    for (let i = start; i < end; i++) sum += a[i] * b[i];
    sums[block] = sum;
  });
  return sums;
}

let queue = Promise.resolve(); // one task at a time: a session cannot run twice at once
self.onmessage = ({ data: { id, task, ...given } }) => {
  queue = queue.then(async () => {
    try { self.postMessage({ id, result: await TASKS[task](given) }); }
    catch (error) { self.postMessage({ id, error: String(error) }); }
  });
};
