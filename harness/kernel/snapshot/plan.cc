#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

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

constexpr unsigned kMostPasses = 1000;

void check_pages(const char* option, std::uint64_t bytes) {
  if (bytes % page_bytes() == 0) return;
  throw UsageError(fmt::format("{} of {} bytes is not a whole number of pages", option, bytes),
                   fmt::format("give a multiple of {}, such as {}", format_size(page_bytes()), page_ceiling(bytes)));
}

void check_number(const char* option, unsigned number, unsigned most) {
  if (number >= 1 && number <= most) return;
  throw UsageError(fmt::format("invalid {} {}", option, number), fmt::format("give 1 to {}", most));
}

/// The alternatives as the program lists them: NAME, KIND, what it is a remedy OF or compared with, and SUMMARY,
/// separated by tabs.
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
  // The others are compared with it.
  std::stable_partition(all.begin(), all.end(), [](const SnapshotAlternative& each) { return each.name == "none"; });
  return all;
}

}  // namespace

void check_snapshot(const SnapshotParameters& parameters) {
  check_pages("--size", parameters.array_bytes);
  check_pages("--batch", parameters.batch_bytes);
  if (parameters.batch_bytes > parameters.array_bytes) {
    throw UsageError(fmt::format("--batch {} is larger than the array of {}", format_size(parameters.batch_bytes),
                                 format_size(parameters.array_bytes)),
                     "give a smaller --batch, or a larger --size");
  }
  // NaN passes every range check.
  if (parameters.hold && std::isnan(*parameters.hold)) {
    throw UsageError("invalid --hold nan", "give a number from 0 to 1");
  }
  check_number("--writers", parameters.writers, kMostThreads);
  check_number("--checkpointers", parameters.checkpointers, kMostThreads);
  check_number("--passes", parameters.passes, kMostPasses);
  const std::string too_large = parameters.array_bytes < kAddressSpaceBytes / (parameters.sizes + 1)
                                    ? why_too_large(parameters.sizes * parameters.array_bytes)
                                    : "it does not fit into the address space";
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
  std::map<std::string, std::vector<std::string>> remedies;  // by what they are remedies of
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

}  // namespace zerotax::snapshot
