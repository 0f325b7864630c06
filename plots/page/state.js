"use strict";
// The view is in the address, so that it can be linked: #case=calloc_loop&touch=0&off=glibc&time.y=linear
const State = {
  values: new Map(),
  listeners: [],
  read() {
    const hash = location.hash.slice(1);
    if (hash && !hash.includes("=")) return false; // a place in the page, and no view
    this.values = new Map(new URLSearchParams(hash));
    return true;
  },
  get(key, otherwise) {
    return this.values.has(key) ? this.values.get(key) : otherwise;
  },
  list(key) {
    return this.get(key, "").split("\n").filter(Boolean);
  },
  set(changes) {
    for (const key in changes) {
      if (changes[key] === null || changes[key] === "") this.values.delete(key);
      else this.values.set(key, String(changes[key]));
    }
    this.values.delete("go");
    const text = new URLSearchParams([...this.values].sort()).toString();
    history.replaceState(null, "", text ? `#${text}` : "#");
    this.tell();
  },
  tell() {
    for (const listener of this.listeners) listener();
  },
};
