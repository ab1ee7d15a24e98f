// The reader's own picture: from a file, dropped, pasted or taken; cut to a square. It never leaves the page.

const MOST_MEGAPIXELS = 50, SMALLEST_SIDE = 8, CROP_SIDE = 280;

/** A picture that can be drawn, turned upright as its camera says; of an animation the first image.
 *  @param {File | Blob} file @param {string} name @param {Record<string, any>} t @returns {Promise<HTMLImageElement>} */
async function openPicture(file, name, t) {
  if (file.type && !file.type.startsWith("image/")) throw new Error(t.notImage(name));
  const picture = make("img", { src: URL.createObjectURL(file) });
  try { await new Promise((done, fail) => Object.assign(picture, { onload: done, onerror: fail })); }
  catch { throw new Error(t.unreadable(name)); }
  finally { URL.revokeObjectURL(picture.src); }
  const { naturalWidth: width, naturalHeight: height } = picture, megapixels = width * height / 1e6;
  if (megapixels > MOST_MEGAPIXELS) throw new Error(t.tooLarge(name, Math.round(megapixels)));
  if (Math.min(width, height) < SMALLEST_SIDE) throw new Error(t.tooSmall(name));
  return picture;
}

/** 32 × 32 pixels of a square of a picture; what is transparent becomes white. Halved step by step, so that no pixel is skipped.
 *  @param {CanvasImageSource} source @param {{ x: number, y: number, side: number }} square */
function cutSquare(source, { x, y, side }) {
  let size = Math.min(1024, Math.max(WIDE, 2 ** Math.ceil(Math.log2(side)))), from = [source, x, y, side];
  for (;;) {
    const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size }), g = contextOf(canvas);
    g.imageSmoothingQuality = "high";
    g.fillStyle = "#fff";
    g.fillRect(0, 0, size, size);
    const [picture, left, top, length] = /** @type {[CanvasImageSource, number, number, number]} */ (from);
    g.drawImage(picture, left, top, length, length, 0, 0, size, size);
    if (size === WIDE) {
      const { data } = g.getImageData(0, 0, WIDE, WIDE);
      return Uint8ClampedArray.from({ length: 3 * WIDE * WIDE }, (_, i) => data[4 * Math.floor(i / 3) + i % 3]);
    }
    [from, size] = [[canvas, 0, 0, size], size / 2];
  }
}

/** Choosing the square: drag, arrow keys, a slider. @param {Record<string, any>} t @param {(pixels: Uint8ClampedArray) => void} use */
function cropper(t, use) {
  const canvas = make("canvas", { role: "img", "aria-label": t.cropLabel }), g = contextOf(canvas);
  const size = make("input", { type: "range", id: "studio-crop", min: 10, max: 100, value: 100 });
  const done = make("button", { type: "button" }, t.use), cancel = make("button", { type: "button" }, t.cancel);
  const element = make("div", { className: "st-crop", hidden: true }, canvas,
    make("div", { className: "ex-control" }, make("label", { htmlFor: "studio-crop" }, t.cropSize), size),
    make("div", { className: "ex-actions" }, done, cancel));
  /** @type {any} */
  let picture = null, wide = 0, high = 0, middle = [0.5, 0.5];

  function square() {
    const side = Math.max(1, Math.min(wide, high) * Number(size.value) / 100), within = (share, length) => Math.min(length - side, Math.max(0, share * length - side / 2));
    return { x: within(middle[0], wide), y: within(middle[1], high), side };
  }
  function draw() {
    const scale = CROP_SIDE / Math.max(wide, high), { x, y, side } = square();
    Object.assign(canvas, { width: Math.round(wide * scale), height: Math.round(high * scale) });
    g.drawImage(picture, 0, 0, canvas.width, canvas.height);
    g.fillStyle = "rgb(0 0 0 / 55%)";
    g.fillRect(0, 0, canvas.width, canvas.height);
    g.drawImage(picture, x, y, side, side, x * scale, y * scale, side * scale, side * scale);
    for (const [strokeStyle, lineWidth] of [["#000", 4], ["#fff", 2]]) {
      Object.assign(g, { strokeStyle, lineWidth });
      g.strokeRect(x * scale, y * scale, side * scale, side * scale);
    }
    announce();
  }
  const moveTo = (x, y) => { middle = [x, y].map(share => Math.min(1, Math.max(0, share))); draw(); };
  const announce = makePickable(canvas, {
    at: (x, y, width, height) => moveTo(x / width, y / height),
    move: (right, up) => moveTo(middle[0] + right / 50, middle[1] - up / 50),
    value: () => ({ now: Math.round(100 * middle[0]), max: 100, text: t.cropPlace(...middle.map(share => Math.round(100 * share))) }),
  });
  const close = () => { element.hidden = true; picture = null; };
  size.addEventListener("input", draw);
  cancel.addEventListener("click", close);
  done.addEventListener("click", () => { use(cutSquare(picture, square())); close(); });
  return {
    element,
    /** @param {CanvasImageSource} source @param {number} width @param {number} height */
    open(source, width, height) {
      [picture, wide, high, middle, element.hidden, size.value] = [source, width, height, [0.5, 0.5], false, "100"];
      draw();
      done.focus();
    },
  };
}

/** A camera's picture, taken when the reader says so. @param {Record<string, any>} t @param {(canvas: HTMLCanvasElement) => void} taken */
function cameraInput(t, taken) {
  const video = make("video", { muted: true, playsInline: true }), take = make("button", { type: "button" }, t.take), stop = make("button", { type: "button" }, t.close);
  const element = make("div", { className: "st-crop", hidden: true }, video, make("div", { className: "ex-actions" }, take, stop));
  function close() {
    for (const track of /** @type {MediaStream | null} */ (video.srcObject)?.getTracks() ?? []) track.stop();
    [video.srcObject, element.hidden] = [null, true];
  }
  take.addEventListener("click", () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: video.videoWidth, height: video.videoHeight });
    contextOf(canvas).drawImage(video, 0, 0);
    close();
    taken(canvas);
  });
  stop.addEventListener("click", close);
  return {
    element,
    async open() {
      if (!navigator.mediaDevices) throw new Error(t.noCamera); // a page from a disk, or not over https
      try { video.srcObject = await navigator.mediaDevices.getUserMedia({ video: { width: 640, height: 480 } }); }
      catch { throw new Error(t.noCamera); }
      element.hidden = false;
      await video.play();
    },
  };
}

/** The box of all ways to bring a picture; `use` gets its 32 × 32 pixels, `tray` stands with the buttons.
 *  @param {Record<string, any>} t @param {(pixels: Uint8ClampedArray) => void} use @param {HTMLElement[]} tray */
function buildInput(t, use, tray) {
  const status = make("p", { className: "ex-status", role: "status" }), crop = cropper(t, use);
  const camera = cameraInput(t, canvas => crop.open(canvas, canvas.width, canvas.height));
  const file = make("input", { type: "file", accept: "image/*", hidden: true, "aria-hidden": "true" });
  const own = make("button", { type: "button" }, t.own), shoot = make("button", { type: "button" }, t.camera);
  const element = make("div", { className: "explorer st-input" },
    make("div", { className: "ex-actions" }, own, shoot, file, ...tray), make("p", { className: "ex-status" }, t.hint), status, crop.element, camera.element);

  const trying = async work => {
    status.textContent = "";
    try { await work(); } catch (error) { status.textContent = /** @type {Error} */ (error).message; }
  };
  const open = (given, name) => trying(async () => {
    if (!given) throw new Error(t.noPicture);
    const picture = await openPicture(given, name, t);
    crop.open(picture, picture.naturalWidth, picture.naturalHeight);
  });
  own.addEventListener("click", () => file.click());
  shoot.addEventListener("click", () => trying(camera.open));
  file.addEventListener("change", () => { if (file.files?.length) open(file.files[0], file.files[0].name); file.value = ""; });
  document.addEventListener("paste", event => {
    const pasted = [...event.clipboardData?.files ?? []][0];
    if (pasted) open(pasted, t.pasted);
  });
  const place = /** @type {HTMLElement} */ (document.getElementById("studio"));
  place.addEventListener("dragover", event => event.preventDefault());
  place.addEventListener("drop", event => {
    event.preventDefault();
    const dropped = event.dataTransfer?.files[0];
    open(dropped, dropped?.name ?? "");
  });
  return element;
}
