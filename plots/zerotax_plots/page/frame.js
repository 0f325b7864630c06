"use strict";
// The frame of every figure: a plot that zooms along x, a cursor moved by pointer and keyboard, and words beside the cursor.
class Frame {
  // `model()` returns the current content: {xunit, xlog, low, high, places, height, left, draw(layer, x, width, height),
  // say(place), empty}, and optionally right (room for the names of lines), yname, pins (a click chooses a place
  // for the whole page) and tick(value) (words at the x axis). `key` is the figure's name in the address.
  constructor(figure, model) {
    this.figure = figure;
    this.key = figure.id;
    this.model = model;
    this.plot = figure.querySelector(".plot");
    this.place = -1;
    this.transform = d3.zoomIdentity;
    this.tip = html("div", {class: "tip", hidden: "", "aria-hidden": "true"}, this.plot);
    this.zoom = d3
      .zoom()
      .scaleExtent([1, 1e6])
      .filter(() => {
        const event = d3.event;
        if (event.type === "wheel") return event.ctrlKey || event.metaKey; // otherwise the page scrolls
        if (event.type.startsWith("touch")) return event.touches.length > 1;
        return !event.button;
      })
      .on("zoom", () => {
        this.transform = d3.event.transform;
        this.soon();
      })
      .on("end", () => this.keep());
    this.tools();
    this.plot.addEventListener("keydown", event => this.key_down(event));
    this.plot.addEventListener("pointermove", event => this.point(event));
    this.plot.addEventListener("pointerdown", event => this.point(event));
    this.plot.addEventListener("click", event => {
      this.point(event);
      this.pin();
    });
    this.plot.addEventListener("pointerleave", () => {
      if (document.activeElement !== this.plot) this.hide();
    });
    this.plot.addEventListener("blur", () => this.hide());
    this.plot.addEventListener("focus", () => {
      if (this.place < 0) this.move(0);
      else this.show();
    });
    this.width = 0;
    new ResizeObserver(() => {
      if (this.plot.clientWidth !== this.width) this.render();
    }).observe(this.plot);
  }

  tools() {
    const bar = html("span", {class: "zoom"}, this.figure.querySelector(".tools"));
    const button = (text, label, act) => {
      const made = html("button", {type: "button", "aria-label": label, title: label}, bar, text);
      made.addEventListener("click", act);
      return made;
    };
    button("−", "zoom out", () => this.scale(0.5));
    button("+", "zoom in", () => this.scale(2));
    button("◀", "to smaller values", () => this.pan(1));
    button("▶", "to greater values", () => this.pan(-1));
    this.reset = button("Reset", "Reset: show all again", () => this.scale(0));
    this.reset.className = "reset";
    const title = this.figure.querySelector(".title").textContent;
    button("SVG", "SVG: download this figure", () =>
      download(`zerotax-${this.key}.svg`, "image/svg+xml", svgText(this.svg, `${title}: ${this.now.words}`)),
    );
    button("CSV", "CSV: download these values", () => downloadTable(`zerotax-${this.key}`, this.content(true)));
  }

  // Makes the place under the cursor the place of the page.
  pin() {
    if (this.now.pins && this.place >= 0 && !this.now.empty) State.set({at: this.now.places[this.place]});
  }

  scale(factor) {
    const target = d3.select(this.target);
    if (factor) this.zoom.scaleBy(target, factor);
    else this.zoom.transform(target, d3.zoomIdentity);
  }
  pan(way) {
    this.zoom.translateBy(d3.select(this.target), (way * this.inner) / (4 * this.transform.k), 0);
  }

  soon() {
    if (!this.waiting)
      this.waiting = requestAnimationFrame(() => {
        this.waiting = 0;
        this.paint();
      });
  }

  // Writes the shown range to the address: a~b in the unit of x.
  keep() {
    const [low, high] = this.transform.rescaleX(this.whole).domain(); // the plot itself follows with the next frame
    const whole = this.transform.k <= 1.0001;
    const range = whole ? "" : `${Number(low.toPrecision(7))}~${Number(high.toPrecision(7))}`;
    // A click ends a zoom that changed nothing. If the figure were drawn again, it would not receive the click.
    if (range !== State.get(`${this.key}.x`, "")) State.set({[`${this.key}.x`]: range});
  }
  restore() {
    const [low, high] = State.get(`${this.key}.x`, "").split("~").map(Number);
    if (!(high > low) || (this.now.xlog && low <= 0)) return d3.zoomIdentity;
    const a = this.whole(low),
      b = this.whole(high),
      k = Math.min(Math.max(this.inner / (b - a), 1), 1e6);
    return d3.zoomIdentity.translate(Math.min(0, Math.max(-a * k, this.inner * (1 - k))), 0).scale(k);
  }

  render() {
    this.now = this.model();
    this.width = this.plot.clientWidth || 640;
    const left = this.width < 480 ? Math.min(this.now.left, 74) : this.now.left;
    const right = this.width >= 640 && this.now.right ? this.now.right : 14;
    const margin = {left, right, top: this.now.yname ? 24 : 8, bottom: 40},
      height = this.now.height;
    this.inner = Math.max(60, this.width - margin.left - margin.right);
    this.margin = margin;
    this.size = height;
    if (this.svg) this.svg.remove();
    const total = height + margin.top + margin.bottom;
    this.svg = svg("svg", {viewBox: `0 0 ${this.width} ${total}`, role: "img", "aria-label": this.now.words}, null);
    this.plot.insertBefore(this.svg, this.tip);
    const clip = svg("clipPath", {id: `clip-${this.key}`}, this.svg);
    svg("rect", {x: -6, y: -margin.top, width: this.inner + 12, height: height + margin.top + 12}, clip);
    this.root = svg("g", {transform: `translate(${margin.left} ${margin.top})`}, this.svg);
    this.layer = svg("g", {}, this.root);
    this.pinned = svg("g", {class: "pinned", "pointer-events": "none"}, this.root);
    this.target = svg("rect", {width: this.inner, height, fill: "transparent"}, this.root);
    this.whole = xScale(this.now.xunit, this.now.xlog, this.now.low, this.now.high, this.inner);
    this.zoom
      .extent([
        [0, 0],
        [this.inner, height],
      ])
      .translateExtent([
        [0, 0],
        [this.inner, height],
      ]);
    this.transform = this.restore();
    this.target.__zoom = this.transform; // d3's own property, set without an event
    d3.select(this.target).call(this.zoom).style("touch-action", "pan-x pan-y");
    this.paint();
  }

  paint() {
    this.x = this.transform.rescaleX(this.whole);
    this.layer.replaceChildren();
    if (this.now.empty) {
      svg("text", {x: 4, y: 24, class: "empty"}, this.layer, this.now.empty);
    } else {
      this.axis();
      this.now.draw(this.layer, this.x, this.inner, this.size, `url(#clip-${this.key})`);
    }
    this.reset.disabled = this.transform.k <= 1.0001;
    this.drawPin();
    if (!this.tip.hidden) this.show();
  }

  // Draws the size of the page's numbers as a line through the figure.
  drawPin() {
    this.pinned.replaceChildren();
    const value = Number(State.get("at", Data.at));
    if (!this.now.pins || this.now.empty || !value) return;
    const [low, high] = this.x.domain();
    if (value < low || value > high) return;
    svg("path", {class: "pin", d: `M${this.x(value)} 0V${this.size + 5}`}, this.pinned);
  }

  axis() {
    const most = Math.max(2, Math.floor(this.inner / 62));
    svg("path", {class: "axis", d: `M0 ${this.size}H${this.inner}`}, this.layer);
    const step = Math.ceil(this.now.places.length / most);
    const values = this.now.tick
      ? this.now.places.filter((_, n) => n % step === 0)
      : ticksOf(this.x, this.now.xunit, this.now.xlog, most);
    for (const value of values) {
      const at = this.x(value);
      if (at < -1 || at > this.inner + 1) continue;
      svg("path", {class: "grid", d: `M${at} 0V${this.size}`}, this.layer);
      svg(
        "text",
        {x: at, y: this.size + 16, "text-anchor": "middle"},
        this.layer,
        this.now.tick ? this.now.tick(value) : tickText(this.now.xunit, value),
      );
    }
    svg("text", {x: this.inner, y: this.size + 34, "text-anchor": "end", class: "name"}, this.layer, this.now.xname);
    if (this.now.yname) svg("text", {x: -this.margin.left, y: -11, class: "name"}, this.layer, this.now.yname);
  }

  // Returns the visible places that the cursor can reach: the index of the first, and the index after the last.
  sight() {
    const [low, high] = this.x.domain();
    return [d3.bisectLeft(this.now.places, low), d3.bisectRight(this.now.places, high)];
  }

  point(event) {
    if (this.now.empty || !this.now.places.length) return;
    const box = this.svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) * this.width) / box.width - this.margin.left;
    const value = this.x.invert(Math.min(Math.max(at, 0), this.inner));
    const [first, end] = this.sight();
    let place = Math.min(Math.max(d3.bisectLeft(this.now.places, value), first), Math.max(end - 1, first));
    if (
      place > first &&
      Math.abs(this.x(this.now.places[place - 1]) - at) < Math.abs(this.x(this.now.places[place]) - at)
    )
      --place;
    this.row = (((event.clientY - box.top) * this.width) / box.width - this.margin.top) / this.size;
    this.place = place;
    this.show();
  }

  move(step) {
    const [first, end] = this.sight();
    if (end <= first) return;
    this.place = Math.min(Math.max(this.place < 0 ? first : this.place + step, first), end - 1);
    this.show();
  }

  key_down(event) {
    const steps = {ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10, Home: -1e9, End: 1e9};
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in steps) this.move(steps[event.key]);
    else if ((event.key === "ArrowUp" || event.key === "ArrowDown") && this.now.rows) {
      const next =
        (this.row === undefined ? 0 : Math.floor(this.row * this.now.rows)) + (event.key === "ArrowUp" ? -1 : 1);
      this.row = (Math.min(Math.max(next, 0), this.now.rows - 1) + 0.5) / this.now.rows;
      this.show();
    } else if (event.key === "+" || event.key === "=") this.scale(2);
    else if (event.key === "-") this.scale(0.5);
    else if (event.key === "0") this.scale(0);
    else if (event.key === "Escape") this.hide();
    else if (event.key === "Enter" && this.now.pins) this.pin();
    else return;
    event.preventDefault();
  }

  // Puts the cursor at the place nearest to this value, for a link to a piece of evidence.
  seek(value) {
    if (this.now.empty || !this.now.places.length) return;
    const near = d3.leastIndex(this.now.places, (a, b) => Math.abs(a - value) - Math.abs(b - value));
    const [low, high] = this.x.domain();
    if (value < low || value > high) this.scale(0);
    this.place = near;
    this.paint();
    this.show();
  }

  hide() {
    this.tip.hidden = true;
    if (this.cursor) this.cursor.remove();
    this.cursor = null;
  }

  show() {
    if (this.now.empty || this.place < 0 || this.place >= this.now.places.length) return;
    const value = this.now.places[this.place],
      at = this.x(value);
    if (this.cursor) this.cursor.remove();
    this.cursor = svg("g", {"pointer-events": "none"}, this.root);
    svg("path", {class: "cursor", d: `M${at} 0V${this.size}`}, this.cursor);
    const told = this.now.say(this.place, this.row, this.cursor);
    this.tip.replaceChildren();
    html("b", {}, this.tip, told.title);
    const table = html("table", {}, this.tip);
    for (const row of told.rows) {
      const line = html("tr", {}, table);
      const look = html("td", {}, line);
      if (row.look) swatch(row.look, look);
      html("td", {}, line, row.name);
      html("td", {}, line, row.text);
    }
    for (const note of told.notes || []) html("div", {}, this.tip, note);
    this.tip.hidden = false;
    const x = at + this.margin.left,
      room = this.plot.clientWidth;
    const wide = this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, Math.min(x + 12 + wide < room ? x + 12 : x - wide - 12, room - wide))}px`;
    this.tip.style.top = "0px";
    const words = [told.title, ...told.rows.map(row => `${row.name} ${row.text}`), ...(told.notes || [])].join("; ");
    this.plot.setAttribute("aria-valuenow", this.place);
    this.plot.setAttribute("aria-valuemax", Math.max(0, this.now.places.length - 1));
    this.plot.setAttribute("aria-valuetext", words);
  }
}
