// The studio: two networks on one image of the reader, live. It is an explorer (see common.js) whose numbers come from the worker.

const START = { sample: 3, a: "vit_cls", b: "resnet", view: "lens", right: 0, down: 0, turn: 0, blur: 0, order: 0, cover: NOTHING_COVERED,
  positions: "on", skip: -1, tool: "choose", query: 27, block: 5, head: "mean", look: "one", count: 32, row: 5, column: 8 };
const UNCHANGED = { right: 0, down: 0, turn: 0, blur: 0, order: 0, cover: NOTHING_COVERED, positions: "on", skip: -1 };
const CHANGES = ["right", "down", "turn", "blur", "order", "positions", "skip", "tool"]; // controls that stand apart, see arrange
const SHOWN_SAMPLES = 32, MOST_OWN = 16;

/** @param {string} key @param {(text: string) => boolean} fine @returns {Control} */
const remembered = (key, fine) => ({ key, accept: text => fine(text) ? text : undefined });

/** @param {Record<string, any>} t @param {View} view @param {any} studio @returns {Control[]} */
function studioControls(t, view, { about, pictures }) {
  const networks = Object.keys(about.networks).map(key => /** @type {Option} */ ([key, networkLabel(t, key)])), is = (...views) => () => views.includes(view.get("view"));
  const blocksOf = side => about.networks[view.get(side)].blocks.length, most = () => Math.max(blocksOf("a"), blocksOf("b"));
  const range = (low, high, step = 1) => Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => low + i * step);
  /** @type {(key: string, label: string, values: Listed<number>, text?: (value: any) => string, when?: () => boolean) => Control} */
  const number = (key, label, values, text = String, when = () => true) => slider({ key, label, values, text, when });
  return [
    choice({ key: "a", label: t.first, options: networks }),
    choice({ key: "b", label: t.second, options: networks }),
    tabs({ key: "view", label: t.view, options: /** @type {Option[]} */ (Object.entries(t.views)) }),
    number("block", t.block, () => range(0, most() - 1), String, is("attention", "content")),
    choice({ key: "head", label: t.head, options: [["mean", t.meanHead], ...upTo(8).map(h => /** @type {Option} */ ([h, t.oneHead(h)]))], when: () => is("attention")() && view.get("look") === "one" }),
    tabs({ key: "look", label: t.look, options: [["one", t.oneLook], ["rollout", t.rollout]], when: is("attention") }),
    number("count", t.count, [8, 16, 24, 32, 40, 48, 56, 64], String, is("cka")),
    number("right", t.right, range(-16, 16), t.pixels),
    number("down", t.down, range(-16, 16), t.pixels),
    number("turn", t.turn, range(-180, 180, 15), t.degrees),
    number("blur", t.blur, range(0, 4, 0.5), t.pixels),
    number("order", t.order, range(0, 8), n => n ? t.shuffled(n) : t.inPlace),
    tabs({ key: "positions", label: t.positions, options: [["on", t.on], ["off", t.off]] }),
    number("skip", t.skip, () => range(-1, most() - 1), n => n < 0 ? t.whole : t.cut(n)),
    tabs({ key: "tool", label: t.tool, options: [["choose", t.choose], ["cover", t.cover], ["uncover", t.uncover]] }),
    picked({ key: "sample", count: () => pictures.length }),
    picked({ key: "query", count: () => CLASS_TOKEN + 1 }),
    picked({ key: "row", count: () => blocksOf("a") }),
    picked({ key: "column", count: () => blocksOf("b") }),
    remembered("cover", text => /^[0-9a-f]{16}$/.test(text)),
  ];
}

/** @param {Record<string, any>} t @param {string} key such as "vit_cls-untrained" */
const networkLabel = (t, key) => t.network(t.names[key.split("-")[0]], !key.endsWith("-untrained"));

/** The state of the studio with everything that is computed for it. @param {View} view @param {any} studio */
function studioState(view, { about, pictures, tray, store, jobs }) {
  const { t, ink } = view, percent = percentIn(view.lang), readers = new WeakMap(), kinships = new Map();
  const reader = (answer, net, cut) => {
    if (!readers.has(answer)) readers.set(answer, lookReader(answer, net, cut));
    return readers.get(answer);
  };

  function sideOf(key, image, shown) {
    const name = view.get(key), net = about.networks[name], settings = jobs.settingsFor(name, { skip: view.get("skip"), positions: view.get("positions") });
    const plain = jobs.settingsFor(name, UNCHANGED), now = jobs.look(name, shown, settings), before = jobs.look(name, image, plain), content = jobs.content(name, shown, settings);
    const answer = jobs.newest(key, name, now), base = store.get(before.key);
    return { name, about: net, label: networkLabel(t, name), style: key === "a" ? ink.first : ink.second, isChanged: now.key !== before.key,
      look: answer && reader(answer, net, settings.cut), base: base && reader(base, net, -1), content: store.get(content.key), jobs: { now, before, content } };
  }
  /** CKA as far as it is computed: the map, and the pair's value with its interval as images were added. */
  function kinship() {
    const images = [...pictures.slice(0, SHOWN_SAMPLES), ...about.more].slice(0, view.get("count")).concat(tray), n = images.length;
    const [mine, theirs] = ["a", "b"].map(key => jobs.grams(view.get(key), images));
    const wanted = mine.flatMap((job, i) => [job, theirs[i]]), done = mine.filter((job, i) => store.get(job.key) && store.get(theirs[i].key));
    const known = { n, jobs: wanted, tray: tray.length, map: null, steps: [] };
    if (!done.length) return known;
    const last = done[done.length - 1], at = mine.indexOf(last), place = [view.get("row"), view.get("column")], key = JSON.stringify([last.key, theirs[at].key, place]);
    if (!kinships.has(key)) {
      kinships.clear();
      const [grams, others] = [store.get(last.key), store.get(theirs[at].key)], pair = [grams[place[0]], others[place[1]]];
      const steps = done.map(({ count }) => ({ count, ...ckaWithInterval(pair[0], pair[1], last.count, count) }));
      kinships.set(key, { map: ckaOf(grams, others, last.count), steps });
    }
    return { ...known, ...kinships.get(key) };
  }
  return function update() {
    const get = view.get, image = pictures[get("sample")], changes = Object.fromEntries(["turn", "right", "down", "blur", "order", "cover"].map(key => [key, get(key)]));
    const same = Object.entries(changes).every(([key, value]) => UNCHANGED[key] === value);
    const shown = same ? image : { key: JSON.stringify([image.key, changes]), pixels: changedImage(image.pixels, changes, about.grey) };
    const sides = ["a", "b"].map(key => sideOf(key, image, shown)), [first, second] = sides, query = get("query");
    const now = { t, ink, percent, about, image, shown, sides, query, view: get("view"), block: get("block"), head: get("head"), rolled: get("look") === "rollout", row: get("row"), column: get("column"),
      classes: about.classes[view.lang], measured: about.measured, imageName: image.name, kin: { steps: [], map: null, jobs: [], n: 0 },
      tokenName: query === CLASS_TOKEN ? "[CLS]" : t.token(Math.floor(query / CELLS), query % CELLS), wanted: [first.jobs.now, second.jobs.now, first.jobs.before, second.jobs.before] };
    if (now.view === "content") now.wanted.push(first.jobs.content, second.jobs.content);
    if (now.view === "reach") for (const side of sides) if (side.look) side.distances = side.look.distances();
    if (now.view === "cka") { now.kin = kinship(); now.wanted.push(...now.kin.jobs); }
    store.ask(now.wanted);
    return now;
  };
}

/** @param {any} studio */
const studioExplorer = studio => defineExplorer({
  name: "studio",
  strings: WORDS_OF_STUDIO,
  columns: "minmax(0, 1fr) minmax(0, 1.6fr)",
  controls: (t, view) => studioControls(t, view, studio),
  setup(view) {
    const { t } = view, state = studioState(view, studio), token = query => query === CLASS_TOKEN ? "[CLS]" : t.token(Math.floor(query / CELLS), query % CELLS);
    let now = /** @type {any} */ ({});
    studio.redraw = view.redraw;
    studio.shown = () => now.shown;
    studio.view = view;
    const panel = (label, height, draw, more = {}) => ({ label, height, draw: (g, width) => draw(g, now, width), ...more });
    const wide = (views, label, height, draw, pick) => panel(label, height, draw, { wide: true, pick, when: () => views.includes(view.get("view")) });
    return {
      update() { now = state(); },
      caption: () => {
        const failure = studio.store.failure(now.wanted);
        return failure ? (failure.message in studio.about.networks ? t.missing : t.failed) : now.sides.some(side => side.look) ? captionOf(now) : t.loadingNetworks;
      },
      table: () => tableOf(now),
      panels: [
        galleryPanel(view, studio, () => now),
        panel(t.imageLabel, width => imageBox(width).y + imageBox(width).height + 26, drawImagePanel, { pick: imagePick(view, token) }),
        panel(t.probabilityLabel, probabilitiesHeight, drawProbabilities),
        wide(["lens"], t.lensLabel, lensHeight, drawLens),
        wide(["attention"], t.attentionLabel, mapsHeight, (g, n, width) => drawMaps(g, n, width, n.rolled ? t.gathered : t.weight, side => attended(n, side))),
        wide(["attention"], t.headsLabel, headsHeight, drawHeads, headsPick(view, t)),
        wide(["reach"], t.reachLabel, () => REACH_HEIGHT, drawReach),
        wide(["content"], t.contentLabel, mapsHeight, (g, n, width) => drawMaps(g, n, width, t.share, side => contentOf(n, side))),
        wide(["norms"], t.normsLabel, () => NORMS_HEIGHT, drawNorms),
        wide(["cka"], t.mapLabel, () => CKA_HEIGHT, drawCkaMap, ckaPick(view, () => now)),
      ],
    };
  },
});

/** The controls that change something stand together below the pictures, in sight while those are (see studio.css). */
function arrange(root, t, view, controls) {
  const standing = [...root.querySelectorAll(".ex-controls > .ex-control")], keys = controls.filter(({ build }) => build).map(({ key }) => key);
  const undo = make("button", { type: "button" }, t.undo), box = make("div", { className: "ex-controls" });
  const changes = make("details", { className: "st-changes", open: innerWidth > 600 }, make("summary", {}, t.changes), box, make("div", { className: "ex-actions" }, undo));
  standing.forEach((element, i) => {
    if (CHANGES.includes(keys[i])) box.append(element);
    if (keys[i] === "view") element.classList.add("st-views");
  });
  root.querySelector(".ex-panels").after(changes);
  undo.addEventListener("click", () => view.set(UNCHANGED));
}

async function startStudio() {
  const place = /** @type {HTMLElement} */ (document.getElementById("studio")), lang = language(plainModel({}), "page"), t = { ...WORDS_OF_STUDIO[lang] };
  const before = /** @type {HTMLElement} */ (place.querySelector(".studio-before")), bar = make("progress", { max: 4, value: 0, "aria-label": t.loadingNetworks });
  before.replaceChildren(make("p", { role: "status" }, t.loadingNetworks), bar);
  try {
    const about = await studioFile("about"), step = value => { bar.value += 1; return value; };
    const engine = await startEngine(about).then(step);
    await Promise.all([START.a, START.b].map(name => engine.open(name).then(step)));
    step(0);
    showStudio(place, about, engine, t, lang);
  } catch (error) {
    const missing = ["about", "runtime", START.a, START.b].includes(/** @type {Error} */ (error).message);
    before.replaceChildren(make("p", { role: "alert" }, missing ? t.missing : t.failed));
    if (!missing) throw error;
  }
}

function showStudio(place, about, engine, t, lang) {
  const bytes = bytesOfText(about.samples.pixels), size = 3 * WIDE * WIDE;
  const picture = (pixels, key, name) => ({ pixels, key, name, canvas: imageCanvas(pixels) });
  const samples = about.samples.labels.map((label, i) => picture(new Uint8ClampedArray(bytes.slice(i * size, (i + 1) * size)), `sample ${i}`, t.image(i, about.classes[lang][label])));
  about.more = samples.slice(SHOWN_SAMPLES);
  const studio = /** @type {any} */ ({ about, engine, pictures: samples.slice(0, SHOWN_SAMPLES), tray: [], redraw: () => {} });
  studio.store = resultStore(() => studio.redraw());
  studio.jobs = jobsOf(studio);
  let own = 0;
  const inTray = make("span", { className: "ex-status", role: "status" }), put = make("button", { type: "button" }, t.toTray), empty = make("button", { type: "button" }, t.emptyTray);
  const showTray = () => { inTray.textContent = studio.tray.length ? t.inTray(studio.tray.length) : ""; empty.hidden = !studio.tray.length; studio.redraw(); };
  put.addEventListener("click", () => {
    const image = studio.shown();
    if (studio.tray.length < MOST_OWN && !studio.tray.some(({ key }) => key === `tray ${image.key}`)) studio.tray.push({ ...image, key: `tray ${image.key}` });
    showTray();
  });
  empty.addEventListener("click", () => { studio.tray.length = 0; showTray(); });
  const use = pixels => {
    own++;
    if (studio.pictures.length >= SHOWN_SAMPLES + MOST_OWN) studio.pictures.splice(SHOWN_SAMPLES, 1);
    studio.pictures.push(picture(pixels, `own ${own}`, t.ownImage(own)));
    studio.view.set({ ...UNCHANGED, sample: -1 });
    studio.view.set({ sample: studio.pictures.length - 1 });
  };
  place.replaceChildren(buildInput(t, use, [put, empty, inTray]), make("div", { id: "studio-view" }));
  studioExplorer(studio).mount("studio-view", { ...START, host: "page" });
  arrange(place.querySelector("#studio-view .explorer"), t, studio.view, studioControls(t, studio.view, studio));
  showTray();
}

startStudio();
