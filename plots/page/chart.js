"use strict";
// Lines over x. What is denser than the pixels is thinned to the least and the most of each, so that no peak is lost.
const MOST_TOLD = 14;

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

// Why a line has no value there: "n/a: no clock", "crashed: signal 11".
function reasonText(line, place) {
  return (line.na && line.na[place]) || "n/a";
}

class LineChart {
  // `source()` gives {lines, x, y (units), xname, yname, words}; logX says whether x is logarithmic.
  constructor(figure, source, logX) {
    this.source = source;
    this.logX = logX;
    const button = html("button", {type: "button", class: "log"}, figure.querySelector(".tools"), "");
    button.addEventListener("click", () => State.set({[`${figure.id}.y`]: this.log() ? "linear" : "log"}));
    this.button = button;
    this.key = figure.id;
    this.legend = html("p", {class: "names legend", "aria-hidden": "true"});
    figure.querySelector(".plot").before(this.legend);
    this.frame = new Frame(figure, () => this.model());
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
      height: 300,
      left: 84,
      xname: now.xname,
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
    lines.forEach((line, n) => {
      const end = Math.min(cuts[n][1], line.ys.length),
        kept = thinned(line.xs, line.ys, cuts[n][0], end, x);
      // Lines at zero would hide each other.
      const aside = zeros.length > 1 ? (zeros.indexOf(line) - (zeros.length - 1) / 2) * 2.2 : 0;
      const at = place => y(line.ys[place]) + (line.ys[place] === 0 ? aside : 0);
      const g = dress(svg("g", {"data-line": line.name}, inside), line);
      this.band(g, line, kept, x, y);
      let path = "",
        pen = false;
      for (const place of kept) {
        if (line.ys[place] === null) {
          pen = false;
          continue;
        }
        path += `${pen ? "L" : "M"}${x(line.xs[place]).toFixed(1)} ${at(place).toFixed(1)}`;
        pen = true;
      }
      svg("path", {class: "line", d: path, "stroke-dasharray": line.dash.join(" ")}, g);
      if (few)
        for (const place of kept) {
          if (line.ys[place] === null) continue;
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
    });
  }

  band(g, line, kept, x, y) {
    if (!line.low) return;
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
    return {title: placeText(this.now.x, at), rows: rows.slice(0, MOST_TOLD), notes};
  }

  content() {
    const {lines, x, y, xname} = this.source();
    const places = unique([].concat(...lines.map(line => line.xs))).sort((a, b) => a - b);
    return {
      head: [xname, ...lines.map(line => line.name)],
      count: places.length,
      row: n => [
        placeText(x, places[n]),
        ...lines.map(line => {
          const at = d3.bisectLeft(line.xs, places[n]);
          if (line.xs[at] !== places[n]) return "";
          return line.ys[at] === null ? reasonText(line, at) : valueText(y, line.ys[at]);
        }),
      ],
    };
  }
}
