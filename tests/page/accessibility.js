"use strict";
// What a page lacks for keyboards, screen readers and weak eyes (WCAG 2.2 AA, as far as a script can see it): a line for
// each fault.
function faults() {
  const found = [],
    say = (rule, element) => found.push(`${rule}: ${element.outerHTML.slice(0, 90)}`);
  const all = selector => [...document.querySelectorAll(selector)];
  const name = e =>
    (
      e.getAttribute("aria-label") ||
      (e.getAttribute("aria-labelledby") || "")
        .split(" ")
        .map(id => (document.getElementById(id) || {}).textContent || "")
        .join("") ||
      [...(e.labels || [])].map(l => l.textContent).join("") ||
      e.textContent
    ).trim();
  const ids = all("[id]").map(e => e.id);
  ids.filter((id, n) => ids.indexOf(id) !== n).forEach(id => found.push(`id twice: ${id}`));
  for (const e of all("[aria-labelledby], [aria-describedby]"))
    for (const id of (e.getAttribute("aria-labelledby") || e.getAttribute("aria-describedby")).split(" "))
      if (!document.getElementById(id)) say("names nothing", e);
  for (const e of all(
    "button, a[href], input, select, summary, [tabindex], figure, section, nav, " +
      "[role=img], [role=region], [role=slider], [role=group]",
  ))
    if (!name(e)) say("has no name", e);
  for (const tag of ["main", "header", "footer", "h1", "title"])
    if (all(tag).filter(e => !e.closest("svg")).length !== 1) found.push(`not one ${tag}`);
  let before = 0;
  for (const e of all("h1, h2, h3, h4")) {
    const level = Number(e.tagName[1]);
    if (level > before + 1) say("skips a level", e);
    before = level;
  }
  for (const e of all("table"))
    if (e.closest(".tip") === null && (!e.querySelector("th[scope]") || !(e.caption || e.closest("[aria-label]"))))
      say("table without headings or name", e);
  for (const e of all("svg"))
    if (e.getAttribute("aria-hidden") !== "true" && e.getAttribute("role") !== "img") say("svg without a role", e);
  for (const e of all("[role=slider]"))
    for (const key of ["valuemin", "valuemax", "valuenow"])
      if (e.getAttribute(`aria-${key}`) === null) say("slider without value", e);
  for (const e of all(".scroll"))
    if (e.tabIndex !== 0 || !e.getAttribute("aria-label")) say("scrolls by mouse alone", e);
  if (!document.documentElement.lang) found.push("no language");
  const rgb = text => (text.match(/[\d.]+/g) || []).map(Number);
  const light = c =>
    c
      .slice(0, 3)
      .map(v => v / 255)
      .map(v => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
      .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
  const ground = e => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (
      !walker.currentNode.data.trim() ||
      seen.has(e) ||
      !e.checkVisibility() ||
      e.closest("script, style, .cell") ||
      e.matches(".cell + text") ||
      e.disabled ||
      e.closest("[disabled]")
    )
      continue;
    seen.add(e);
    const style = getComputedStyle(e),
      a = light(rgb(e.closest("svg") ? style.fill : style.color)),
      b = light(ground(e));
    if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5) say("contrast", e);
  }
  for (const e of all(".cell + text")) {
    const fill = getComputedStyle(e.previousSibling).fill;
    if (!fill.startsWith("rgb")) continue;
    const a = light(rgb(getComputedStyle(e).fill)),
      b = light(rgb(fill));
    if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5) say("contrast in a cell", e);
  }
  for (const e of all("button[aria-label]"))
    if (/[a-z]/i.test(e.textContent) && !e.getAttribute("aria-label").startsWith(e.textContent))
      say("is called otherwise than it reads", e);
  const regions = all("section, [role=region], nav").map(name);
  regions.filter((each, n) => regions.indexOf(each) !== n).forEach(each => found.push(`two regions: ${each}`));
  if (seen.size < 100) found.push("little was looked at");
  return found;
}
