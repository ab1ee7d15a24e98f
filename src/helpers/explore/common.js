// What every explorer shares. Python joins the shared files and the explorer's own ones (see base.py): nothing is imported.
// An explorer ends with:  const explorer = defineExplorer({ name, strings, controls, setup });  export default explorer;
//
//   strings    { en: { title, … }, ko: { title, … } }
//   controls   (t, view) => [slider(…), choice(…), tabs(…), picked(…), button(…)], one for each state key: see controls.js
//              (a key comes after those that its own limits depend on)
//   columns    CSS widths of the panels' columns, `narrowColumns` on a phone (optional)
//   captionAfter  after how many panels the caption stands on a phone, so that it is in sight (optional; else after all)
//   presets    (t, view) => [{ label, find: () => ({ key: value }), when }], buttons that show something worth seeing (optional)
//   setup      view => ({ panels, caption, table, parts, update, stop })
//     panels   [{ label, wide, height: width => px, draw(g, width, height), pick, when }]; pick makes it clickable, see makePickable
//              and pickCells; when () => boolean hides it
//     caption  () => a sentence or two with the numbers now
//     table    () => ({ head: [text], rows: [[text]], current: row index })
//     parts    () => names of the parts of the data that the state needs; until they are there nothing below is called (optional)
//     update   () => called before each drawing, for numbers that depend on the state (optional)
//     stop     () => called when the view goes away (optional)
//   view       { t, lang, ink, get(key), set({ key: value }), part(name), say({ en, ko }), hover, redraw() }
//              t: strings in the reader's language, ink: colours of the theme, part: unpacked data, hover: see pickCells

const WORDS = {
  en: { showMe: "Show me", show: "Show the numbers", hide: "Hide the numbers", save: "Save picture", link: "Copy link", copied: "Link copied",
    inBar: "The link is in the address bar", loading: "Loading the data …",
    failed: "The data of this view could not be loaded. Please reload the page; a copied page needs the folder _static beside it." },
  ko: { showMe: "바로 보기", show: "수치 보기", hide: "수치 숨기기", save: "그림 저장", link: "링크 복사", copied: "링크 복사됨",
    inBar: "링크는 주소 표시줄에 있음", loading: "데이터를 불러오는 중…",
    failed: "이 화면의 데이터를 불러오지 못했다. 페이지를 새로 고치기 바란다. 페이지를 복사했다면 _static 폴더도 함께 있어야 한다." },
};

// --- small tools ----------------------------------------------------------------------------------------------------

/** An element with properties or attributes; children that are text stay text, so data is never read as HTML.
 *  @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag @param {Record<string, any>} [settings] @param {(Node | string)[]} children
 *  @returns {HTMLElementTagNameMap[Tag]} */
function make(tag, settings = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(settings)) {
    if (key in element && key !== "list") Object.assign(element, { [key]: value }); else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** A number as Python's f"{value:.3f}" writes it, but with a true minus sign and never "−0.000". @param {number} value */
function fixed(value, digits = 3) {
  const size = Math.abs(value), between = size * 2 ** (digits + 1) % 2 === 1; // exactly in the middle: Python takes the even digit
  let text = size.toFixed(digits);
  if (between && Number(text.at(-1)) % 2) text = (size - 0.25 * 10 ** -digits).toFixed(digits);
  return (value < 0 && Number(text) > 0 ? "−" : "") + text;
}

/** A share as a percentage: 0.8125 → 81.3%. @param {number} share */
const percent = (share, digits = 1) => `${fixed(100 * share, digits)}%`;

/** Index of the value closest to `value`. @param {number[]} values @param {number} value */
const nearest = (values, value) => values.reduce((best, v, i) => Math.abs(v - value) < Math.abs(values[best] - value) ? i : best, 0);

/** The part of a widget model that explorers use, without a kernel. @param {Record<string, any>} state @returns {Model} */
function plainModel(state) {
  const events = new EventTarget();
  return {
    get: key => state[key],
    set(key, value) {
      if (state[key] === value) return;
      state[key] = value;
      events.dispatchEvent(new Event(`change:${key}`));
    },
    on: (name, handler) => events.addEventListener(name, handler),
    off: (name, handler) => events.removeEventListener(name, handler),
    save_changes() {},
  };
}

// --- share links: #cka_bias.n=128&cka_bias.p=1024; a second explorer of the name on a page is cka_bias-2 ------------

/** @param {string} name */
function linkScope(name) {
  const others = document.querySelectorAll(`.explorer[data-explorer="${name}"]`).length;
  return others ? `${name}-${others + 1}` : name;
}

/** Sets the values that the address gives to one explorer, in their order; says whether there were any.
 *  @param {string} scope @param {Control[]} controls @param {View} view */
function openAddress(scope, controls, view) {
  const address = new URLSearchParams(location.hash.slice(1));
  let any = false;
  for (const { key, accept } of controls) {
    const text = address.get(`${scope}.${key}`), value = text === null ? undefined : accept(text);
    if (value !== undefined) { view.set({ [key]: value }); any = true; }
  }
  return any;
}

// --- the view -------------------------------------------------------------------------------------------------------

/** The reader's language: set in Python, else that of the page, else that of the browser (a notebook has none).
 *  @param {Model} model @param {string} host @returns {Language} */
function language(model, host) {
  const page = host === "page" ? document.documentElement.lang : "";
  return (model.get("lang") || page || navigator.language).startsWith("ko") ? "ko" : "en";
}

/** @param {Element} element @returns {Ink} */
function themeInk(element) {
  const style = getComputedStyle(element), names = ["text", "muted", "line", "paper", "first", "second"];
  const read = (/** @type {string} */ name) => style.getPropertyValue(`--ex-${name}`).trim();
  return /** @type {Ink} */ ({ ...Object.fromEntries(names.map(name => [name, read(name)])), series: read("series").split(" ") });
}

/** The elements of an explorer, by the names that drawing and events use.
 *  @param {{ name: string, lang: Language, t: Record<string, any>, view: View, controls: Control[], panels: Panel[], columns: string,
 *    narrowColumns: string, captionAfter: number, presets: Preset[], sharing: boolean }} settings */
function buildElements({ name, lang, t, view, controls, panels, columns, narrowColumns, captionAfter, presets, sharing }) {
  const id = `ex-${Math.random().toString(36).slice(2, 9)}`, push = (/** @type {string} */ text, /** @type {object} */ more = {}) => make("button", { type: "button", ...more }, text);
  const inputs = controls.flatMap(({ build }) => build ?? []).map((build, i) => build(view, `${id}-${i}`));
  const standing = below => inputs.filter(input => Boolean(input.below) === below).map(input => input.element);
  const canvases = panels.map((panel, i) => make("canvas",
    { className: panel.wide ? "ex-wide" : "", role: "img", style: `order: ${2 * i}`, "aria-label": panel.label, "aria-describedby": `${id}-caption` }));
  const shortcuts = presets.map(({ label, find }) => {
    const shortcut = push(label);
    shortcut.addEventListener("click", () => view.set(find()));
    return shortcut;
  });
  const page = {
    inputs,
    panels: panels.map((panel, i) => ({ panel, canvas: canvases[i], announce: panel.pick ? makePickable(canvases[i], panel.pick) : () => {} })),
    frame: make("div", { className: "ex-panels", style: `--ex-columns: ${columns}; --ex-narrow-columns: ${narrowColumns}` }, ...canvases),
    caption: make("p", { className: "ex-caption", id: `${id}-caption`, style: `--ex-after: ${2 * captionAfter - 1}`, "aria-live": "polite" }),
    shortcuts,
    presetRow: make("div", { className: "ex-presets", role: "group", "aria-label": t.showMe, hidden: !presets.length },
      make("span", { "aria-hidden": "true" }, t.showMe), ...shortcuts),
    tableButton: push(t.show, { "aria-expanded": "false", "aria-controls": `${id}-table` }),
    saveButton: push(t.save),
    linkButton: push(t.link, { hidden: !sharing }),
    status: make("span", { className: "ex-status", role: "status" }),
    table: make("div", { className: "ex-table", id: `${id}-table`, role: "region", "aria-label": t.title, tabIndex: 0, hidden: true }),
  };
  page.frame.append(page.caption);
  page.root = make("div", { className: "explorer", role: "group", lang, "aria-labelledby": `${id}-title`, "data-explorer": name },
    make("p", { className: "ex-title", id: `${id}-title` }, t.title),
    page.presetRow,
    make("div", { className: "ex-controls" }, ...standing(false)),
    page.frame,
    make("div", { className: "ex-actions" }, ...standing(true), page.tableButton, page.saveButton, page.linkButton, page.status),
    page.table);
  return page;
}

/** @param {HTMLElement} place @param {Table} table */
function fillTable(place, { head, rows, current }) {
  const cells = (/** @type {string[]} */ texts, /** @type {"td" | "th"} */ tag, settings = {}) => make("tr", settings, ...texts.map(text => make(tag, tag === "th" ? { scope: "col" } : {}, text)));
  const body = rows.map((row, i) => cells(row, "td", i === current ? { "aria-current": "true" } : {}));
  place.replaceChildren(make("table", {}, make("thead", {}, cells(head, "th")), make("tbody", {}, ...body)));
}

function connectButtons({ page, name, scope, controls, t, view }) {
  page.tableButton.addEventListener("click", () => {
    page.table.hidden = !page.table.hidden;
    page.tableButton.setAttribute("aria-expanded", String(!page.table.hidden));
    page.tableButton.textContent = page.table.hidden ? t.show : t.hide;
    view.redraw();
  });
  page.saveButton.addEventListener("click", () => {
    const fontFamily = getComputedStyle(page.root).fontFamily;
    picture({ ...page, title: t.title, ink: view.ink, fontFamily }).toBlob(blob => {
      if (!blob) return; // the picture is too large for this browser
      const link = make("a", { href: URL.createObjectURL(blob), download: `${name}.png` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
  });
  page.linkButton.addEventListener("click", async () => {
    history.replaceState(null, "", `#${controls.map(({ key }) => `${scope}.${key}=${encodeURIComponent(view.get(key))}`).join("&")}`);
    try { await navigator.clipboard.writeText(location.href); page.status.textContent = t.copied; }
    catch { page.status.textContent = t.inBar; } // no clipboard here, but the address is right
  });
}

/** Moves values that are no longer possible, such as a layer that the model just chosen does not have, to the nearest one. */
function fitAll(controls, view) {
  for (const { key, fit } of controls) {
    const value = view.get(key), possible = fit ? fit(value) : value;
    if (possible !== value) view.set({ [key]: possible });
  }
}

/** Calls `changed` when the state changes, `redraw` when the width or the theme does; returns what ends that. */
function watch({ model, controls, frame, redraw, changed }) {
  const width = new ResizeObserver(redraw), theme = new MutationObserver(redraw), dark = matchMedia("(prefers-color-scheme: dark)");
  width.observe(frame);
  for (const node of [document.documentElement, document.body]) theme.observe(node, { attributes: true });
  dark.addEventListener("change", redraw);
  for (const { key } of controls) model.on(`change:${key}`, changed);
  return () => {
    width.disconnect();
    theme.disconnect();
    dark.removeEventListener("change", redraw);
    for (const { key } of controls) model.off(`change:${key}`, changed);
  };
}

/** One explorer → { render: for a live kernel, mount: for a page without one }. @param {Definition} definition */
function defineExplorer({ name, strings, controls: listControls, setup, columns = "1.55fr 1fr", narrowColumns = "1fr",
  captionAfter = 99, presets: listPresets = () => [] }) {
  /** @param {{ model: Model, el: HTMLElement }} place */
  function render({ model, el }) {
    const host = model.get("host") ?? "notebook", lang = language(model, host), t = { ...WORDS[lang], ...strings[lang] };
    let frame = 0;
    const load = (/** @type {string} */ address) => model.send ? askKernel(model, address) : loadPart(address);
    const store = partStore(model.get("parts") ?? {}, load, () => view.redraw());
    /** @type {View} */
    const view = {
      t, lang, ink: /** @type {Ink} */ ({}), hover: null, get: key => model.get(key), part: store.get, say: text => text[lang],
      set(values) { for (const [key, value] of Object.entries(values)) model.set(key, value); model.save_changes(); },
      redraw: () => { frame ||= requestAnimationFrame(draw); },
    };
    const controls = listControls(t, view), scope = linkScope(name), drawing = setup(view), presets = listPresets(t, view);
    const page = buildElements({ name, lang, t, view, controls, panels: drawing.panels, columns, narrowColumns, captionAfter, presets,
      sharing: host === "page" });
    function fitControls() {
      fitAll(controls, view);
      for (const input of page.inputs) input.update();
    }
    function draw() {
      frame = 0;
      fitControls();
      const state = store.ask(drawing.parts?.() ?? []);
      for (const { canvas } of page.panels) canvas.hidden = state === "failed";
      for (const button of [page.tableButton, page.saveButton, ...page.shortcuts]) button.disabled = state !== "ready";
      presets.forEach(({ when }, i) => { page.shortcuts[i].hidden = when ? !when() : false; });
      if (state === "ready") drawReady(); else { page.caption.textContent = t[state]; page.table.replaceChildren(); }
    }
    function drawReady() {
      Object.assign(view.ink, themeInk(page.root));
      drawing.update?.();
      const font = `13px ${getComputedStyle(page.root).fontFamily}`, caption = drawing.caption();
      for (const { panel, canvas } of page.panels) canvas.hidden = panel.when ? !panel.when() : false;
      for (const panel of page.panels.filter(({ canvas }) => !canvas.hidden)) { paint(panel, font); panel.announce(); }
      if (page.caption.textContent !== caption) page.caption.textContent = caption;
      if (!page.table.hidden) fillTable(page.table, drawing.table());
    }
    function openLink() {
      if (openAddress(scope, controls, view)) page.root.scrollIntoView({ block: "nearest" });
    }

    el.append(page.root);
    if (model.get("place")) { // a live view takes the place of the page form, whether that still waits or already stands
      page.root.dataset.live = model.get("place");
      document.getElementById(model.get("place"))?.replaceChildren();
    }
    page.root.dataset.lmSuppressShortcuts = "true"; // JupyterLab: arrow keys belong to the slider, not to the notebook
    page.root.addEventListener("keydown", event => { if (ARROWS[event.key]) event.stopPropagation(); }); // pages turn on arrows
    connectButtons({ page, name, scope, controls, t, view });
    // Controls follow a change at once, so that the next key already meets the new limits; the picture follows in one frame.
    const unwatch = watch({ model, controls, frame: page.frame, redraw: view.redraw, changed() { fitControls(); view.redraw(); } });
    if (host === "page") { openLink(); addEventListener("hashchange", openLink); }
    draw();
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("hashchange", openLink);
      unwatch();
      drawing.stop?.();
    };
  }

  /** Draws in the element with this id. With `wait`: after so many ms, and only if no live view stands in for it. */
  function mount(elementId, state, wait = 0) {
    const start = () => {
      if (document.querySelector(`[data-live="${elementId}"]`)) return;
      render({ model: plainModel(state), el: /** @type {HTMLElement} */ (document.getElementById(elementId)) });
    };
    if (wait) setTimeout(start, wait); else start();
  }
  return { render, mount };
}
