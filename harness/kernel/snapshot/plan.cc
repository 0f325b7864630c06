#include "snapshot/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/nearest.h"
#include "base/size.h"
#include "base/units.h"
#include "os/child.h"
#include "os/machine_trouble.h"
#include "os/page.h"
#include "run/allocators.h"
#include "run/experiment.h"
#include "snapshot/run.h"

namespace zerotax::snapshot {
namespace {

constexpr unsigned kMostPasses = 1000;  // process/job.cc has the same limit

void check_pages(const char* option, std::uint64_t bytes) {
  if (bytes % page_bytes() == 0) return;
  throw UsageError(fmt::format("{} of {} bytes is not a whole number of pages", option, bytes),
                   fmt::format("give a multiple of {}, such as {}", format_size(page_bytes()), page_ceiling(bytes)));
}

void check_number(const char* option, unsigned number, unsigned most) {
  if (number >= 1 && number <= most) return;
  throw UsageError(fmt::format("invalid {} {}", option, number), fmt::format("give 1 to {}", most));
}

/// Returns the alternatives as the program lists them: NAME, KIND, OF (the alternative to improve or compare with) and
/// SUMMARY, separated by tabs.
std::vector<SnapshotAlternative> all_alternatives() {
  ChildCommand command;
  command.program = helper_program("fork-snapshot");
  command.arguments = {"--list"};
  command.capture = true;
  const ChildResult child = run_child(command, {});
  constexpr const char* kBuild = "build with ./run build, or point ZEROTAX_PROBE_DIR at its folder";
  if (child.end == ChildResult::End::kNotStarted) throw start_trouble(command.program, child, kBuild);
  if (child.end != ChildResult::End::kExited || child.code != 0) {
    throw MachineError("the program fork-snapshot is missing from this build, or does not run", kBuild);
  }
  std::vector<SnapshotAlternative> all;
  std::istringstream lines(child.output);
  for (std::string name, kind, of, summary;
       std::getline(std::getline(std::getline(std::getline(lines, name, '\t'), kind, '\t'), of, '\t'), summary);) {
    SnapshotAlternative each{name, summary, kind == "planted", kind == "remedy" || kind == "published"};
    each.published = kind == "published";
    if (of != "-") (each.published ? each.baseline : each.remedy_of) = of;
    all.push_back(each);
  }
  // `none` comes first, because the other alternatives are compared with it.
  std::stable_partition(all.begin(), all.end(), [](const SnapshotAlternative& each) { return each.name == "none"; });
  return all;
}

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
    throw UsageError(fmt::format("--sweep {} has no values", name), fmt::format("give values, as in {}=A,B", name));
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

/// Axes from one thread up to the number in the published program, with few enough rows for a sweep of some minutes.
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

unsigned SnapshotPlan::sizes() const {
  unsigned most = 0;
  for (const SnapshotAlternative& alternative : alternatives) most = std::max(most, parameters_of(alternative).sizes);
  return most;
}

void check_snapshot(const SnapshotParameters& parameters) {
  check_pages("--size", parameters.array_bytes);
  check_pages("--batch", parameters.batch_bytes);
  if (parameters.batch_bytes > parameters.array_bytes) {
    throw UsageError(fmt::format("--batch {} is larger than the array of {}", format_size(parameters.batch_bytes),
                                 format_size(parameters.array_bytes)),
                     "give a smaller --batch, or a larger --size");
  }
  // NaN would pass every range check.
  if (parameters.hold && std::isnan(*parameters.hold)) {
    throw UsageError("invalid --hold nan", "give a number from 0 to 1");
  }
  check_number("--writers", parameters.writers, kMostThreads);
  check_number("--checkpointers", parameters.checkpointers, kMostThreads);
  check_number("--passes", parameters.passes, kMostPasses);
  const std::string too_large = parameters.array_bytes < kAddressSpaceBytes / (parameters.sizes + 1)
                                    ? why_too_large(parameters.sizes * parameters.array_bytes)
                                    : "a snapshot of this size does not fit into the address space";
  if (too_large.empty()) return;
  throw UsageError(fmt::format("--size {}: {}", format_size(parameters.array_bytes), too_large),
                   fmt::format("give a smaller --size: a snapshot needs {} times as much",
                               parameters.sizes == kPublishedSizes ? "four" : "three"));
}

std::vector<SnapshotAlternative> chosen_alternatives(const std::vector<std::string>& names) {
  std::vector<SnapshotAlternative> all = all_alternatives();
  if (names.empty()) {
    std::erase_if(all, [](const SnapshotAlternative& each) { return each.planted || each.on_request; });
    return all;
  }
  std::vector<SnapshotAlternative> chosen;
  for (const std::string& name : names) {
    const auto same = [&](const SnapshotAlternative& each) { return each.name == name; };
    const auto found = std::find_if(all.begin(), all.end(), same);
    if (found == all.end()) {
      refuse_word(fmt::format("unknown alternative '{}'", name), name, alternative_names());
    }
    if (std::none_of(chosen.begin(), chosen.end(), same)) chosen.push_back(*found);
  }
  return chosen;
}

std::vector<std::string> remedy_names() {
  std::map<std::string, std::vector<std::string>> remedies;  // remedies by the alternative whose faults they remove
  for (const SnapshotAlternative& each : all_alternatives()) {
    if (!each.remedy_of.empty()) remedies[each.remedy_of].push_back(each.name);
  }
  std::vector<std::string> names{"none"};
  for (const auto& [ill, those] : remedies) {
    names.push_back(ill);
    names.insert(names.end(), those.begin(), those.end());
  }
  return names;
}

std::vector<std::string> published_names() {
  std::vector<std::string> names;
  for (const SnapshotAlternative& each : all_alternatives()) {
    if (!each.published) continue;
    names.insert(each.name == each.baseline ? names.begin() : names.end(), each.name);
  }
  return names;
}

std::vector<std::string> alternative_names() {
  std::vector<std::string> names;
  for (const SnapshotAlternative& each : all_alternatives()) {
    if (!each.planted) names.push_back(each.name);
  }
  return names;
}

SweepAxes parse_sweep(const std::vector<std::string>& words, const SnapshotParameters& given, std::size_t nodes) {
  SweepAxes axes;
  std::set<std::string> named;
  if (words.size() == 1 && words.front() == "usual") return usual_axes(nodes);
  for (const std::string& word : words) {
    if (word == "usual")
      throw UsageError("--sweep usual cannot be combined with another --sweep", "leave out the other --sweep");
    take_word(axes, named, word);
  }
  if (axes.writers.empty()) axes.writers = {given.writers};
  if (axes.checkpointers.empty()) axes.checkpointers = {given.checkpointers};
  if (axes.array_bytes.empty()) axes.array_bytes = {given.array_bytes};
  if (axes.batch_bytes.empty()) axes.batch_bytes = {given.batch_bytes};
  if (axes.placement.empty()) axes.placement = {given.placement};
  if (nodes < 2 && axes.placement != std::vector<std::string>{"default"}) {
    throw MachineError("this machine has one NUMA node", "omit the axis placement of --sweep");
  }
  return axes;
}

std::vector<SnapshotPlan> sweep_rows(const SweepAxes& axes, const SnapshotPlan& given) {
  std::vector<SnapshotPlan> rows;
  const std::uint64_t least = *std::min_element(axes.batch_bytes.begin(), axes.batch_bytes.end());
  for (const std::uint64_t array : axes.array_bytes) {
    for (const std::uint64_t batch : axes.batch_bytes) {
      if (batch > array && batch != least) continue;
      for (const unsigned writers : axes.writers) {
        for (const unsigned checkpointers : axes.checkpointers) {
          for (const std::string& placement : axes.placement) {
            for (const SnapshotAlternative& alternative : given.alternatives) {
              SnapshotPlan row = given;
              row.alternatives = {alternative};
              SnapshotParameters& parameters = alternative.published ? row.published : row.parameters;
              parameters.array_bytes = array;
              parameters.batch_bytes = batch;
              parameters.writers = writers;
              parameters.checkpointers = checkpointers;
              parameters.placement = placement;
              check_snapshot(parameters);
              rows.push_back(std::move(row));
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
