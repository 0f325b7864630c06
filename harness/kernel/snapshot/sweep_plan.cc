#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/nearest.h"
#include "base/size.h"
#include "snapshot/sweep.h"

namespace zerotax::snapshot {
namespace {

constexpr std::size_t kMostRows = 1000;
const char* const kAxes[] = {"writers", "checkpointers", "size", "batch", "placement"};
const std::vector<std::string>& placements() {
  static const std::vector<std::string> all{"default", "same", "apart", "interleaved"};
  return all;
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

unsigned thread_count(const std::string& word, const std::string& text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool plain = !text.empty() && (text[0] != '0' || text.size() == 1);
  if (plain && error == std::errc() && end == text.data() + text.size() && value >= 1 && value <= kMostThreads) {
    return value;
  }
  throw UsageError(fmt::format("invalid --sweep '{}': '{}' is not a number of threads", word, text),
                   fmt::format("give 1 to {}, as in writers=1,4,28", kMostThreads));
}

template <typename Value>
void set_axis(std::vector<Value>& axis, Value value) {
  if (std::find(axis.begin(), axis.end(), value) == axis.end()) axis.push_back(value);
}

void take_word(SweepAxes& axes, std::set<std::string>& named, const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  check_word("--sweep", name, {std::begin(kAxes), std::end(kAxes)});
  if (equals == std::string::npos) {
    throw UsageError(fmt::format("--sweep {} has no values", name), fmt::format("give them, as in {}=A,B", name));
  }
  if (!named.insert(name).second) {
    throw UsageError(fmt::format("--sweep {} is given twice", name), "give all values of an axis at once: A,B,C");
  }
  for (const std::string& value : parts_of(word.substr(equals + 1))) {
    if (name == "writers" || name == "checkpointers") {
      set_axis(name == "writers" ? axes.writers : axes.checkpointers, thread_count(word, value));
    } else if (name == "placement") {
      check_word("placement of --sweep", value, placements());
      set_axis(axes.placement, value);
    } else {
      set_axis(name == "size" ? axes.array_bytes : axes.batch_bytes, parse_size(value));
    }
  }
}

/// Few enough for some minutes; from one thread to those of the published program.
SweepAxes usual_axes(std::size_t nodes) {
  SweepAxes axes;
  axes.placement = nodes > 1 ? std::vector<std::string>{"same", "apart"} : std::vector<std::string>{"default"};
  for (const unsigned writers : {1U, std::clamp(std::thread::hardware_concurrency(), 1U, 64U), kPublishedWriters}) {
    set_axis(axes.writers, writers);
  }
  axes.checkpointers = {1, kPublishedCheckpointers};
  axes.array_bytes = {64 * kMiB, 256 * kMiB};
  axes.batch_bytes = {64 * kKiB, 2 * kMiB};
  return axes;
}

}  // namespace

SweepAxes parse_sweep(const std::vector<std::string>& words, const SnapshotParameters& given, std::size_t nodes) {
  SweepAxes axes;
  std::set<std::string> named;
  if (words.size() == 1 && words.front() == "usual") return usual_axes(nodes);
  for (const std::string& word : words) {
    if (word == "usual") throw UsageError("--sweep usual stands alone", "leave out the other --sweep");
    take_word(axes, named, word);
  }
  if (axes.writers.empty()) axes.writers = {given.writers};
  if (axes.checkpointers.empty()) axes.checkpointers = {given.checkpointers};
  if (axes.array_bytes.empty()) axes.array_bytes = {given.array_bytes};
  if (axes.batch_bytes.empty()) axes.batch_bytes = {given.batch_bytes};
  if (axes.placement.empty()) axes.placement = {given.placement};
  if (nodes < 2 && axes.placement != std::vector<std::string>{"default"}) {
    throw MachineError("this machine has one NUMA node", "leave out placement of --sweep");
  }
  return axes;
}

std::vector<SweptRow> sweep_rows(const SweepAxes& axes, const std::vector<SnapshotAlternative>& alternatives,
                                 const SnapshotParameters& given, const SnapshotParameters& published) {
  std::vector<SweptRow> rows;
  for (const std::uint64_t array : axes.array_bytes) {
    for (const std::uint64_t batch : axes.batch_bytes) {
      const std::uint64_t least = *std::min_element(axes.batch_bytes.begin(), axes.batch_bytes.end());
      if (batch > array && batch != least) continue;
      for (const unsigned writers : axes.writers) {
        for (const unsigned checkpointers : axes.checkpointers) {
          for (const std::string& placement : axes.placement) {
            for (const SnapshotAlternative& alternative : alternatives) {
              SnapshotParameters parameters = alternative.published ? published : given;
              parameters.array_bytes = array;
              parameters.batch_bytes = batch;
              parameters.writers = writers;
              parameters.checkpointers = checkpointers;
              parameters.placement = placement;
              check_snapshot(parameters);
              rows.push_back({parameters, no_figures(kNotFinished), alternative.name, Status::kSkipped, kNotFinished});
            }
          }
        }
      }
    }
  }
  if (rows.size() <= kMostRows) return rows;
  throw UsageError(fmt::format("the sweep has {} rows", rows.size()),
                   fmt::format("give fewer values: at most {} rows", kMostRows));
}

}  // namespace zerotax::snapshot
