"use strict";
// The address contains the view, so that links can name it: #case=calloc_loop&touch=0&off=glibc&time.y=linear&at=65536
const State = {
  values: new Map(),
  listeners: [],
  read() {
    const hash = location.hash.slice(1);
    if (hash && !hash.includes("=")) return false; // a place in the page, not a view
    this.values = new Map(new URLSearchParams(hash));
    return true;
  },
  get(key, otherwise) {
    return this.values.has(key) ? this.values.get(key) : otherwise;
  },
  list(key) {
    return this.get(key, "").split("\n").filter(Boolean);
  },
  // With `late`, the address changes a moment later, because browsers forbid hundreds of changes per second.
  set(changes, late) {
    for (const key in changes) {
      if (changes[key] === null || changes[key] === "") this.values.delete(key);
      else this.values.set(key, String(changes[key]));
    }
    this.values.delete("go");
    clearTimeout(this.waiting);
    if (late) this.waiting = setTimeout(() => this.show(), 200);
    else this.show();
    this.tell(Object.keys(changes));
  },
  show() {
    const text = new URLSearchParams([...this.values].sort()).toString();
    history.replaceState(null, "", text ? `#${text}` : "#");
  },
  // Listeners get the changed keys, or nothing if all keys may have changed.
  tell(keys) {
    for (const listener of this.listeners) listener(keys);
  },
};
