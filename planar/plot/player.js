// Draws the moving mechanism that planar has put into `data` on a canvas inside `root`, with play/pause, slider and keys.
//
// data: title, fps, clock [text], low [x, y], high [x, y], unit (m),
//       poses [[x, y, phi of every body, ground last], ...]           one entry per frame
//       parts [{layer, edge, fill, width, dash, closed, body, outlines}]   fixed in a body, local coordinates x0, y0, x1, y1, ...
//             [{layer, edge, fill, width, dash, closed, frames}]      outlines of every frame, global coordinates
//       traces [{name, color, path [x0, y0, ...], done [n], here [[x, y]]}]   whole path; per frame: numbers done, where it is
//
// Returns {show(k), play(), pause(), frame(), playing(), draw(), hidden}, hidden a Set of layers that are not drawn; on every
// new frame `root` gets the event "planarframe" with detail {frame}.
function planarPlayer(root, data) {
  const canvas = root.querySelector("canvas"), pen = canvas.getContext("2d");
  const button = root.querySelector("button"), slider = root.querySelector("input"), clock = root.querySelector("output");
  const count = data.poses.length;
  const hidden = new Set();
  let current = 0, playing = false, started = 0, origin = 0;

  function scale() {
    const width = data.high[0] - data.low[0], height = data.high[1] - data.low[1];
    const shown = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
    const tall = Math.min(shown * height / width, 0.75 * (window.innerHeight || 800));
    canvas.style.height = tall + "px";
    canvas.width = Math.round(shown * ratio);
    canvas.height = Math.round(tall * ratio);
    return Math.min(canvas.width / width, canvas.height / height);
  }

  function trail(outline, pose, closed) {
    const c = pose ? Math.cos(pose[2]) : 1, s = pose ? Math.sin(pose[2]) : 0, x = pose ? pose[0] : 0, y = pose ? pose[1] : 0;
    for (let i = 0; i < outline.length; i += 2) {
      const px = x + c * outline[i] - s * outline[i + 1], py = y + s * outline[i] + c * outline[i + 1];
      if (i) pen.lineTo(px, py); else pen.moveTo(px, py);
    }
    if (closed) pen.closePath();
  }

  function paint(part, outlines, pose, thin) {
    for (const outline of outlines) {
      pen.beginPath();
      trail(outline, pose, part.closed);
      if (part.fill) { pen.fillStyle = part.fill; pen.fill(); }
      if (part.edge) {
        pen.strokeStyle = part.edge;
        pen.lineWidth = part.width * thin;
        pen.setLineDash((part.dash || []).map(d => d * part.width * thin));
        pen.stroke();
      }
    }
  }

  function draw() {
    const k = scale();
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    const left = (canvas.width - k * (data.high[0] - data.low[0])) / 2;
    const bottom = (canvas.height + k * (data.high[1] - data.low[1])) / 2;
    pen.setTransform(k, 0, 0, -k, left - k * data.low[0], bottom + k * data.low[1]);
    pen.lineCap = pen.lineJoin = "round";
    const thin = Math.min(data.unit / 5, 1.6 * (window.devicePixelRatio || 1) / k);  // a width of 1 is a fifth of a pin's radius
    const poses = data.poses[current];
    for (const trace of data.traces) drawPath(trace, trace.path, 0.35, thin);
    for (const part of data.parts) {
      if (hidden.has(part.layer)) continue;
      if (part.frames) paint(part, part.frames[current], null, thin);
      else paint(part, part.outlines, poses.slice(3 * part.body, 3 * part.body + 3), thin);
    }
    for (const trace of data.traces) {
      const here = trace.here[current];
      drawPath(trace, trace.path.slice(0, trace.done[current]).concat(here), 1, thin);
      pen.fillStyle = trace.color;
      pen.beginPath();
      pen.arc(here[0], here[1], 3 * thin, 0, 2 * Math.PI);
      pen.fill();
    }
  }

  function drawPath(trace, path, alpha, thin) {
    pen.globalAlpha = alpha;
    pen.strokeStyle = trace.color;
    pen.lineWidth = 1.5 * thin;
    pen.setLineDash([]);
    pen.beginPath();
    trail(path, null, false);
    pen.stroke();
    pen.globalAlpha = 1;
  }

  function show(k) {
    current = ((Math.round(k) % count) + count) % count;
    slider.value = current;
    clock.textContent = data.clock[current];
    draw();
    root.dispatchEvent(new CustomEvent("planarframe", { detail: { frame: current } }));
  }

  function tick(now) {
    if (!playing) return;
    const k = origin + Math.floor((now - started) * data.fps / 1000);
    if (k % count !== current) show(k);
    requestAnimationFrame(tick);
  }

  function play() {
    if (playing) return;
    playing = true;
    button.textContent = "Pause";
    origin = current;
    started = performance.now();
    requestAnimationFrame(tick);
  }

  function pause() {
    playing = false;
    button.textContent = "Play";
  }

  function step(k) { pause(); show(k); }

  slider.max = count - 1;
  button.addEventListener("click", () => playing ? pause() : play());
  slider.addEventListener("input", () => step(Number(slider.value)));
  root.addEventListener("keydown", event => {
    const keys = { ArrowLeft: () => step(current - 1), ArrowRight: () => step(current + 1), Home: () => step(0), End: () => step(count - 1) };
    if (event.key === " " && event.target !== button) { playing ? pause() : play(); event.preventDefault(); }
    else if (keys[event.key]) { keys[event.key](); event.preventDefault(); }
  });
  window.addEventListener("resize", draw);
  show(0);
  return { show, play, pause, frame: () => current, playing: () => playing, draw, hidden };
}
