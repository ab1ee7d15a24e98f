/* Predict first: a card stays closed until the reader has guessed. Everything is kept in this browser and nowhere else. */
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const ON = "book-guess", GUESSES = "book-guesses";
  const STRINGS = {
    en: {
      mode: "Guess before you look", off: "Cards stay closed until you have said what you expect.",
      holds: "Does the trained network meet this?", random: "And would random weights?",
      answers: { holds: "it holds", fails: "it fails", yes: "yes, they too", no: "no" }, look: "Look",
      right: "right", wrong: "wrong", between: "in between, not counted", said: "Your guess",
      score: "Your guesses", chapter: "Chapter", points: "right", total: "All", none: "No guess yet.", forget: "Forget my guesses",
      of: (points, all) => `${points} of ${all}`,
    },
    ko: {
      mode: "먼저 맞혀 보기", off: "예상을 말하기 전에는 카드가 열리지 않는다.",
      holds: "학습한 신경망은 이 기준을 충족할까?", random: "무작위 가중치도 그럴까?",
      answers: { holds: "성립한다", fails: "성립하지 않는다", yes: "그렇다", no: "아니다" }, look: "확인",
      right: "맞음", wrong: "틀림", between: "그 사이라서 세지 않음", said: "내 예상",
      score: "맞힌 점수", chapter: "장", points: "맞힘", total: "모두", none: "아직 맞혀 본 것이 없다.", forget: "기록 지우기",
      of: (points, all) => `${all}개 가운데 ${points}개`,
    },
  };
  const lang = document.documentElement.lang === "ko" ? "ko" : "en";
  const words = STRINGS[lang];
  const cards = /** @type {any[]} */ ([...document.querySelectorAll(".claim[data-claim]")]);
  const memory = {}; // where nothing can be stored, the page itself remembers

  const read = (key) => { try { return localStorage.getItem(key); } catch { return memory[key] ?? null; } };
  const write = (key, value) => { memory[key] = value; try { localStorage.setItem(key, value); } catch { /* a private window */ } };
  const isOn = () => read(ON) === "on";
  const guesses = () => { try { return JSON.parse(read(GUESSES)) ?? {}; } catch { return {}; } };
  const visible = (element) => !element.closest(".bi, .claim-text") || element.closest(".bi, .claim-text").lang === lang;

  function make(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  /* ---- A guess ------------------------------------------------------------------------------------- */

  /** Whether a guess was right: true or false, null where it does not count. */
  function judged(card, guess) {
    const { verdict, control } = card.dataset;
    const holds = verdict === "holds" || verdict === "fails" ? guess.holds === verdict : null;
    return { holds, random: control === "none" ? null : guess.random === control };
  }

  function question(card, name, options) {
    const choices = options.map((value) => make("label", {},
      make("input", { type: "radio", name: `${card.id}-${name}`, value, required: true }), " ", words.answers[value]));
    return make("fieldset", {}, make("legend", { textContent: words[name] }), ...choices);
  }

  function ask(card) {
    const text = card.querySelector(`.claim-text[lang="${lang}"]`);
    const form = make("form", { className: "guess-form" }, question(card, "holds", ["holds", "fails"]));
    if (card.dataset.control !== "none") form.append(question(card, "random", ["yes", "no"]));
    form.append(make("button", { textContent: words.look }));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const chosen = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name.replace(`${card.id}-`, ""), value]));
      const right = Object.values(judged(card, chosen)).filter((one) => one !== null);
      write(GUESSES, JSON.stringify({ ...guesses(), [card.dataset.claim]:
        { ...chosen, chapter: card.dataset.chapter, points: right.filter(Boolean).length, of: right.length } }));
      show();
      const outcome = text.querySelector(".guess-said");
      outcome.tabIndex = -1;
      outcome.focus();
    });
    text.querySelector(".claim-answer").before(form);
  }

  function answer(card, guess) {
    const right = judged(card, guess);
    const said = ["holds", "random"].filter((name) => guess[name]).map((name) =>
      `${words.answers[guess[name]]} (${right[name] === null ? words.between : words[right[name] ? "right" : "wrong"]})`);
    card.querySelector(`.claim-text[lang="${lang}"] .claim-answer`).prepend(
      make("p", { className: "guess-said", textContent: `${words.said}: ${said.join(" · ")}` }));
  }

  /* ---- The page ------------------------------------------------------------------------------------ */

  function show() {
    const on = isOn(), known = guesses();
    document.querySelectorAll(".guess-form, .guess-said").forEach((element) => element.remove());
    for (const element of /** @type {any} */ (document.querySelectorAll("[data-claim]")))
      element.toggleAttribute("data-closed", on && !known[element.dataset.claim]);
    hideTitles();
    for (const card of cards.filter((one) => on && one.dataset.chapter)) {
      if (known[card.dataset.claim]) answer(card, known[card.dataset.claim]); else ask(card);
    }
    document.querySelectorAll(".guess-score").forEach((place) => score(/** @type {HTMLElement} */ (place), known, on));
    for (const place of /** @type {any} */ (document.querySelectorAll(".guess-switch"))) {
      place.querySelector("input").checked = on;
      place.querySelector(".guess-points").textContent = on ? ` · ${sum(Object.values(known))}` : "";
    }
  }

  /** What a mark says when one points at it would give the answer away. */
  function hideTitles() {
    for (const cell of /** @type {any} */ (document.querySelectorAll(".map-cell[data-claim]"))) {
      cell.dataset.label ??= cell.title;
      const text = cell.hasAttribute("data-closed") ? cell.dataset.claim : cell.dataset.label;
      cell.title = text;
      cell.setAttribute("aria-label", text);
    }
  }

  function sum(found) {
    return words.of(found.reduce((all, one) => all + one.points, 0), found.reduce((all, one) => all + one.of, 0));
  }

  function score(place, known, on) {
    const chapters = [...new Set(Object.values(known).map((one) => one.chapter))].sort();
    place.hidden = !on && !chapters.length;
    const row = (name, found) => make("tr", {}, make("th", { scope: "row", textContent: name }), make("td", { textContent: sum(found) }));
    const body = chapters.map((chapter) => row(String(Number(chapter)), Object.values(known).filter((one) => one.chapter === chapter)));
    const head = make("thead", {}, make("tr", {}, make("th", { scope: "col", textContent: words.chapter }), make("th", { scope: "col", textContent: words.points })));
    const table = make("table", {}, make("caption", { textContent: words.score }), head,
      make("tbody", {}, ...body, row(words.total, Object.values(known))));
    const forget = make("button", { type: "button", textContent: words.forget });
    forget.addEventListener("click", () => { write(GUESSES, "{}"); show(); });
    place.replaceChildren(...(chapters.length ? [table, forget] : [make("p", { textContent: `${words.score}: ${words.none}` })]));
  }

  function addSwitch(before) {
    const input = make("input", { type: "checkbox" });
    input.setAttribute("role", "switch");
    input.addEventListener("change", () => { write(ON, input.checked ? "on" : "off"); show(); });
    before.before(make("div", { className: "guess-switch" }, make("label", { title: words.off }, input, " ", words.mode),
      make("span", { className: "guess-points" })));
  }

  const first = [...document.querySelectorAll(".claim[data-chapter], .guess-score")].find(visible);
  if (first) addSwitch(first);
  window.addEventListener("storage", show);
  show();
});
