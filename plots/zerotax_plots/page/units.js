"use strict";
// Numbers as text: the only formatter of times, bytes, counts, ratios and percentages of the page. The rules are those of
// the C++ side, and of plots/zerotax_plots/units.py; tests/units_cases.json checks all three.
const UNITS = [
  [2 ** 30, "GiB"],
  [2 ** 20, "MiB"],
  [2 ** 10, "KiB"],
  [1, "B"],
];
const TIMES = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
];

// C and Python round a half to the even digit, JavaScript away from zero. `exact` has the number's further digits.
function halfToEven(rounded, exact, kept) {
  const tie = /^50*$/.test(exact.slice(kept).replace(/e.*$/, ""));
  const last = rounded.replace(/e.*$/, "").slice(-1);
  return tie && Number(last) % 2 ? exact.slice(0, kept).replace(/\.$/, "") + (/e.*$/.exec(rounded) || [""])[0] : rounded;
}

// Formats with this many digits after the point, as %.2f does.
function fixed(value, places) {
  const exact = value.toFixed(60);
  return halfToEven(value.toFixed(places), exact, exact.indexOf(".") + 1 + places);
}

function withoutZeros(number) {
  return number.includes(".") ? number.replace(/\.?0+$/, "") : number;
}

// Formats with this many digits, as %.3g does.
function general(value, digits) {
  if (value === 0) return "0";
  const text = halfToEven(value.toExponential(digits - 1), value.toExponential(60), digits + 1);
  const [mantissa, exponent] = text.split("e");
  const power = Number(exponent);
  if (power >= -4 && power < digits) return withoutZeros(Number(text).toFixed(digits - 1 - power));
  return `${withoutZeros(mantissa)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

// Formats three digits, at most two of them after the point. A value that rounds up to 10 or 100 has the digits of 10 or 100.
function threeDigits(value) {
  const texts = [2, 1, 0].map((places) => fixed(value, places));
  return texts.find((text) => text.length <= 4) || texts[2];
}

function withThousands(digits) {
  return digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

// Formats a time: 850 ns, 1.54 µs, 43.0 ms, 1.05 s.
function timeText(ns) {
  // From 999.5 on, the smaller unit would be written as 1000.
  const found = TIMES.find(([unit]) => ns >= unit * 0.9995);
  return found ? `${threeDigits(ns / found[0])} ${found[1]}` : `${fixed(ns, 0)} ns`;
}

// Formats a size in its largest unit, exact or to three digits: 100 MiB, 1.50 GiB, 127 KiB for 130049.
function sizeText(size) {
  const found = UNITS.slice(0, 3).find(([unit]) => size >= unit);
  if (!found) return `${fixed(size, 0)} B`;
  return `${size % found[0] === 0 ? size / found[0] : threeDigits(size / found[0])} ${found[1]}`;
}

// Formats a count: 256,007. A fractional count, such as a mean, has three digits.
function countText(count) {
  return Number.isInteger(count) ? withThousands(String(count)) : numberText(count);
}

// Formats a count with its noun: 1 row, 2 rows.
function countedText(count, singular) {
  return `${countText(count)} ${singular}${count === 1 ? "" : "s"}`;
}

// Formats a size to the byte: 131,049 B.
function exactSizeText(size) {
  return `${countText(size)} B`;
}

// Formats a rate, a ratio in a table, or a count where room is short: 2.81, 1,930, 45.6 M.
function numberText(value) {
  if (value >= 999.5e6) return `${general(value / 1e9, 3)} G`;
  if (value >= 1e6) return `${general(value / 1e6, 3)} M`;
  return value < 999.5 ? general(value, 3) : withThousands(String(Math.floor(value + 0.5)));
}

function rateText(rate) {
  return `${numberText(rate)} MB/s`;
}

// Formats a ratio in a sentence, to two digits: 1.3, 42, 1,700,000.
function ratioText(ratio) {
  const text = fixed(ratio, 1);
  if (text.length <= 3) return text;
  // At least 9.95, which rounds to 10.
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(ratio)) - 1);
  return withThousands(String(Math.floor(Math.floor(ratio / unit + 0.5) * unit + 0.5)));
}

function percentText(share) {
  return `${fixed(100 * share, 1)} %`;
}

function wholePercentText(share) {
  return `${fixed(100 * share, 0)} %`;
}

// Formats a number as a user would give it, such as a touch or an interval: 0.25, 1.
function plainText(value) {
  return general(value, 6);
}

// Formats a size as a user would give it: 100 MB is not a round number of MiB.
function givenSizeText(size) {
  return size && size % 1e6 === 0 && size % 2 ** 20 ? `${size / 1e6} MB` : sizeText(size);
}

// Formats a time at the tick of an axis: 1 µs, 2.5 µs.
function tickTimeText(ns) {
  const [number, unit] = timeText(ns).split(" ");
  return `${withoutZeros(number)} ${unit}`;
}

// Formats a size at the tick of an axis, in the largest unit in which it is whole: 16060 KiB; otherwise to four digits.
function tickSizeText(size) {
  for (const [unit, name] of UNITS) if (size >= unit && size % unit === 0) return `${size / unit} ${name}`;
  const [unit, name] = UNITS.find(([each]) => size >= each) || UNITS[3];
  return `${general(size / unit, 4)} ${name}`;
}

// Formats a value in the unit of its column, exactly, or with `short` for a cell.
function valueText(unit, value, short) {
  if (unit === "time") return timeText(value);
  if (unit === "rate") return rateText(value);
  if (unit === "ms") return `${plainText(value)} ms`;
  if (unit === "share") return wholePercentText(value);
  if (unit === "bytes") return short ? sizeText(value) : exactSizeText(value);
  return short ? numberText(value) : countText(value);
}

// Formats a value at the tick of an axis.
function tickText(unit, value) {
  if (unit === "time") return tickTimeText(value);
  if (unit === "ms") return plainText(value);
  return unit === "bytes" ? tickSizeText(value) : valueText(unit, value, true);
}

// Formats a place on the x axis; a size is also shown to the byte.
function placeText(unit, value) {
  const text = unit === "bytes" ? givenSizeText(value) : valueText(unit, value);
  return unit === "bytes" && !text.endsWith(" B") ? `${text} (${exactSizeText(value)})` : text;
}
