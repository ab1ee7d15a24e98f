/* The language switch, Korean words for scripts that bring none, and what file:// cannot do. */
"use strict";

(function () {
  const language = document.documentElement.lang;

  const remember = (code) => {
    try { localStorage.setItem("book-language", code); } catch { /* private window: nothing to remember */ }
  };

  /* ---- The same place in the other language --------------------------------------------------------
     Headings have other ids there but the same order, so the place is a heading's number and how far
     below it the window stands: #place-3.25 is a quarter of the way from the fourth heading to the next. */
  const headings = () => [...document.querySelectorAll("article.bd-article :is(h1, h2, h3)")];
  const topOf = (element) => element.getBoundingClientRect().top + window.scrollY;
  const line = () => window.innerHeight / 4; // where the eye is

  function marks() {
    const article = document.querySelector("article.bd-article");
    return article ? [...headings().map(topOf), article.getBoundingClientRect().bottom + window.scrollY] : [];
  }

  function currentPlace() {
    if (window.scrollY < 1) return 0;
    const tops = marks(), here = window.scrollY + line();
    let i = 0;
    while (i + 2 < tops.length && tops[i + 1] <= here) i += 1;
    const share = tops.length > 1 ? (here - tops[i]) / (tops[i + 1] - tops[i]) : 0;
    return i + Math.min(0.999, Math.max(0, share));
  }

  function goToPlace(place) {
    const tops = marks(), i = Math.min(Math.floor(place), tops.length - 2);
    if (i < 0) return;
    const y = tops[i] + (place - Math.floor(place)) * (tops[i + 1] - tops[i]);
    window.scrollTo({ top: y - line(), behavior: "instant" });
  }

  function arrive() {
    const match = /^#place-([\d.]+)$/.exec(location.hash);
    if (!match) return;
    const place = parseFloat(match[1]), heading = headings()[Math.floor(place)];
    const id = heading?.closest("section")?.id;
    const clean = location.pathname + location.search + (id && place >= 1 ? "#" + id : "");
    const settle = () => { goToPlace(place); history.replaceState(null, "", clean); goToPlace(place); };
    goToPlace(place);
    // Formulas and pictures change heights while the page loads: stand again when they are there.
    window.addEventListener("load", () => setFormulas().then(settle, settle));
  }

  /* ---- Formulas -------------------------------------------------------------------------------------
     Setting them takes a second of a phone's time, which a page that opens needs for itself: they are set
     when one comes near, when the reader moves, and before printing. */
  /** @type {Promise<void> | undefined} */
  let formulas;

  function setFormulas() {
    const address = document.querySelector("script[data-formulas]")?.getAttribute("data-formulas");
    formulas ??= !address ? Promise.resolve() : new Promise((done, failed) => {
      const engine = document.createElement("script");
      engine.addEventListener("load", () => MathJax?.startup?.promise.then(done, failed));
      engine.addEventListener("error", failed);
      engine.src = address;
      document.head.append(engine);
    });
    return formulas;
  }

  function setFormulasInTime() {
    const near = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      near.disconnect();
      setFormulas();
    }, { rootMargin: "50% 0px" });
    document.querySelectorAll("article .math").forEach((formula) => near.observe(formula));
    for (const event of ["scroll", "pointerdown", "keydown", "hashchange", "beforeprint"]) {
      window.addEventListener(event, () => setFormulas(), { once: true, passive: true });
    }
  }

  Object.assign(window, { setFormulas }); // for whoever looks at a page from outside, such as a printer

  document.addEventListener("DOMContentLoaded", () => {
    for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("a.language-switch"))) {
      link.addEventListener("click", () => {
        remember(link.dataset.language);
        const place = currentPlace();
        link.hash = place ? "place-" + place.toFixed(3) : "";
      });
    }
    arrive();
    setFormulasInTime();
    makeScrollersReachable();
  });

  /* ---- Wide tables, formulas and outputs scroll inside their own box, by keyboard too ------------- */
  function makeScrollersReachable() {
    const boxes = document.querySelectorAll("article pre, article .cell_output, article .pst-scrollable-table-container, article .table-scroll, article div.math, article .plot, article mjx-container[display=true]");
    const look = (box) => {
      const scrolls = box.scrollWidth > box.clientWidth + 1 || (box.scrollHeight > box.clientHeight + 1 && getComputedStyle(box).overflowY === "auto");
      if (scrolls) box.tabIndex = 0; else box.removeAttribute("tabindex");
    };
    const observer = new ResizeObserver((entries) => entries.forEach((entry) => look(entry.target)));
    boxes.forEach((box) => observer.observe(box));
  }

  /* ---- Terms with a meaning: Escape takes it away, leaving and coming back brings it again ------------ */
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const term of document.querySelectorAll("dfn.term:is(:hover, :focus)")) {
      term.classList.add("quiet");
      for (const left of ["pointerleave", "blur"]) term.addEventListener(left, () => term.classList.remove("quiet"), { once: true });
    }
  });

  /* ---- On paper nothing can be opened, and dark pages would waste ink --------------------------------- */
  window.addEventListener("beforeprint", () => {
    const closed = [...document.querySelectorAll("article details:not([open], .ledger-line)")], { theme } = document.documentElement.dataset;
    closed.forEach((details) => details.setAttribute("open", ""));
    document.documentElement.dataset.theme = "light";
    window.addEventListener("afterprint", () => {
      closed.forEach((details) => details.removeAttribute("open"));
      document.documentElement.dataset.theme = theme;
    }, { once: true });
  });

  /* ---- sphinx-copybutton knows no Korean --------------------------------------------------------- */
  if (language === "ko" && typeof messages !== "undefined") {
    messages.ko = { copy: "복사", copy_to_clipboard: "코드 복사", copy_success: "복사했다", copy_failure: "복사하지 못했다" };
    locale = "ko";
    iconCopy = iconCopy.replace(/<title>.*<\/title>/, "<title>코드 복사</title>");
    iconCheck = iconCheck.replace(/<title>.*<\/title>/, "<title>복사했다</title>");
  }

  /* ---- From file:// a page may not fetch its neighbours: results are listed without excerpts ------ */
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
})();
