// The report: cursors of all charts, the values in their legends and the free bodies follow the player.
// Nothing here writes HTML: names reach the page as text only.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.getElementById("player");
  const last = data.film.poses.length - 1;

  // --- drawing ------------------------------------------------------------------------------------------------------

  function add(parent, tag, attributes) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const name in attributes) node.setAttribute(name, attributes[name]);
    return parent.appendChild(node);
  }

  // the same four digits as in the tables
  function number(x) {
    if (x === null) return "-";
    const size = Math.abs(x);
    if (size === 0) return "0";
    if (size >= 1e-3 && size < 1e5) return x.toFixed(Math.max(0, 3 - Math.floor(Math.log10(size))));
    return x.toExponential(3).replace("e+", "e");
  }

  // an arrow from (x, y) along (dx, dy), as the d of a path; none where it is too short to see
  function arrow(x, y, dx, dy) {
    const length = Math.hypot(dx, dy);
    if (length < 1.5) return "";
    const ux = dx / length, uy = dy / length, head = Math.min(9, 0.7 * length), wide = 0.42 * head;
    const tx = x + dx, ty = y + dy, bx = tx - head * ux, by = ty - head * uy;
    return `M${x} ${y}L${bx} ${by}M${tx} ${ty}L${bx - wide * uy} ${by + wide * ux}L${bx + wide * uy} ${by - wide * ux}Z`;
  }

  // a turning arrow around (x, y), counter-clockwise for a positive couple: from below right over the top to the left
  function turn(x, y, couple, r) {
    const s = couple > 0 ? 1 : -1;
    return [`M${x + s * 0.7 * r} ${y + 0.7 * r}A${r} ${r} 0 1 ${s > 0 ? 0 : 1} ${x - s * r} ${y}`, `M${x - s * r} ${y + 7}l-4.5 -9l9 0Z`];
  }

  // --- charts -------------------------------------------------------------------------------------------------------

  const WIDTH = 520, LEFT = 58, RIGHT = 12;  // of a chart over time, see charts.py
  const charts = [];
  for (const svg of document.querySelectorAll("figure > svg")) {
    const time = svg.parentNode.classList.contains("time");
    const cursor = add(svg, "line", time ? { class: "cursor", y1: 10, y2: 174 } : { class: "cursor", x1: 110, y1: 110 });
    const curves = [...svg.querySelectorAll("polyline")].map(line => ({
      points: line.getAttribute("points").split(" ").map(pair => pair.split(",").map(Number)),
      dot: add(svg, "circle", { class: "dot", r: 3.5, stroke: line.getAttribute("stroke") }),
    }));
    charts.push({ cursor, curves, time });
    if (time) scrub(svg);
  }
  const values = [...document.querySelectorAll("output[data-series]")].map(node => ({ node, series: data.series[node.dataset.series] }));

  // press or drag on a chart over time: the player goes there
  function scrub(svg) {
    function go(event) {
      const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) / box.width * WIDTH;
      player.pause();
      player.show(Math.round(Math.min(1, Math.max(0, (x - LEFT) / (WIDTH - LEFT - RIGHT))) * last));
    }
    svg.addEventListener("pointerdown", event => { svg.setPointerCapture(event.pointerId); go(event); });
    svg.addEventListener("pointermove", event => { if (svg.hasPointerCapture(event.pointerId)) go(event); });
  }

  function moveCursors(k) {
    const low = data.low[k], w = data.weight[k];
    for (const { cursor, curves, time } of charts) {
      for (const { points, dot } of curves) {
        const a = points[low], b = points[Math.min(low + 1, points.length - 1)];
        const x = (1 - w) * a[0] + w * b[0], y = (1 - w) * a[1] + w * b[1];
        dot.setAttribute("cx", x);
        dot.setAttribute("cy", y);
        if (time) cursor.setAttribute("x1", x);
        cursor.setAttribute("x2", x);
        if (!time) cursor.setAttribute("y2", y);
      }
    }
    for (const { node, series } of values) node.textContent = number(series[k]);
  }

  // --- free bodies --------------------------------------------------------------------------------------------------

  const CENTER = 140, BODY = 82, ARROW = 48;  // of a diagram: centre, half the size of the body, longest arrow
  const bodies = [...document.querySelectorAll("article.body")].map(article => {
    const body = data.bodies[Number(article.dataset.body)];
    const diagram = article.querySelector(".diagram"), polygon = article.querySelector(".polygon");
    const parts = data.film.parts.filter(part => part.layer === "body" && part.outlines && part.body === body.body);
    const reach = Math.max(1e-12, ...parts.flatMap(part => part.outlines.map(furthest)),
      ...body.terms.map(term => Math.hypot(term[last + 1][0] - body.pose[last + 1][0], term[last + 1][1] - body.pose[last + 1][1])));
    const scale = BODY / reach, shape = add(diagram, "g", {});
    for (const part of parts) {
      for (const outline of part.outlines) {
        const d = outline.map((x, i) => (i % 2 ? "" : i ? "L" : "M") + (i % 2 ? -1 : 1) * scale * x).join(" ") + (part.closed ? "Z" : "");
        add(shape, "path", { d, fill: part.fill || "none", stroke: part.edge || "none", "stroke-width": 1.2 });
      }
    }
    add(diagram, "circle", { cx: CENTER, cy: CENTER, r: 3.5, fill: "#1d2330" });
    const arrows = body.kinds.map((kind, n) => ({
      force: add(diagram, "path", { class: `arrow ${kind}-force` }),
      arc: add(diagram, "path", { class: `arrow ${kind}-force arc` }),
      head: add(diagram, "path", { class: `arrow ${kind}-force` }),
      side: add(polygon, "path", { class: `arrow ${kind}-force` }),
      tag: Object.assign(add(diagram, "text", { class: "tag" }), { textContent: n + 1 }),
    }));
    return { body, shape, scale, arrows, rows: [...article.querySelectorAll("tbody tr")].map(row => [...row.cells]) };
  });

  function furthest(outline) {
    let most = 0;
    for (let i = 0; i < outline.length; i += 2) most = Math.max(most, Math.hypot(outline[i], outline[i + 1]));
    return most;
  }

  function drawBody({ body, shape, scale, arrows, rows }, k) {
    const [cx, cy, phi] = body.pose[k];
    shape.setAttribute("transform", `translate(${CENTER} ${CENTER}) rotate(${-phi * 180 / Math.PI})`);
    const terms = body.terms.map(term => term[k]);
    const largest = Math.max(1e-300, ...terms.map(term => Math.hypot(term[2], term[3])));
    const tall = Math.max(...terms.map(term => Math.abs(term[4])));
    const tags = [], arcs = [];  // what is drawn already
    terms.forEach(([x, y, fx, fy, couple], n) => {
      const px = CENTER + scale * (x - cx), py = CENTER - scale * (y - cy), dx = ARROW * fx / largest, dy = -ARROW * fy / largest;
      const length = Math.hypot(dx, dy), turns = Math.abs(couple) > 1e-3 * tall && Math.abs(couple) > 1e-6 * largest / scale;
      const { force, arc, head, tag } = arrows[n];
      const r = 12 + 6 * arcs.filter(([a, b]) => Math.hypot(a - px, b - py) < 20).length;
      const [line, tip] = turns ? turn(px, py, couple, r) : ["", ""];
      if (turns) arcs.push([px, py]);
      force.setAttribute("d", arrow(px, py, dx, dy));
      arc.setAttribute("d", line);
      head.setAttribute("d", tip);
      const shown = length >= 4, [ux, uy] = shown ? [dx / length, dy / length] : [0.7, -0.7];
      tag.setAttribute("visibility", shown || turns ? "visible" : "hidden");
      place(tag, tags, px, py, ux, uy, shown ? length + 9 : r + 7);
    });
    drawPolygon(terms, arrows);
    if (!begun) return;  // the page already holds the numbers of the chosen sample
    terms.forEach(([x, y, fx, fy, , m], n) => fill(rows[n], [x, y, fx, fy, m], 2));
    fill(rows[terms.length], body.sum[k], 4);
  }

  // a number at this distance from (x, y), or further away where others are
  function place(tag, tags, x, y, ux, uy, distance) {
    if (tag.getAttribute("visibility") === "hidden") return;
    while (tags.some(([a, b]) => Math.hypot(a - x - distance * ux, b - y - distance * uy) < 11)) distance += 6;
    tags.push([x + distance * ux, y + distance * uy]);
    tag.setAttribute("x", x + distance * ux);
    tag.setAttribute("y", y + distance * uy + 4);
  }

  function fill(cells, numbers, first) {
    numbers.forEach((x, i) => { cells[first + i].textContent = number(x); });
  }

  // the forces head to tail, as large as the drawing allows
  function drawPolygon(terms, arrows) {
    const path = [[0, 0]];
    for (const [, , fx, fy] of terms) path.push([path[path.length - 1][0] + fx, path[path.length - 1][1] - fy]);
    const [x, y] = [0, 1].map(i => path.map(p => p[i]));
    const middle = [x, y].map(v => (Math.max(...v) + Math.min(...v)) / 2);
    const scale = 128 / Math.max(1e-300, Math.max(...x) - Math.min(...x), Math.max(...y) - Math.min(...y));
    terms.forEach((term, n) => arrows[n].side.setAttribute("d", arrow(80 + scale * (x[n] - middle[0]), 80 + scale * (y[n] - middle[1]),
      scale * (x[n + 1] - x[n]), scale * (y[n + 1] - y[n]))));
  }

  // --- all together -------------------------------------------------------------------------------------------------

  const instant = document.getElementById("instant"), clock = data.film.clock;
  let begun = false;
  root.addEventListener("planarframe", event => {
    const k = event.detail.frame;
    moveCursors(k);
    for (const body of bodies) drawBody(body, begun ? k : last + 1);  // first the chosen sample, which has a place of its own
    if (instant) instant.textContent = begun ? clock[k] : data.chosen;
  });
  const player = planarPlayer(root, data.film);
  player.show(data.start);
  begun = true;

  const speed = document.getElementById("speed"), fps = data.film.fps;
  for (const factor of speed ? [0.1, 0.25, 0.5, 1, 2, 4] : []) {
    const what = data.sweep ? `${factor}×` : `${Number((factor * data.speed).toPrecision(3))}× real time`;
    speed.add(new Option(what, factor, factor === 1, factor === 1));
  }
  if (speed) speed.addEventListener("change", () => {
    data.film.fps = fps * Number(speed.value);
    if (player.playing()) { player.pause(); player.play(); }
  });

  const forces = document.getElementById("forces");
  if (forces) forces.addEventListener("change", () => {
    forces.checked ? player.hidden.delete("reaction") : player.hidden.add("reaction");
    player.draw();
  });

  // the keys of the player work wherever nothing else wants them
  document.addEventListener("keydown", event => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest("input, select, button, a")) return;
    const step = event.target.closest(".scroll") ? 0 : { ArrowLeft: -1, ArrowRight: 1 }[event.key];  // a wide table scrolls
    if (event.key === " ") player.playing() ? player.pause() : player.play();
    else if (step) { player.pause(); player.show(player.frame() + (event.shiftKey ? 10 : 1) * step); }
    else return;
    event.preventDefault();
  });
})();
