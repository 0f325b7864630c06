"use strict";
// Lines over x. Places denser than the pixels are thinned to the minimum and maximum of each pixel, so that no peak is lost.
const MOST_TOLD = 14;
const MOST_NAMED = 12;
const MOST_MARKS_TOLD = 3;

function thinned(xs, ys, from, to, x) {
  if (to - from <= 1500) return d3.range(from, to);
  const kept = [];
  let pixel = NaN,
    least = -1,
    most = -1,
    last = -1;
  const flush = () => {
    if (least >= 0) kept.push(...unique([least, most, last]).sort((a, b) => a - b));
  };
  for (let n = from; n < to; ++n) {
    const at = Math.round(x(xs[n]));
    if (at !== pixel || ys[n] === null) {
      flush();
      pixel = at;
      least = most = n;
    }
    if (ys[n] < ys[least]) least = n;
    if (ys[n] > ys[most]) most = n;
    last = n;
    if (ys[n] === null) {
      kept.push(n);
      least = -1;
      pixel = NaN;
    }
  }
  flush();
  return kept;
}

// Returns why a line has no value at a place, such as "n/a: no clock" or "crashed: signal 11".
function reasonText(line, place) {
  return (line.na && line.na[place]) || "n/a";
}

// Returns groups of places that a line may join: no gap and no threshold lies between them (a size in line.cuts, the
// first with the new behavior).
function joined(line, kept) {
  const parts = [];
  let last = -1;
  for (const place of kept) {
    if (line.ys[place] === null) {
      last = -1;
      continue;
    }
    const cut =
      last < 0 ||
      (line.cuts && d3.bisectRight(line.cuts, line.xs[place]) > d3.bisectRight(line.cuts, line.xs[last]));
    if (cut) parts.push([]);
    parts[parts.length - 1].push(place);
    last = place;
  }
  return parts;
}

// Returns the names of lines beside their last places, moved apart if they would touch.
const NAME_PITCH = 14;
function spread(labels, height) {
  labels.sort((a, b) => a.y - b.y);
  let least = -8;
  for (const label of labels) label.y = least = Math.max(label.y, least + NAME_PITCH);
  let most = height - 4 + NAME_PITCH;
  for (const label of labels.slice().reverse()) label.y = most = Math.min(label.y, most - NAME_PITCH);
}

class LineChart {
  // `source()` returns {lines, x, y (units), xname, yname, words}, and the keys of Frame's model. `logX`: is x logarithmic?
  constructor(figure, source, logX) {
    this.source = source;
    this.logX = logX;
    this.key = figure.id;
    this.legend = html("p", {class: "names legend", "aria-hidden": "true"});
    if (!figure.querySelector("#names")) figure.querySelector(".plot").before(this.legend);
    this.frame = new Frame(figure, () => this.model());
    this.frame.content = raw => this.content(raw);
    this.button = html("button", {type: "button", class: "log"}, null, "");
    this.button.addEventListener("click", () => State.set({[`${figure.id}.y`]: this.log() ? "linear" : "log"}));
    figure.querySelector(".zoom").prepend(this.button);
    this.table = new FigureTable(figure, () => this.content());
  }
  log() {
    return State.get(`${this.key}.y`, this.source().ylog === false ? "linear" : "log") === "log";
  }
  render() {
    this.frame.render();
    this.table.refresh();
  }

  model() {
    const now = (this.now = this.source());
    this.button.textContent = this.log() ? "y: log" : "y: linear";
    this.button.setAttribute(
      "aria-label",
      this.log() ? "y: log axis; make it linear" : "y: linear axis; make it logarithmic",
    );
    this.legend.replaceChildren();
    for (const line of now.lines.slice(0, MOST_TOLD)) {
      const entry = html("span", {}, this.legend);
      swatch(line, entry);
      entry.append(line.name);
    }
    const places = unique([].concat(...now.lines.map(line => line.xs))).sort((a, b) => a - b);
    const known = now.lines.some(line => line.ys.some(value => value !== null));
    const reason = now.lines.flatMap(line => line.na || []).find(Boolean);
    const some = known || now.lines.some(line => line.ended && line.ended.length);
    return {
      xunit: now.x,
      xlog: this.logX,
      low: places[0],
      high: places[places.length - 1],
      places,
      height: now.height || 300,
      left: 66,
      right: now.lines.length <= MOST_NAMED ? 26 + Math.min(6.6 * d3.max(now.lines, line => line.name.length) || 0, 130) : 14,
      xname: now.xname,
      yname: now.yname,
      pins: now.pins,
      tick: now.tick,
      words: now.words,
      draw: (...how) => this.draw(...how),
      say: (...which) => this.say(...which),
      empty: !now.lines.length
        ? "Nothing is chosen: switch an allocator on."
        : some
          ? ""
          : reason || "n/a: not measured",
    };
  }

  draw(layer, x, width, height, clip) {
    const {lines, y: unit} = this.now,
      log = this.log();
    const cuts = lines.map(line => [
      Math.max(0, d3.bisectLeft(line.xs, x.domain()[0]) - 1),
      d3.bisectRight(line.xs, x.domain()[1]) + 1,
    ]);
    const values = [];
    lines.forEach((line, n) => {
      for (let at = cuts[n][0]; at < Math.min(cuts[n][1], line.ys.length); ++at)
        if (line.ys[at] !== null) values.push(line.ys[at]);
    });
    const y = (this.y = yScale(unit, log, values, height));
    for (const value of ticksOf(y, unit, log, 8)) {
      const at = y(value);
      if (at < -1 || at > height + 1) continue;
      svg("path", {class: "grid", d: `M0 ${at}H${width}`}, layer);
      svg("text", {x: -6, y: at + 4, "text-anchor": "end"}, layer, tickText(unit, value));
    }
    const inside = svg("g", {"clip-path": clip}, layer);
    const zeros = lines.filter(line => line.ys.includes(0));
    const few = values.length <= 2500;
    if (this.now.steps) this.steps(inside, x, y);
    lines.forEach((line, n) => {
      const end = Math.min(cuts[n][1], line.ys.length),
        kept = thinned(line.xs, line.ys, cuts[n][0], end, x);
      // Spreads lines at zero, because they would hide each other.
      const aside = zeros.length > 1 ? (zeros.indexOf(line) - (zeros.length - 1) / 2) * 2.2 : 0;
      const at = place => y(line.ys[place]) + (line.ys[place] === 0 ? aside : 0);
      const g = dress(svg("g", {"data-line": line.name}, inside), line);
      const parts = line.bare ? kept.filter(place => line.ys[place] !== null).map(place => [place]) : joined(line, kept);
      for (const part of parts) this.band(g, line, part, x, y);
      const path = parts
        .flatMap(part =>
          part.map((place, nth) => `${nth ? "L" : "M"}${x(line.xs[place]).toFixed(1)} ${at(place).toFixed(1)}`),
        )
        .join("");
      svg("path", {class: "line", d: path, "stroke-dasharray": line.dash.join(" ")}, g);
      const alone = new Set(parts.filter(part => part.length === 1).map(part => part[0]));
      if (few || alone.size)
        for (const place of kept) {
          if (line.ys[place] === null || !(few || alone.has(place))) continue;
          svg(
            "path",
            {
              class: `mark ${line.fill}`,
              d: MARKS[line.marker] || MARKS.o,
              transform: `translate(${x(line.xs[place]).toFixed(1)} ${at(place).toFixed(1)})`,
            },
            g,
          );
        }
      for (const ended of line.ended || []) {
        const cross = x(ended.x);
        if (cross >= 0 && cross <= width)
          svg("path", {class: "ended", d: `M${cross - 4} ${height - 9}l8 8m0 -8l-8 8`}, g);
      }
      this.rug(g, line, x, width, height);
    });
    this.names(layer, x, y, height);
  }

  // Draws a line from before to after, because values between two sizes are unknown.
  steps(inside, x, y) {
    const [before, ...others] = this.now.lines;
    before.xs.forEach((at, n) => {
      const values = [before, ...others].map(line => line.ys[n]).filter(value => value !== null);
      if (values.length < 2) return;
      const [low, high] = d3.extent(values);
      svg("path", {class: "step", d: `M${x(at).toFixed(1)} ${y(low).toFixed(1)}V${y(high).toFixed(1)}`}, inside);
    });
  }

  // Draws the thresholds of a line as ticks on the axis. Short ticks concern only the first calls of a process.
  rug(g, line, x, width, height) {
    for (const mark of line.thresholds || []) {
      const at = x(mark.at);
      if (at < 0 || at > width) continue;
      const d = `M${at.toFixed(1)} ${height + 5}v${mark.steady ? -14 : -9}`;
      const tick = svg("path", {class: `rug ${mark.steady ? "" : "first"}`, d}, g);
      svg("title", {}, tick, `${line.name}, ${countText(mark.at)} bytes: ${mark.changes.join("; ")}`);
    }
  }

  // Names lines at their ends if there is room. Otherwise the legend names them.
  names(layer, x, y, height) {
    this.legend.hidden = this.frame.margin.right > 14;
    if (!this.legend.hidden) return;
    const [low, high] = x.domain(),
      labels = [];
    for (const line of this.now.lines) {
      let last = Math.min(d3.bisectRight(line.xs, high), line.xs.length) - 1;
      while (last >= 0 && line.ys[last] === null) --last;
      if (last < 0 || line.xs[last] < low) continue;
      labels.push({line, y: y(line.ys[last])});
    }
    spread(labels, height);
    for (const {line, y: at} of labels) {
      const g = dress(svg("g", {"data-name": line.name}, layer), line);
      const mark = MARKS[line.marker] || MARKS.o;
      svg("path", {class: `mark ${line.fill}`, d: mark, transform: `translate(${this.frame.inner + 13} ${at})`}, g);
      const text = svg("text", {x: this.frame.inner + 22, y: at + 4, class: "line-name"}, g, line.name);
      HeatMap.prototype.fit.call(this, text, line.name, this.frame.margin.right - 22);
    }
  }

  band(g, line, kept, x, y) {
    if (!line.low || kept.length < 2) return;
    const ends = kept.filter(place => line.low[place] >= 0 && line.high[place] >= 0 && line.ys[place] !== null);
    if (ends.length < 2) return;
    const floor = Math.min(...y.domain().filter(value => value > 0));
    const corner = (place, value) => `${x(line.xs[place]).toFixed(1)} ${y(Math.max(value, floor / 10)).toFixed(1)}`;
    const path = [
      ...ends.map(place => corner(place, line.high[place])),
      ...ends.reverse().map(place => corner(place, line.low[place])),
    ];
    svg("path", {class: "band", d: `M${path.join("L")}Z`}, g);
  }

  say(place, _, cursor) {
    const at = this.frame.now.places[place],
      rows = [],
      {y: unit} = this.now;
    for (const line of this.now.lines) {
      const n = d3.bisectLeft(line.xs, at);
      if (line.xs[n] !== at) continue;
      const value = line.ys[n];
      rows.push({
        look: line,
        name: line.name,
        value,
        text: value === null ? reasonText(line, n) : valueText(unit, value),
      });
      if (value !== null && this.y)
        svg("circle", {class: "chosen", r: 6, cx: this.frame.x(at), cy: this.y(value)}, cursor);
    }
    rows.sort((a, b) => (b.value === null ? -1 : b.value) - (a.value === null ? -1 : a.value));
    const notes = rows.length > MOST_TOLD ? [`and ${rows.length - MOST_TOLD} more, in the table`] : [];
    notes.push(...this.near(place));
    return {title: this.placed(at), rows: rows.slice(0, MOST_TOLD), notes};
  }

  placed(value) {
    return this.now.tick ? this.now.tick(value) : placeText(this.now.x, value);
  }

  // Returns the thresholds that are nearer to this place than to another.
  near(place) {
    const places = this.frame.now.places,
      found = [];
    for (const line of this.now.lines)
      for (const mark of line.thresholds || []) {
        const next = d3.bisectLeft(places, mark.at);
        const nearest =
          next > 0 && (next === places.length || mark.at / places[next - 1] < places[next] / mark.at) ? next - 1 : next;
        if (nearest !== place || !mark.steady) continue;
        found.push(`${line.name}, from ${countText(mark.at)} bytes: ${mark.changes.join("; ")}`);
      }
    const more = found.length - MOST_MARKS_TOLD;
    return more > 0 ? [...found.slice(0, MOST_MARKS_TOLD), `and ${countedText(more, "more threshold")}`] : found;
  }

  // With `raw`, the values are numbers, for a file.
  content(raw) {
    const {lines, x, y, xname, tick} = this.source();
    const places = unique([].concat(...lines.map(line => line.xs))).sort((a, b) => a - b);
    const place = value => (tick ? tick(value) : raw ? value : placeText(x, value));
    return {
      head: [raw ? `${xname} (${x})` : xname, ...lines.map(line => line.name)],
      count: places.length,
      row: n => [
        place(places[n]),
        ...lines.map(line => {
          const at = d3.bisectLeft(line.xs, places[n]);
          if (line.xs[at] !== places[n]) return "";
          return line.ys[at] === null ? reasonText(line, at) : raw ? line.ys[at] : valueText(y, line.ys[at]);
        }),
      ],
    };
  }
}
