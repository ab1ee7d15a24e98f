// What the worker has computed. A drawing asks for what it needs; one thing is computed at a time, the most wanted first, so
// that while a slider moves only the newest state waits.

const MOST_RESULTS = 80;

/** @param {() => void} changed */
function resultStore(changed) {
  const known = new Map(), failed = new Map();
  let busy = false;
  /** Jobs [{ key, run }] in order of their worth; what is not asked for any more is forgotten first. */
  function ask(jobs) {
    for (const { key } of jobs) if (known.has(key)) { const value = known.get(key); known.delete(key); known.set(key, value); }
    for (const key of known.keys()) { if (known.size <= MOST_RESULTS) break; known.delete(key); }
    const next = jobs.find(({ key }) => !known.has(key) && !failed.has(key));
    if (busy || !next) return;
    busy = true;
    next.run().then(value => known.set(next.key, value), error => failed.set(next.key, error))
      .finally(() => { busy = false; changed(); });
  }
  return { ask, get: key => known.get(key), failure: jobs => jobs.map(({ key }) => failed.get(key)).find(Boolean) };
}

/** The jobs of a state, for one network (`side` "a" or "b"), and where their results are.
 *  @param {{ about: Record<string, any>, engine: any, store: any }} studio */
function jobsOf({ about, engine, store }) {
  const remembered = new Map(); // the last answer of a side, shown while the next one is computed

  /** Whether the network can do what the settings ask: a Mixer has no positions, a ViT only six blocks. */
  function settingsFor(name, { skip, positions }) {
    const { blocks, positions: has } = about.networks[name];
    return { cut: skip < blocks.length ? skip : -1, positions: has && positions === "off" ? 0 : 1 };
  }
  const task = (name, work, given) => async () => { await engine.open(name); return engine.ask(work, { name, ...given }); };
  function look(name, image, settings) {
    return { key: JSON.stringify(["look", name, image.key, settings]), run: task(name, "look", { image: asInput(image.pixels), settings }) };
  }
  function content(name, image, settings) {
    return { key: JSON.stringify(["content", name, image.key, settings]), run: task(name, "content", { image: asInput(image.pixels), settings, grey: about.grey }) };
  }
  /** Gram matrices of the first eight images, sixteen, … : each step shows, and costs only what is new. */
  function grams(name, images) {
    const counts = images.map((_, i) => i + 1).filter(count => count % 8 === 0 || count === images.length);
    return counts.map(count => {
      const part = images.slice(0, count);
      return { key: JSON.stringify(["grams", name, part.map(image => image.key)]), count,
        run: task(name, "grams", { images: part.map(({ key, pixels }) => ({ key, image: asInput(pixels) })) }) };
    });
  }
  /** The result of a job, or the side's last one for the same network. */
  function newest(side, name, job) {
    const result = store.get(job.key);
    if (result) remembered.set(side, { name, result });
    const old = remembered.get(side);
    return result ?? (old?.name === name ? old.result : undefined);
  }
  return { settingsFor, look, content, grams, newest };
}
