// The files of the studio and the worker that runs the networks.

const FOLDER = /** @type {HTMLScriptElement} */ (document.currentScript).dataset.folder;

/** The data of a script in the studio's folder; it is handed over once and not kept twice. @param {string} name @returns {Promise<any>} */
function studioFile(name) {
  const files = globalThis.studioFiles ??= {};
  return new Promise((done, fail) => {
    const arrived = () => { done(files[name]); delete files[name]; };
    document.head.append(make("script", { src: `${FOLDER}${name}.js`, onload: arrived, onerror: () => fail(new Error(name)) }));
  });
}

/** @param {string} text base64 */
const bytesOfText = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));

/** @param {string} text gzip in base64 */
const unzip = text => new Response(new Blob([bytesOfText(text)]).stream().pipeThrough(new DecompressionStream("gzip")));

/** Starts the worker: { ask(task, given) → Promise, open(name) → Promise }. @param {Record<string, any>} about */
async function startEngine(about) {
  const { library, loader, machine } = await studioFile("runtime");
  const script = `${await unzip(library).text()}\n${WORKER_SCRIPT}`;
  const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const waiting = new Map(), opened = new Map();
  let count = 0;
  worker.onmessage = ({ data: { id, result, error } }) => {
    const { done, fail } = waiting.get(id);
    waiting.delete(id);
    if (error) fail(new Error(error)); else done(result);
  };
  const ask = (task, given = {}) => new Promise((done, fail) => {
    waiting.set(++count, { done, fail });
    worker.postMessage({ id: count, task, ...given });
  });
  /** Loads a network once; one that could not be loaded is tried again. */
  function open(name) {
    if (!opened.has(name)) {
      const loading = studioFile(name).then(text => ask("open", { name, file: bytesOfText(text), about: about.networks[name] }));
      opened.set(name, loading);
      loading.catch(() => opened.delete(name));
    }
    return opened.get(name);
  }
  await ask("begin", { loader: await unzip(loader).text(), machine: await unzip(machine).arrayBuffer() });
  return { ask, open };
}
