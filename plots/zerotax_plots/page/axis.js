"use strict";
// Scales and their ticks: powers on a log axis, round numbers on a linear one.
function powers(low, high, base, most) {
  const first = Math.ceil(Math.log(low) / Math.log(base) - 1e-9),
    last = Math.floor(Math.log(high) / Math.log(base) + 1e-9);
  let step = Math.max(1, Math.ceil((last - first + 1) / most));
  if (base === 2 && step > 1) step = 2 ** Math.ceil(Math.log2(step));
  const found = [];
  for (let power = Math.ceil(first / step) * step; power <= last; power += step) found.push(base ** power);
  return found;
}

function linearTicks(scale, unit, most) {
  const high = Math.max(...scale.domain());
  if (unit !== "bytes") return scale.ticks(most);
  const whole = UNITS.find(([each]) => high >= each) || UNITS[3];
  return d3
    .scaleLinear()
    .domain(scale.domain().map(value => value / whole[0]))
    .ticks(most)
    .map(value => value * whole[0]);
}

function ticksOf(scale, unit, log, most) {
  const [low, high] = scale.domain();
  if (!log) return linearTicks(scale, unit, most);
  const found = powers(scale.least || Math.max(low, 1e-9), high, unit === "bytes" ? 2 : 10, most);
  // If the zoom leaves fewer than two powers, ticks are round numbers.
  if (found.length < 2) return linearTicks(scale, unit, most);
  return scale.least ? [0, ...found] : found;
}

function xScale(unit, log, low, high, width) {
  if (high <= low) {
    low = log ? low / 2 : low - 1;
    high = log ? high * 2 : high + 1;
  }
  if (!log) return d3.scaleLinear().domain([low, high]).range([0, width]);
  const margin = (high / low) ** 0.015;
  return d3
    .scaleLog()
    .base(2)
    .domain([low / margin, high * margin])
    .range([0, width]);
}

// Times and rates have no zero. Counts and bytes have a zero, which a log axis shows below the smallest other value.
function yScale(unit, log, values, height) {
  const zero = unit === "count" || unit === "bytes" || unit === "share";
  let high = 0,
    least = Infinity;
  for (const value of values) {
    if (value > high) high = value;
    if (value > 0 && value < least) least = value;
  }
  if (!isFinite(least)) {
    least = 1;
    high = Math.max(high, 1);
  }
  if (!log)
    return d3
      .scaleLinear()
      .domain([0, high * 1.04])
      .range([height, 0]);
  if (!zero)
    return d3
      .scaleLog()
      .domain([least / 1.5, Math.max(high, least * 10) * 1.3])
      .range([height, 0]);
  // Lines at zero are drawn beside each other, above the axis.
  const scale = d3
    .scaleSymlog()
    .constant(least / 2)
    .domain([0, Math.max(high, least * 10) * 1.3])
    .range([height - 16, 0]);
  scale.least = least;
  return scale;
}
