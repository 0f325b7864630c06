"use strict";
// The points, column by column. A value below zero is the number of the reason why there is none.
const Points = Data.points;
const Columns = new Map(Points.figures.map(figure => [figure.key, figure]));

function why(value) {
  return Points.reasons[-1 - value];
}

// Returns the case, touched fraction and thread to show: those of the address if they were measured, otherwise the
// first.
function view() {
  const groups = Points.groups;
  const wanted = State.get("case", Points.cases[0]);
  const c = Math.max(0, Points.cases.indexOf(wanted));
  const touches = unique(groups.filter(group => group[0] === c).map(group => group[1])).sort((a, b) => a - b);
  const asked = Number(State.get("touch", touches[0]));
  const touch = touches.includes(asked) ? asked : touches[0];
  const threads = unique(groups.filter(group => group[0] === c && group[1] === touch).map(group => group[2])).sort();
  const thread = threads.includes(State.get("thread")) ? State.get("thread") : threads[0];
  return {
    case: Points.cases[c],
    touches,
    touch,
    threads,
    thread,
    groups: groups.filter(group => group[0] === c && group[1] === touch && group[2] === thread),
  };
}

function shown() {
  const off = new Set(State.list("off"));
  return view().groups.filter(group => !off.has(Points.series[group[3]].name));
}

// Returns the thresholds of a line, in bytes and in words: those of the line's touch and thread or, without a search
// there, all thresholds of the line's allocator. In every case, a threshold is a size at which calloc itself changes.
function thresholdsOf(name, touch, thread) {
  const lanes = ((Data.thresholds && Data.thresholds.lanes) || []).filter(lane => lane.name === name);
  const lane = lanes.find(each => each.touch === touch && each.thread === thread);
  if (lane) return lane.changes;
  return lanes.flatMap(each => each.changes).sort((a, b) => a.at - b.at);
}

// Returns the lines of a figure, with the failed points separately.
function linesOf(key, groups) {
  const column = Columns.get(key),
    low = Columns.get(key === "calloc_ns" ? "calloc_p05" : ""),
    high = Columns.get("calloc_p95");
  return groups.map(([, touch, thread, s, from, to]) => {
    const thresholds = thresholdsOf(Points.series[s].name, touch, thread);
    const cuts = thresholds.map(each => each.at);
    const line = {...Points.series[s], thresholds, cuts, xs: Points.sizes.slice(from, to), ys: [], na: [], ended: []};
    for (let row = from; row < to; ++row) {
      const value = column.values[row];
      line.ys.push(value < 0 ? null : value);
      line.na.push(value < 0 ? why(value) : null);
      if (row in Points.status) line.ended.push({x: Points.sizes[row], text: why(Points.status[row])});
    }
    if (low && high) {
      line.low = low.values.slice(from, to);
      line.high = high.values.slice(from, to);
    }
    return line;
  });
}
