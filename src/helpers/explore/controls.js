// Controls. Each belongs to one key of the state and has
//   accept(text)   the text of a share link → a value, or undefined
//   fit(value)     the nearest value that is possible now (optional)
//   build(view, id) → { element, update(), below }   (optional; a key without it is moved by picking in a panel)
// Lists may be functions, for options that depend on the data or on other keys; `when` () => boolean hides a control.

/** @template T @param {Listed<T>} list @returns {T[]} */
const listed = list => typeof list === "function" ? list() : list;

/** A slider over a list of numbers; with `between` its value may also lie between them (whole, if all of them are).
 *  @param {{ key: string, label: string, values: Listed<number>, text?: (value: any) => string, between?: boolean, when?: () => boolean }} settings
 *  @returns {Control} */
function slider({ key, label, values, text = String, between = false, when = () => true }) {
  /** @param {number} value */
  function fit(value) {
    const list = listed(values);
    if (!between) return list[nearest(list, value)];
    return Math.min(list[list.length - 1], Math.max(list[0], list.every(Number.isInteger) ? Math.round(value) : value));
  }
  return {
    key, fit,
    accept: input => input.trim() && Number.isFinite(Number(input)) ? fit(Number(input)) : undefined,
    build(view, id) {
      const input = make("input", { type: "range", id, min: 0, step: 1 });
      const output = make("span", { className: "ex-value", "aria-hidden": "true" }); // the slider announces it already
      const element = make("div", { className: "ex-control" }, make("label", { htmlFor: id }, label), output, input);
      input.addEventListener("input", () => view.set({ [key]: listed(values)[Number(input.value)] }));
      return {
        element,
        update() {
          const value = view.get(key), list = listed(values);
          element.hidden = !when();
          input.max = String(list.length - 1);
          input.value = String(nearest(list, value));
          input.setAttribute("aria-valuetext", text(value));
          output.textContent = text(value);
        },
      };
    },
  };
}

/** What `choice` and `tabs` share. @param {string} key @param {Listed<Option>} options @returns {Control} */
const oneOf = (key, options) => ({
  key,
  accept: input => listed(options).find(([value]) => String(value) === input)?.[0],
  fit: value => listed(options).some(([v]) => v === value) ? value : listed(options)[0][0],
});

/** A list to choose from; `more(value)` → what else changes with it.
 *  @param {{ key: string, label: string, options: Listed<Option>, when?: () => boolean, more?: (value: any) => Record<string, any> }} settings
 *  @returns {Control} */
function choice({ key, label, options, when = () => true, more = () => ({}) }) {
  return {
    ...oneOf(key, options),
    build(view, id) {
      const select = make("select", { id }), element = make("div", { className: "ex-control" }, make("label", { htmlFor: id }, label), select);
      let shown = "";
      select.addEventListener("change", () => {
        const value = listed(options)[select.selectedIndex][0], others = more(value); // as long as the old value stands
        view.set({ [key]: value, ...others });
      });
      return {
        element,
        update() {
          const list = listed(options), now = JSON.stringify(list);
          element.hidden = !when();
          if (shown !== now) select.replaceChildren(...list.map(([, text]) => make("option", {}, text)));
          shown = now;
          select.selectedIndex = list.findIndex(([value]) => value === view.get(key));
        },
      };
    },
  };
}

/** A few options that are all in sight, as radio buttons in a row; the same at all times.
 *  @param {{ key: string, label: string, options: Listed<Option>, when?: () => boolean }} settings @returns {Control} */
function tabs({ key, label, options, when = () => true }) {
  return {
    ...oneOf(key, options),
    build(view, id) {
      const inputs = listed(options).map(([value], i) => {
        const input = make("input", { type: "radio", name: id, id: `${id}-${i}` });
        input.addEventListener("change", () => view.set({ [key]: value }));
        return input;
      });
      const element = make("div", { className: "ex-control", role: "radiogroup", "aria-labelledby": `${id}-name` },
        make("span", { id: `${id}-name`, className: "ex-name" }, label),
        make("div", { className: "ex-tabs" }, ...inputs.map((input, i) => make("label", {}, input, make("span", {}, listed(options)[i][1])))));
      return {
        element,
        update() {
          element.hidden = !when();
          inputs.forEach((input, i) => { input.checked = listed(options)[i][0] === view.get(key); });
        },
      };
    },
  };
}

/** A whole number below count() that the reader moves by picking in a panel.
 *  @param {{ key: string, count: () => number }} settings @returns {Control} */
function picked({ key, count }) {
  return {
    key,
    accept: input => /^\d{1,9}$/.test(input) && Number(input) < count() ? Number(input) : undefined,
    fit: value => Math.max(0, Math.min(value, count() - 1)),
  };
}

/** A button that replaces a whole number by `next` of it; it stands with the other buttons below the picture.
 *  @param {{ key: string, label: string, next: (value: number) => number }} settings @returns {Control} */
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
