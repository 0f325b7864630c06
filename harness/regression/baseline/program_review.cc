#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/units.h"
#include "baseline/result.h"
#include "judge/comparison.h"
#include "os/page.h"

namespace zerotax::baseline {
namespace {

using record::SiteKind;
using enum runs::SiteNumber;

/// The key of call stacks that are joined: kind and innermost functions.
using Joined = std::pair<SiteKind, std::vector<std::string>>;

Joined joined(const runs::SiteKey& key, std::size_t depth) {
  return {key.kind,
          {key.stack.begin(), key.stack.begin() + static_cast<std::ptrdiff_t>(std::min(depth, key.stack.size()))}};
}

/// Adds functions that one program calls from several call sites, such as xmalloc, because only the callers distinguish
/// these call sites. A function with a single caller is not added, even if that caller has another name in the other
/// program.
template <typename Sites>
void add_branches(const Sites& sites, std::size_t depth, std::set<Joined>& branches) {
  std::map<Joined, std::set<Joined>> callers;
  for (const auto& [key, site] : sites) callers[joined(key, depth)].insert(joined(key, depth + 1));
  for (const auto& [key, found] : callers) {
    if (found.size() > 1) branches.insert(key);
  }
}

/// Joins call stacks into call sites.
class Places {
 public:
  Places(const Program& before, const runs::CommandRun& after) {
    for (std::size_t depth = 1; depth < kDeepest; ++depth) {
      add_branches(before.sites, depth, branches_);
      add_branches(after.sites, depth, branches_);
    }
  }
  [[nodiscard]] Joined of(const runs::SiteKey& key) const {
    std::size_t depth = 1;
    while (depth < kDeepest && branches_.contains(joined(key, depth))) ++depth;
    return joined(key, depth);
  }

 private:
  static constexpr std::size_t kDeepest = 4;
  std::set<Joined> branches_;
};

bool differs(const SiteChange& site) {
  for (std::size_t i = 0; i < runs::kSiteNumbers; ++i) {
    const std::uint64_t before = site.before.all[i];
    const std::uint64_t after = site.after.all[i];
    const std::uint64_t slack = least_slack(i == 0 ? Unit::kCount : Unit::kBytes, {before, before});
    if (after > before + slack || before > after + slack) return true;
  }
  return false;
}

std::int64_t growth(std::uint64_t before, std::uint64_t after) {
  return static_cast<std::int64_t>(after) - static_cast<std::int64_t>(before);
}

std::uint64_t difference(const SiteChange& site, runs::SiteNumber number) {
  return static_cast<std::uint64_t>(std::abs(growth(site.before[number], site.after[number])));
}

/// A metric, and how it is read from the counts of a call site.
struct Measure {
  std::uint64_t (*of)(const runs::SiteValues& values);
  bool (*is_of)(SiteKind kind);
  std::uint64_t (*bytes)(const runs::SiteValues& values) = of;  ///< returns the bytes to show
};

template <runs::SiteNumber kNumber>
std::uint64_t number(const runs::SiteValues& values) {
  return values[kNumber];
}
std::uint64_t fresh(const runs::SiteValues& values) {
  return values[kKernelZeroed] - std::min(values[kKernelZeroed], values[kRefilled]);
}

bool any(SiteKind /*kind*/) { return true; }
bool is_new_block(SiteKind kind) { return kind == SiteKind::kByHand; }
bool is_other_memory(SiteKind kind) { return kind == SiteKind::kCleared; }
bool is_allocator(SiteKind kind) { return !is_new_block(kind) && !is_other_memory(kind); }
bool none(SiteKind /*kind*/) { return false; }
bool allocates(SiteKind kind) {
  return kind == SiteKind::kOther || kind == SiteKind::kCalloc || kind == SiteKind::kRealloc;
}

Measure measure_of(runs::Metric metric) {
  const runs::MetricRow& row = row_of(metric);
  if (metric == runs::Metric::kPeakLive) return {number<kLive>, any};
  switch (row.family) {
    case runs::Family::kOfAllocator:
      return {number<kZeroed>, is_allocator};
    case runs::Family::kOfNewBlocks:
      return {number<kZeroed>, is_new_block};
    case runs::Family::kOfProgram:
      return {number<kZeroed>, is_other_memory};
    case runs::Family::kOfPeak:
    case runs::Family::kOfMappings:
      return {fresh, any};
    case runs::Family::kOfCalls:
      if (row.unit == Unit::kCount) return {number<kCalls>, allocates, number<kRequested>};
      return {number<kRequested>, allocates};
    case runs::Family::kOfProcesses:
      return {number<kCalls>, none};
    case runs::Family::kOfKernel:
    case runs::Family::kOfResident:
      break;
  }
  if (metric == runs::Metric::kFresh) return {fresh, any};
  return {metric < runs::Metric::kReturned ? number<kKernelZeroed> : number<kReturned>, any};
}

/// Returns the call site with the largest growth (`up`) or decrease, or nullptr if no call site changed in that
/// direction.
const SiteChange* explaining(const std::vector<SiteChange>& sites, const Measure& measure, bool up) {
  const SiteChange* found = nullptr;
  std::int64_t most = 0;
  for (const SiteChange& site : sites) {
    if (!measure.is_of(site.kind)) continue;
    const std::int64_t more = growth(measure.of(site.before), measure.of(site.after)) * (up ? 1 : -1);
    if (more <= most) continue;
    most = more;
    found = &site;
  }
  return found;
}

/// Returns words such as "returned by free in f (f.cc:3), 0 → 64 calls, 0 B → 64 MiB".
std::string site_words(const SiteChange& site, const Measure& measure) {
  const std::string bytes =
      fmt::format("{} → {}", format_size(measure.bytes(site.before)), format_size(measure.bytes(site.after)));
  // Omits the number of calls, because possibly only a few of these calls made the live blocks.
  if (measure.of == number<kLive>) return fmt::format("{}, {}", place_words(site), bytes);
  const std::uint64_t before = site.before[kCalls];
  const std::string after = format_counted(site.after[kCalls], "call");
  return fmt::format("{}{}, {}, {}", measure.of == number<kReturned> ? "returned by " : "", place_words(site),
                     before == site.after[kCalls] ? after : fmt::format("{} → {}", format_count(before), after), bytes);
}

/// Returns the increase (`up`) or decrease of a metric of the command. The result is negative if the metric changed in
/// the opposite direction, and 0 if the metric is unknown.
std::int64_t more_of(const ProgramCheck& check, runs::Metric metric, bool up) {
  const auto& before = check.baseline.metrics[metric];
  const auto& after = check.measured.all[metric];
  return before && after ? growth(before->nearest(*after), *after) * (up ? 1 : -1) : 0;
}

/// Returns the size of a change: the distance from the baseline's range to the new value.
std::int64_t size_of(const ProgramChange& change) {
  return change.grew() ? growth(change.before.high, change.after) : growth(change.after, change.before.low);
}

/// Returns the size of a change of kernel-zeroed memory or faults, in bytes. A fault counts as a page, or more with
/// huge pages.
std::int64_t kernel_bytes(const ProgramCheck& check, const ProgramChange& change) {
  if (row_of(change.metric).unit == Unit::kBytes) return size_of(change);
  const auto page = static_cast<std::int64_t>(page_bytes());
  const std::int64_t faults = more_of(check, runs::Metric::kZeroFillFaults, change.grew());
  const std::int64_t bytes = more_of(check, runs::Metric::kKernelZeroed, change.grew());
  const std::int64_t a_fault = faults > 0 ? std::max(page, bytes / faults) : page;
  return size_of(change) * a_fault;
}

/// Returns whether a part is at least half of the whole, and so can explain it.
bool is_most(std::int64_t part, std::int64_t whole) { return part > 0 && part >= whole - part; }

/// Explains a change of kernel-zeroed memory or faults by memory that was returned and filled again, or by fresh
/// memory. Empty if neither is at least half of the change, because then most faults are copy faults or file faults.
std::string kernel_words(const ProgramCheck& check, const ProgramChange& change) {
  const bool up = change.grew();
  const std::int64_t whole = kernel_bytes(check, change);
  const std::int64_t refilled = more_of(check, runs::Metric::kRefilled, up);
  const auto by_site = [&](runs::Metric metric, std::int64_t bytes) -> std::string {
    const Measure measure = measure_of(metric);
    const SiteChange* site = explaining(check.sites, measure, up);
    if (site == nullptr) return "";
    const std::int64_t part = growth(measure.of(site->before), measure.of(site->after)) * (up ? 1 : -1);
    return is_most(part, bytes) ? site_words(*site, measure) : "";
  };
  if (!is_most(refilled, whole)) return by_site(runs::Metric::kKernelZeroed, whole);
  const std::uint64_t pages = static_cast<std::uint64_t>(refilled) / page_bytes();
  std::string words = up ? format_counted(pages, "refill") : format_counted(pages, "refill fewer", "refills fewer");
  for (const runs::Metric metric : {runs::Metric::kReturned, runs::Metric::kRefilled}) {
    const std::string site = by_site(metric, refilled);
    if (!site.empty()) return fmt::format("{}; {}", words, site);
  }
  return words;
}

/// Returns the change in this direction that the headline shows. A change of the command as a whole precedes a change
/// of a process. Only the first change of a metric family counts.
const ProgramChange* headline(const std::vector<ProgramChange>& changes, Direction direction) {
  const ProgramChange* best = nullptr;
  for (const bool whole : {true, false}) {
    std::vector<runs::Family> families;
    for (const ProgramChange& change : changes) {
      const runs::Family family = row_of(change.metric).family;
      if (change.direction != direction || change.process.empty() != whole) continue;
      if (whole && std::find(families.begin(), families.end(), family) != families.end()) continue;
      families.push_back(family);
      if (best == nullptr || times(change) > times(*best)) best = &change;
    }
    if (best != nullptr) break;
  }
  return best;
}

/// Returns whether a call site explains at least half of a change. The call sites of blocks of less than 64 KiB are not
/// recorded.
bool explains(const SiteChange& site, const ProgramChange& change, const Measure& measure) {
  return is_most(growth(measure.of(site.before), measure.of(site.after)) * (change.grew() ? 1 : -1), size_of(change));
}

/// Explains a change of resident memory by the part that makes up most of the change, and growth of free memory by the
/// call site with the most free memory.
std::string resident_words(const ProgramCheck& check, const ProgramChange& change) {
  using enum runs::Metric;
  constexpr std::size_t kParts = static_cast<std::size_t>(kLiveAtPeak) - static_cast<std::size_t>(kLiveAtIdle);
  const auto place = [&](runs::Metric metric) -> std::string {
    const auto found = check.measured.resident_places.find(metric);
    return !change.grew() || found == check.measured.resident_places.end() ? "" : found->second;
  };
  const auto first = static_cast<std::size_t>(change.metric);
  if (change.metric != kResidentAtIdle && change.metric != kResidentAtPeak && change.metric != kResidentAtEnd) {
    return place(change.metric);
  }
  for (std::size_t i = first + 1; i < first + kParts; ++i) {
    const auto part = static_cast<runs::Metric>(i);
    if (!is_most(more_of(check, part, change.grew()), size_of(change))) continue;
    const std::string at = place(part);
    return fmt::format("{} {} → {}{}", row_of(part).name,
                       format_size(check.baseline.metrics[part]->nearest(*check.measured.all[part])),
                       format_size(*check.measured.all[part]), at.empty() ? "" : ", " + at);
  }
  return "";
}

std::string headline_words(const ProgramCheck& check, const ProgramChange& change) {
  const bool up = change.grew();
  std::string why;
  if (is_of_resident(change.metric)) {
    why = resident_words(check, change);
  } else if (change.metric <= runs::Metric::kRefilled && change.metric != runs::Metric::kFresh) {
    why = kernel_words(check, change);
  } else if (const SiteChange* site = explaining(check.sites, measure_of(change.metric), up)) {
    if (explains(*site, change, measure_of(change.metric))) why = site_words(*site, measure_of(change.metric));
  }
  return words_of(change) + (why.empty() ? "" : ": " + why);
}

/// Returns the cost that grew, or nothing if no advice concerns the metric.
std::optional<Costly> costly_of(const ProgramCheck& check, const ProgramChange& change) {
  using enum runs::Metric;
  switch (change.metric) {
    case kMinorFaults:
    case kZeroFillFaults:
    case kKernelZeroed: {
      const std::int64_t whole = kernel_bytes(check, change);
      if (is_most(more_of(check, kRefilled, true), whole)) return Costly::kRefilled;
      if (is_most(more_of(check, kFresh, true), whole)) return Costly::kFresh;
      return std::nullopt;
    }
    case kReturned:
      return Costly::kRefilled;
    case kZeroed:
      return Costly::kCleared;
    case kZeroedInFree:
      return Costly::kInFree;
    case kByHand:
      return Costly::kByHand;
    case kByProgram:
      return Costly::kByProgram;
    default:
      return std::nullopt;
  }
}

}  // namespace

double times(const ProgramChange& change) {
  const auto floor = static_cast<double>(least_slack(row_of(change.metric).unit, {}));
  const bool up = change.grew();
  const double before = static_cast<double>(up ? change.before.high : change.before.low) + floor;
  const double after = static_cast<double>(change.after) + floor;
  return up ? after / before : before / after;
}

std::string advice_of(const ProgramCheck& check) {
  const ProgramChange* change = headline(check.changes, Direction::kWorse);
  const auto costly = change == nullptr ? std::nullopt : costly_of(check, *change);
  if (!costly) return "";
  Evidence evidence = check.measured.evidence;
  evidence.costly = *costly;
  const AdviceRow* row = advice_row(evidence);
  return row == nullptr || !row->of_program ? "" : advice_words(row, evidence);
}

std::string place_words(const SiteChange& site) {
  constexpr const char* kWords[] = {"calloc in ", "realloc in ", "memset of a new block in ", "malloc in ",
                                    "free in ",   "a purge in ", "the program in ",           "memset in "};
  return kWords[static_cast<std::size_t>(site.kind)] + words_of(site.place) +
         (site.called_by.empty() ? "" : ", called by " + site.called_by);
}

runs::SiteNumber most_different(const SiteChange& site) {
  runs::SiteNumber most = kRequested;
  for (std::size_t i = 1; i < runs::kSiteNumbers; ++i) {
    const auto number = static_cast<runs::SiteNumber>(i);
    if (difference(site, number) > difference(site, most)) most = number;
  }
  return most;
}

std::vector<SiteChange> site_changes(const Program& baseline, const runs::CommandRun& run) {
  const Places places(baseline, run);
  std::map<Joined, SiteChange> all;
  const auto place_at = [&](const runs::SiteKey& key, const runs::Place& place) -> SiteChange& {
    const Joined at = places.of(key);
    SiteChange& change = all[at];
    change.kind = key.kind;
    change.place = place;
    if (at.second.size() > 1) change.called_by = at.second.back();
    return change;
  };
  for (const auto& [key, site] : baseline.sites) {
    const auto now = run.sites.find(key);
    SiteChange& change = place_at(key, site.place);
    for (std::size_t i = 0; i < runs::kSiteNumbers; ++i) {
      const std::uint64_t value = now == run.sites.end() ? 0 : now->second.numbers.all[i];
      change.before.all[i] += site.numbers.all[i].nearest(value);
    }
  }
  // The run's call sites are added last, so that a call site has the source lines of the program that ran.
  for (const auto& [key, site] : run.sites) {
    SiteChange& change = place_at(key, site.place);
    for (std::size_t i = 0; i < runs::kSiteNumbers; ++i) change.after.all[i] += site.numbers.all[i];
  }
  std::vector<SiteChange> found;
  for (auto& [at, change] : all) {
    // A baseline of an earlier version contains no call sites.
    if (!baseline.metrics[runs::Metric::kPeakLive]) change.after[kLive] = change.before[kLive];
    if (differs(change)) found.push_back(std::move(change));
  }
  const auto weight = [](const SiteChange& site) { return difference(site, most_different(site)); };
  std::stable_sort(found.begin(), found.end(),
                   [&](const SiteChange& one, const SiteChange& other) { return weight(one) > weight(other); });
  return found;
}

std::string words_of(const ProgramChange& change) {
  const runs::MetricRow& row = row_of(change.metric);
  return fmt::format("{} {} → {}", name_of(row, change.process),
                     format_value(row.unit, change.grew() ? change.before.high : change.before.low),
                     format_value(row.unit, change.after));
}

std::string sentence_of(const ProgramCheck& check, const std::string& same) {
  if (check.verdict == Verdict::kSame) {
    std::size_t compared = 0;
    for (const runs::MetricRow& row : runs::metric_rows()) {
      compared += check.baseline.metrics[row.metric] && check.measured.all[row.metric] ? 1 : 0;
    }
    return fmt::format("same: {} {}", format_counted(compared, "metric"), same);
  }
  std::string sentence = word(check.verdict);
  const char* between = ": ";
  for (const Direction direction : {Direction::kWorse, Direction::kBetter, Direction::kNeither}) {
    const ProgramChange* change = headline(check.changes, direction);
    if (change == nullptr || (direction == Direction::kNeither && check.verdict != Verdict::kChanged)) continue;
    sentence += between + headline_words(check, *change);
    between = "; better: ";
  }
  return sentence;
}

}  // namespace zerotax::baseline
