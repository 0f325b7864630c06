"use strict";
// The map of thresholds: a bar for each lane. Pieces of a bar show calloc's behavior, and marks show where it changes.
class LaneMap {
  constructor(figure, part) {
    this.part = part;
    this.lanes = part.lanes;
    this.frame = new Frame(figure, () => this.model());
    this.frame.content = raw => this.content(raw);
    this.table = new FigureTable(figure, () => this.content());
  }
  render() {
    this.frame.render();
    this.table.refresh();
  }

  visible() {
    const off = new Set(State.list("off"));
    return this.lanes.filter(lane => !off.has(lane.name));
  }

  model() {
    this.now = this.visible();
    const rows = this.now.length;
    const places = unique(
      [].concat(
        ...this.now.map(lane => [
          ...lane.pieces.flatMap(piece => [piece[0], piece[1] - 1]),
          ...lane.ticks.map(tick => tick[0]),
        ]),
      ),
    ).sort((a, b) => a - b);
    return {
      xunit: "bytes",
      xlog: true,
      low: places[0],
      high: places[places.length - 1],
      places,
      rows,
      height: Math.max(40, rows * 24),
      left: this.part.left || 190,
      xname: "size asked of calloc",
      words: `${this.part.map || "Map of thresholds"}: ${this.part.sentence}`,
      empty: rows ? "" : "Nothing is chosen: switch an allocator on.",
      draw: (...how) => this.draw(...how),
      say: (...which) => this.say(...which),
    };
  }

  draw(layer, x, width, height, clip) {
    const tall = height / this.now.length,
      bar = tall * 0.68,
      inside = svg("g", {"clip-path": clip}, layer);
    const narrow = this.frame.margin.left < 120;
    this.now.forEach((lane, n) => {
      const top = n * tall + (tall - bar) / 2;
      const first = !n || this.now[n - 1].name !== lane.name;
      const name = svg(
        "text",
        {x: -6, y: top + bar / 2 + 4, "text-anchor": "end"},
        layer,
        narrow ? lane.name : `${first ? lane.name : ""} ${lane.label}`,
      );
      HeatMap.prototype.fit.call(this, name, name.textContent, this.frame.margin.left - 8);
      for (const [low, high, kind] of lane.pieces) {
        const from = Math.max(x(low), -5),
          to = Math.min(x(high), width + 5);
        if (to <= from) continue;
        const box = {x: from, y: top, width: to - from, height: bar};
        svg("rect", {...box, class: kind}, inside);
        if (kind !== "back" && kind !== "needless") svg("rect", {...box, fill: `url(#t-${kind})`}, inside);
      }
      svg(
        "rect",
        {
          class: "frame",
          x: Math.max(0, x(lane.pieces[0][0])),
          y: top,
          height: bar,
          width: Math.max(
            0,
            Math.min(width, x(lane.pieces[lane.pieces.length - 1][1])) - Math.max(0, x(lane.pieces[0][0])),
          ),
        },
        inside,
      );
      for (const [at, steady, noisy] of lane.ticks) {
        const reach = steady ? 3 : -bar / 4;
        svg(
          "path",
          {
            class: `tick ${steady ? "" : "first"} ${noisy ? "noisy" : ""}`,
            d: `M${x(at)} ${top - reach}V${top + bar + reach}`,
          },
          inside,
        );
      }
    });
  }

  say(place, row, cursor) {
    const at = this.frame.now.places[place],
      tall = this.frame.size / this.now.length;
    const chosen =
      row === undefined ? 0 : Math.min(Math.max(Math.floor(row * this.now.length), 0), this.now.length - 1);
    const lane = this.now[chosen];
    svg("rect", {class: "chosen", x: 0, y: chosen * tall, width: this.frame.inner, height: tall}, cursor);
    const piece = lane.pieces.find(([low, high]) => low <= at && at < high);
    const rows = [{name: "here", text: piece ? this.part.names[piece[2]] : "not searched"}];
    if (piece)
      rows.push(
        {name: "from", text: placeText("bytes", piece[0])},
        {name: "to", text: placeText("bytes", piece[1] - 1)},
      );
    const change = lane.changes.find(each => each.at === at);
    const notes = change
      ? [`At ${countText(at)} bytes${change.exact ? "" : " (not exact)"}: ${change.changes.join("; ")}`]
      : [];
    return {title: `${lane.name} ${lane.version}, ${lane.label}, ${placeText("bytes", at)}`, rows, notes};
  }

  // Returns the row of a lane by the name that links use: allocator, touch and thread.
  rowOf(id) {
    return this.now.findIndex(lane => lane.id === id);
  }

  link(lane, change) {
    return {
      href: `#${new URLSearchParams({lane: lane.id, at: change.at, go: "map"})}`,
      text: "link",
      label: `Link to the threshold of ${lane.name}, ${lane.label}, at ${countText(change.at)} bytes`,
    };
  }

  content(raw) {
    return this.part.pieces ? this.pieces(raw) : this.changes(raw);
  }

  pieces(raw) {
    const size = value => (raw ? value : countText(value));
    const rows = this.visible().flatMap(lane =>
      lane.pieces.map(([low, high, kind]) => [lane.name, size(low), size(high - 1), this.part.names[kind]]),
    );
    return {head: ["version", "from (bytes)", "to (bytes)", "what calloc does"], count: rows.length, row: n => rows[n]};
  }

  changes(raw) {
    const rows = this.visible().flatMap(lane =>
      lane.changes.map(change => [
        `${lane.name} ${lane.version}`,
        lane.label,
        raw ? change.at : countText(change.at),
        `${change.exact ? "exact" : "not exact"}${change.noisy ? ", noisy" : ""}`,
        change.changes.join("; "),
        ...(raw ? [] : [this.link(lane, change)]),
      ]),
    );
    const head = ["allocator", "lane", "from this size in bytes", "certainty", "what changes"];
    return {
      head: raw ? head : [...head, "link"],
      count: rows.length,
      row: n => rows[n],
    };
  }
}
