// The data of an explorer: numbers in few bytes, in parts that a page of the book loads when they are needed.

/** @param {string | DataView} data @returns {DataView} */
const bytesOf = data => typeof data === "string" ? new DataView(Uint8Array.from(atob(data), c => c.charCodeAt(0)).buffer) : data;

/** Array packed by `pack` in packing.py → { shape, at(flat index), get(i, j, …) }; NaN where a value is undefined.
 *  Its bytes are a DataView (live) or base64 (page). @param {Packed} packed @returns {Unpacked} */
function unpack({ data, shape, low, step, bytes, undefined: missing = -1 }) {
  const view = bytesOf(data), read = /** @type {const} */ ({ 1: "getUint8", 2: "getUint16", 4: "getUint32" })[bytes];
  const code = (/** @type {number} */ i) => view[read](bytes * i, true);
  const at = (/** @type {number} */ index) => { const value = code(index); return value === missing ? NaN : low + step * value; };
  return { shape, at, get: (...place) => at(place.reduce((flat, i, axis) => flat * shape[axis] + i, 0)) };
}

/** A part with all its arrays unpacked, at any depth. @param {any} value @returns {any} */
function unpackAll(value) {
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map(unpackAll);
  if ("data" in value && "shape" in value) return unpack(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unpackAll(item)]));
}

/** The bytes of deflated arrays, inflated where they stand, at any depth; then the value. @param {any} value @returns {Promise<any>} */
async function inflateAll(value) {
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  if (value.deflated) {
    const inflated = new Blob([/** @type {DataView<ArrayBuffer>} */ (bytesOf(value.data))]).stream().pipeThrough(new DecompressionStream("deflate"));
    return { ...value, data: new DataView(await new Response(inflated).arrayBuffer()) };
  }
  if (Array.isArray(value)) return Promise.all(value.map(inflateAll));
  return Object.fromEntries(await Promise.all(Object.entries(value).map(async ([key, item]) => [key, await inflateAll(item)])));
}

/** A part that the package has stored, from a live kernel. @param {Model} model @param {string} address @returns {Promise<any>} */
function askKernel(model, address) {
  return new Promise(done => {
    const answer = (/** @type {any} */ message) => {
      if (message.part !== address) return;
      model.off("msg:custom", answer);
      done(JSON.parse(message.json));
    };
    model.on("msg:custom", answer);
    model.send?.({ part: address });
  });
}

/** The part at an address of this book. A classic script brings it: in a page opened from a folder `fetch` may not read files.
 *  @param {string} address @returns {Promise<any>} */
function loadPart(address) {
  const there = globalThis.explorerParts ??= {}, root = document.documentElement.dataset.content_root ?? "";
  return new Promise((done, fail) => {
    const settle = () => address in there ? done(there[address]) : fail(new Error(address));
    if (address in there) { settle(); return; }
    document.head.append(make("script", { src: `${root}_static/explorers/${address}.js`, onload: settle, onerror: settle }));
  });
}

/** The parts of one explorer. Each is data, or the address of data that is loaded when it is asked for; then `changed` is called.
 *  @param {Record<string, any>} parts @param {(address: string) => Promise<any>} load @param {() => void} changed */
function partStore(parts, load, changed) {
  const ready = new Map(), loading = new Set(), failed = new Set();
  /** @param {string} name */
  function begin(name) {
    const part = parts[name];
    if (typeof part !== "string") { ready.set(name, unpackAll(part)); return; }
    loading.add(name);
    load(part).then(inflateAll).then(data => ready.set(name, unpackAll(data)), () => failed.add(name))
      .finally(() => { loading.delete(name); changed(); });
  }
  return {
    get: (/** @type {string} */ name) => ready.get(name),
    /** "ready", "loading" or "failed"; a part that failed is tried again when the reader comes back to it. @param {string[]} names */
    ask(names) {
      for (const name of failed) if (!names.includes(name)) failed.delete(name);
      for (const name of names) if (![ready, loading, failed].some(group => group.has(name))) begin(name);
      return names.some(name => failed.has(name)) ? "failed" : names.every(name => ready.has(name)) ? "ready" : "loading";
    },
  };
}
