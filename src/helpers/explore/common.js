// What every explorer shares. Python joins drawing.js, this file and the explorer's own files (see base.py): nothing is imported.
// An explorer ends with:  const explorer = defineExplorer({ name, strings, controls, setup });  export default explorer;
//
//   strings    { en: { title, … }, ko: { title, … } }
//   controls   t => [slider({ key, label, values, text }), button({ key, label, next }), …], one for each state key
//   setup      view => ({ panels, caption, table, update, stop })
//     panels   [{ label, wide, height: width => px, draw(g, width, height), pick }]; pick makes it clickable, see makePickable
//     caption  () => a sentence or two with the numbers now
//     table    () => ({ head: [text], rows: [[text]], current: row index })
//     update   () => called before each drawing, for numbers that depend on the state (optional)
//     stop     () => called when the view goes away (optional)
//   view       { t, ink, get(key), set({ key: value }), redraw() }; t: strings in the reader's language, ink: colours of the theme

const WORDS = {
  en: { show: "Show the numbers", hide: "Hide the numbers", save: "Save picture", link: "Copy link", copied: "Link copied",
    inBar: "The link is in the address bar" },
  ko: { show: "수치 보기", hide: "수치 숨기기", save: "그림 저장", link: "링크 복사", copied: "링크 복사됨",
    inBar: "링크는 주소 표시줄에 있음" },
};

// --- small tools ----------------------------------------------------------------------------------------------------

/** An element with properties or attributes; children that are text stay text, so data is never read as HTML. */
function make(tag, settings = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(settings)) {
    if (key in element && key !== "list") element[key] = value; else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** A number with a true minus sign, never "−0.000". */
function fixed(value, digits = 3) {
  const text = Math.abs(value).toFixed(digits);
  return (value < 0 && Number(text) > 0 ? "−" : "") + text;
}

/** Index of the value closest to `value`. */
const nearest = (values, value) => values.reduce((best, v, i) => Math.abs(v - value) < Math.abs(values[best] - value) ? i : best, 0);

/** Array packed by `pack` in base.py → { shape, at(flat index) }; its bytes are a DataView (live) or base64 (page). */
function unpack({ data, shape, low, step }) {
  const bytes = typeof data === "string" ? Uint8Array.from(atob(data), c => c.charCodeAt(0))
    : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return { shape, at: index => low + step * bytes[index] };
}

/** The part of a widget model that explorers use, without a kernel. */
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

// --- controls: `accept` turns the text of a share link into a value, or undefined -----------------------------------

/** A slider over a list of numbers. */
function slider({ key, label, values, text = String }) {
  const whole = values.every(Number.isInteger), low = values[0], high = values.at(-1);
  return {
    key,
    accept(input) {
      const value = whole ? Math.round(Number(input)) : Number(input);
      return input.trim() && Number.isFinite(value) ? Math.min(high, Math.max(low, value)) : undefined;
    },
    build(view, id) {
      const input = make("input", { type: "range", id, min: 0, max: values.length - 1, step: 1 });
      const output = make("span", { className: "ex-value", "aria-hidden": "true" }); // the slider announces it already
      input.addEventListener("input", () => view.set({ [key]: values[input.value] }));
      return {
        element: make("div", { className: "ex-control" }, make("label", { htmlFor: id }, label), output, input),
        update() {
          const value = view.get(key);
          input.value = nearest(values, value);
          input.setAttribute("aria-valuetext", text(value));
          output.textContent = text(value);
        },
      };
    },
  };
}

/** A button that replaces a whole number by `next` of it; it stands with the other buttons below the picture. */
function button({ key, label, next }) {
  return {
    key,
    accept: input => /^\d{1,9}$/.test(input) ? Number(input) : undefined,
    build(view) {
      const element = make("button", { type: "button" }, label);
      element.addEventListener("click", () => view.set({ [key]: next(view.get(key)) }));
      return { element, below: true, update() {} };
    },
  };
}

// --- share links: #cka_bias.n=128&cka_bias.p=1024; a second explorer of the name on a page is cka_bias-2 ------------

function linkScope(name) {
  const others = document.querySelectorAll(`.explorer[data-explorer="${name}"]`).length;
  return others ? `${name}-${others + 1}` : name;
}

/** Values of one explorer in the address; other explorers and ordinary anchors are left alone. */
function valuesInAddress(scope, controls) {
  const address = new URLSearchParams(location.hash.slice(1)), values = {};
  for (const { key, accept } of controls) {
    const text = address.get(`${scope}.${key}`), value = text === null ? undefined : accept(text);
    if (value !== undefined) values[key] = value;
  }
  return values;
}

// --- the view -------------------------------------------------------------------------------------------------------

/** The reader's language: set in Python, else that of the page, else that of the browser (a notebook has none). */
function language(model, host) {
  const page = host === "page" ? document.documentElement.lang : "";
  return (model.get("lang") || page || navigator.language).startsWith("ko") ? "ko" : "en";
}

function themeInk(element) {
  const style = getComputedStyle(element), names = ["text", "muted", "line", "paper", "first", "second"];
  return Object.fromEntries(names.map(name => [name, style.getPropertyValue(`--ex-${name}`).trim()]));
}

/** The elements of an explorer, by the names that drawing and events use. */
function buildParts({ name, lang, t, view, controls, panels, sharing }) {
  const id = `ex-${Math.random().toString(36).slice(2, 9)}`, push = (text, more) => make("button", { type: "button", ...more }, text);
  const inputs = controls.map((control, i) => control.build(view, `${id}-${i}`));
  const elements = below => inputs.filter(input => Boolean(input.below) === below).map(input => input.element);
  const canvases = panels.map(panel => make("canvas",
    { className: panel.wide ? "ex-wide" : "", role: "img", "aria-label": panel.label, "aria-describedby": `${id}-caption` }));
  const parts = {
    inputs,
    panels: panels.map((panel, i) => ({ panel, canvas: canvases[i], announce: panel.pick ? makePickable(canvases[i], panel.pick) : () => {} })),
    frame: make("div", { className: "ex-panels" }, ...canvases),
    caption: make("p", { className: "ex-caption", id: `${id}-caption`, "aria-live": "polite" }),
    tableButton: push(t.show, { "aria-expanded": "false", "aria-controls": `${id}-table` }),
    saveButton: push(t.save),
    linkButton: push(t.link, { hidden: !sharing }),
    status: make("span", { className: "ex-status", role: "status" }),
    table: make("div", { className: "ex-table", id: `${id}-table`, role: "region", "aria-label": t.title, tabIndex: 0, hidden: true }),
  };
  parts.root = make("div", { className: "explorer", role: "group", lang, "aria-labelledby": `${id}-title`, "data-explorer": name },
    make("p", { className: "ex-title", id: `${id}-title` }, t.title),
    make("div", { className: "ex-controls" }, ...elements(false)),
    parts.frame, parts.caption,
    make("div", { className: "ex-actions" }, ...elements(true), parts.tableButton, parts.saveButton, parts.linkButton, parts.status),
    parts.table);
  return parts;
}

function fillTable(place, { head, rows, current }) {
  const cells = (texts, tag, settings) => make("tr", settings, ...texts.map(text => make(tag, tag === "th" ? { scope: "col" } : {}, text)));
  const body = rows.map((row, i) => cells(row, "td", i === current ? { "aria-current": "true" } : {}));
  place.replaceChildren(make("table", {}, make("thead", {}, cells(head, "th")), make("tbody", {}, ...body)));
}

function connectButtons({ parts, drawing, name, scope, controls, t, view }) {
  parts.tableButton.addEventListener("click", () => {
    parts.table.hidden = !parts.table.hidden;
    parts.tableButton.setAttribute("aria-expanded", !parts.table.hidden);
    parts.tableButton.textContent = parts.table.hidden ? t.show : t.hide;
    view.redraw();
  });
  parts.saveButton.addEventListener("click", () => {
    const fontFamily = getComputedStyle(parts.root).fontFamily;
    picture({ ...parts, title: t.title, caption: drawing.caption(), ink: view.ink, fontFamily }).toBlob(blob => {
      const link = make("a", { href: URL.createObjectURL(blob), download: `${name}.png` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
  });
  parts.linkButton.addEventListener("click", async () => {
    history.replaceState(null, "", `#${controls.map(({ key }) => `${scope}.${key}=${view.get(key)}`).join("&")}`);
    try { await navigator.clipboard.writeText(location.href); parts.status.textContent = t.copied; }
    catch { parts.status.textContent = t.inBar; } // no clipboard here, but the address is right
  });
}

/** Calls `redraw` when the state, the width or the theme changes; returns what ends that. */
function watch({ model, controls, frame, redraw }) {
  const width = new ResizeObserver(redraw), theme = new MutationObserver(redraw), dark = matchMedia("(prefers-color-scheme: dark)");
  width.observe(frame);
  for (const node of [document.documentElement, document.body]) theme.observe(node, { attributes: true });
  dark.addEventListener("change", redraw);
  for (const { key } of controls) model.on(`change:${key}`, redraw);
  return () => {
    width.disconnect();
    theme.disconnect();
    dark.removeEventListener("change", redraw);
    for (const { key } of controls) model.off(`change:${key}`, redraw);
  };
}

/** One explorer → { render: for a live kernel, mount: for a page without one }. */
function defineExplorer({ name, strings, controls: listControls, setup }) {
  function render({ model, el }) {
    const host = model.get("host") ?? "notebook", lang = language(model, host), t = { ...WORDS[lang], ...strings[lang] };
    const controls = listControls(t), scope = linkScope(name);
    let frame = 0;
    const view = {
      t, ink: {}, get: key => model.get(key),
      set(values) { for (const [key, value] of Object.entries(values)) model.set(key, value); model.save_changes(); },
      redraw: () => { frame ||= requestAnimationFrame(draw); },
    };
    const drawing = setup(view);
    const parts = buildParts({ name, lang, t, view, controls, panels: drawing.panels, sharing: host === "page" });
    function draw() {
      frame = 0;
      drawing.update?.();
      Object.assign(view.ink, themeInk(parts.root));
      const font = `13px ${getComputedStyle(parts.root).fontFamily}`, caption = drawing.caption();
      for (const input of parts.inputs) input.update();
      for (const panel of parts.panels) { paint(panel, font); panel.announce(); }
      if (parts.caption.textContent !== caption) parts.caption.textContent = caption;
      if (!parts.table.hidden) fillTable(parts.table, drawing.table());
    }
    function openLink() {
      const values = valuesInAddress(scope, controls);
      if (Object.keys(values).length === 0) return;
      view.set(values);
      parts.root.scrollIntoView({ block: "nearest" });
    }

    el.append(parts.root);
    if (model.get("place")) { // a live view takes the place of the page form, whether that still waits or already stands
      parts.root.dataset.live = model.get("place");
      document.getElementById(model.get("place"))?.replaceChildren();
    }
    parts.root.dataset.lmSuppressShortcuts = "true"; // JupyterLab: arrow keys belong to the slider, not to the notebook
    parts.root.addEventListener("keydown", event => { if (ARROWS[event.key]) event.stopPropagation(); }); // pages turn on arrows
    connectButtons({ parts, drawing, name, scope, controls, t, view });
    const unwatch = watch({ model, controls, frame: parts.frame, redraw: view.redraw });
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
      render({ model: plainModel(state), el: document.getElementById(elementId) });
    };
    if (wait) setTimeout(start, wait); else start();
  }
  return { render, mount };
}
