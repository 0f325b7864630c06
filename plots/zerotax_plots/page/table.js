"use strict";
// The table behind each figure, filled when it is opened, one page of rows at a time.
const PAGE_ROWS = 100;

class PagedTable {
  constructor(place, caption) {
    this.place = place;
    this.caption = caption;
    this.page = 0;
  }
  show(content) {
    const pages = Math.max(1, Math.ceil(content.count / PAGE_ROWS));
    this.page = Math.min(this.page, pages - 1);
    this.place.replaceChildren();
    const box = html("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": this.caption}, this.place);
    const table = html("table", {class: "cards"}, box);
    html("caption", {}, table, `${this.caption}: ${countedText(content.count, "row")}`);
    const head = html("tr", {}, html("thead", {}, table));
    for (const name of content.head) html("th", {scope: "col"}, head, name);
    const body = html("tbody", {}, table);
    for (let n = this.page * PAGE_ROWS; n < Math.min(content.count, (this.page + 1) * PAGE_ROWS); ++n) {
      const line = html("tr", {}, body);
      content.row(n).forEach((cell, column) => {
        const words = typeof cell === "object" ? undefined : cell;
        const made = html(
          column ? "td" : "th",
          column ? {class: "n", "data-label": content.head[column]} : {scope: "row"},
          line,
          words,
        );
        if (words === undefined) html("a", {href: cell.href, "aria-label": cell.label}, made, cell.text);
      });
    }
    withRoles(table);
    if (pages === 1) return;
    const pager = html("p", {class: "pager row"}, this.place);
    for (const [text, step] of [
      ["Previous rows", -1],
      ["Next rows", 1],
    ]) {
      const button = html("button", {type: "button"}, pager, text);
      button.disabled = this.page + step < 0 || this.page + step >= pages;
      button.addEventListener("click", () => {
        this.page += step;
        this.show(content);
      });
    }
    html("span", {role: "status"}, pager, `page ${this.page + 1} of ${pages}`);
  }
}

class FigureTable {
  constructor(figure, content) {
    this.details = figure.querySelector("details.values");
    this.content = content;
    if (!this.details) return;
    this.table = new PagedTable(this.details.querySelector("div"), figure.querySelector(".title").textContent);
    this.details.addEventListener("toggle", () => this.refresh());
  }
  refresh() {
    if (this.details && this.details.open) this.table.show(this.content());
  }
}
