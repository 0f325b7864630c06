#include "baseline/subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/nearest.h"
#include "base/shell.h"
#include "base/size.h"
#include "base/units.h"
#include "baseline/document.h"
#include "baseline/measurer.h"
#include "os/input_file.h"
#include "point/metrics.h"
#include "run/allocators.h"
#include "run/program_launch.h"

namespace zerotax::baseline {
namespace {

namespace fs = std::filesystem;

/// Returns words such as "MALLOC_CONF=retain:false", or "no settings".
std::string env_text(const std::map<std::string, std::string>& env) {
  std::vector<std::string> words;
  words.reserve(env.size());
  for (const auto& [key, value] : env) words.push_back(fmt::format("{}={}", key, value));
  return words.empty() ? "no settings" : fmt::format("{}", fmt::join(words, " "));
}

std::vector<std::string> env_words(const std::string& name, const std::map<std::string, std::string>& env) {
  std::vector<std::string> words;
  for (const auto& [key, value] : env) words.insert(words.end(), {"--env", fmt::format("{}:{}={}", name, key, value)});
  return words;
}

/// Returns the options of `bless` that select the content of this baseline. Empty for the default content.
std::vector<std::string> scope_words(const Allocator& allocator, const Baseline& baseline) {
  std::set<std::uint64_t> usual;
  std::set<std::uint64_t> held;
  for (const PointSpec& point : baseline_plan(allocator, 1).points) usual.insert(point.size_bytes);
  for (const Point& point : baseline.points) held.insert(point.size_bytes);
  if (held == usual) return {};
  std::vector<std::string> words;
  for (const std::uint64_t size : held) words.insert(words.end(), {"--size", size_word(size)});
  if (baseline.thresholds) words.emplace_back("--thresholds");
  return words;
}

std::string bless_text(const Allocator& allocator, const std::string& path, bool force,
                       const std::vector<std::string>& scope = {}) {
  std::vector<std::string> words{"zerotax", "bless", "--allocator", allocator_word(allocator), "--baseline", path};
  words.insert(words.end(), scope.begin(), scope.end());
  for (const std::string& word : env_words(allocator.name, allocator.env)) words.push_back(word);
  if (force) words.emplace_back("--force");
  return shell_text(words);
}

/// Returns the baselines of other versions of an allocator in a folder.
std::vector<std::string> other_versions(const std::string& folder, const std::string& name) {
  std::vector<std::string> files;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string file = entry.path().filename();
    if (file.starts_with(name + "-") && file.ends_with(".json")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

[[noreturn]] void say_missing(const Allocator& allocator, const std::string& path, const std::string& folder) {
  const std::string problem = fmt::format("no baseline for {} ({})", name_and_version(allocator), path);
  const std::string make = "make a baseline with: " + bless_text(allocator, path, false);
  const auto others = folder.empty() ? std::vector<std::string>() : other_versions(folder, allocator.name);
  if (others.empty()) throw UsageError(problem, folder.empty() ? "check the path, or " + make : make);
  throw UsageError(problem,
                   fmt::format("to compare with another version, give --baseline {}, or {}", others.back(), make));
}

/// Returns the built-in allocator that a baseline names.
std::string builtin_of(const Baseline& baseline, const std::string& path) {
  for (const BuiltinAllocator& each : builtin_allocators()) {
    if (each.name == baseline.allocator && each.missing.empty()) return each.name;
  }
  throw UsageError(fmt::format("{} is a baseline of {}, which is not built in", path, baseline.allocator),
                   "give its library: " + shell_text({"zerotax", "check", "--allocator", baseline.allocator + "=PATH",
                                                      "--baseline", path}));
}

/// Uses the configuration of the baseline if the command line has none.
void match_settings(CheckSubject& subject, bool force) {
  const auto& env = subject.baseline.env;
  Allocator& allocator = subject.allocator;
  if (env == allocator.env) return;
  if (!allocator.env.empty() || force) {
    subject.notes.push_back(
        fmt::format("The baseline was measured with {}, this run with {}: the difference may explain changes.",
                    env_text(env), env_text(allocator.env)));
    return;
  }
  announce_variables(
      subject.path, allocator.name, env,
      fmt::format("to set the variables yourself, give --env {}:KEY=VALUE; to leave them out, give --force",
                  allocator.name));
  allocator.env = env;
  subject.notes.push_back(fmt::format("Measured with {}, as the baseline was.", env_text(env)));
}

void match_name(CheckSubject& subject, bool force) {
  const std::string& named = subject.baseline.allocator;
  Allocator& allocator = subject.allocator;
  if (named == allocator.name) return;
  if (!allocator.preload && !force) {
    throw UsageError(
        fmt::format("{} is a baseline of {}, not of {}", subject.path, named, allocator.name),
        fmt::format("compare two allocators with `zerotax compare {} {}`, or add --force", named, allocator.name));
  }
  subject.notes.push_back(fmt::format("The baseline is of {}; {} is compared with it.", named, allocator.name));
}

CheckSubject subject_of(const Allocator& allocator, const std::string& path, Baseline baseline, bool force) {
  CheckSubject subject{allocator, path, std::move(baseline), {}, ""};
  match_name(subject, force);
  match_settings(subject, force);
  // Gives a library the allocator name of the baseline, unless this is the name of a built-in allocator.
  Allocator accepted = subject.allocator;
  if (accepted.preload && !is_builtin(subject.baseline.allocator)) accepted.name = subject.baseline.allocator;
  const bool other = accepted.name != subject.baseline.allocator || accepted.env != subject.baseline.env;
  subject.accept = bless_text(accepted, path, other, scope_words(allocator, subject.baseline));
  return subject;
}

constexpr const char* kThresholds = "thresholds";

bool holds(Metric metric) {
  return std::find(kSteadyMetrics.begin(), kSteadyMetrics.end(), metric) != kSteadyMetrics.end();
}

bool is_number(Metric metric) { return row_of(metric).kind != MetricKind::kWord; }

std::vector<std::string> keys(bool only_numbers) {
  std::vector<std::string> found = compared_words();
  if (only_numbers)
    std::erase_if(found, [](const auto& key) { return key == kThresholds || !is_number(*metric_of_key(key)); });
  return found;
}

Metric metric_of_word(const std::string& option, const std::string& word, bool only_numbers) {
  const auto metric = metric_named(word);
  const auto refuse = [&](const char* why) {
    refuse_word(fmt::format("invalid {} '{}': {}", option, word, why), word, keys(only_numbers));
  };
  if (!metric) refuse("no such metric");
  if (!holds(*metric)) refuse("no baseline contains the metric");
  if (only_numbers && !is_number(*metric)) refuse("it is not a number");
  return *metric;
}

/// Parses "5%", "4KiB" or "2"; returns nothing for anything else.
std::optional<Tolerance> parse_tolerance(const std::string& text) {
  if (!text.ends_with('%')) {
    try {
      return Tolerance{static_cast<double>(parse_size(text)), false};
    } catch (const UsageError&) {
      return std::nullopt;
    }
  }
  double percent = 0;
  const char* end = text.data() + text.size() - 1;
  const auto [rest, failure] = std::from_chars(text.data(), end, percent);
  if (failure != std::errc() || rest != end || percent <= 0 || percent > 100) return std::nullopt;
  return Tolerance{percent / 100, true};
}

void add_tolerance(const std::string& word, Tolerances& tolerances) {
  const auto equals = word.find('=');
  Metric metric{};
  std::optional<Tolerance> tolerance;
  if (equals != std::string::npos) {
    metric = metric_of_word("--tolerance", word.substr(0, equals), true);
    tolerance = parse_tolerance(word.substr(equals + 1));
  }
  if (!tolerance) {
    throw UsageError(fmt::format("invalid --tolerance '{}'", word),
                     "give METRIC=N, as in calloc_faults=2, zeroed_bytes=4KiB or returned_bytes=5%");
  }
  if (!tolerances.emplace(metric, *tolerance).second) {
    throw UsageError(fmt::format("--tolerance {} is given twice", row_of(metric).key), "give each metric once");
  }
}

}  // namespace

std::vector<CheckSubject> resolve_subjects(const MeasureOptions& options, const std::string& baseline, bool force) {
  std::error_code failure;
  std::vector<CheckSubject> subjects;
  if (fs::is_directory(baseline, failure)) {
    for (const Allocator& allocator : resolve_allocators(options.allocators, options.env)) {
      const std::string path = baseline + "/" + baseline_file_name(allocator);
      if (!is_there(path)) say_missing(allocator, path, baseline);
      subjects.push_back(subject_of(allocator, path, read_baseline(path), force));
    }
    return subjects;
  }
  if (options.allocators.size() > 1) {
    throw UsageError(
        fmt::format("{} allocators cannot be compared with one baseline {}", options.allocators.size(), baseline),
        "name an allocator with --allocator, or give --baseline a folder");
  }
  if (!is_there(baseline)) {
    if (!options.allocators.empty()) {
      say_missing(resolve_allocators(options.allocators, options.env).front(), baseline, "");
    }
    throw UsageError(fmt::format("there is no baseline {}", baseline),
                     "check the path, or make the baseline with: " +
                         shell_text({"zerotax", "bless", "--allocator", "NAME", "--baseline", baseline}));
  }
  Baseline read = read_baseline(baseline);
  std::vector<std::string> words = options.allocators;
  if (words.empty()) words.push_back(builtin_of(read, baseline));
  const std::vector<Allocator> allocators = resolve_allocators(words, options.env);
  subjects.push_back(subject_of(allocators.front(), baseline, std::move(read), force));
  if (options.allocators.empty()) {
    subjects.front().notes.insert(subjects.front().notes.begin(),
                                  fmt::format("Measured {}, which the baseline names.", allocators.front().name));
  }
  return subjects;
}

void check_overwrite(const Allocator& allocator, const std::string& path, bool force) {
  std::error_code failure;
  if (force || !fs::is_regular_file(path, failure)) return;
  constexpr const char* kRemedy = "give --baseline another file, or overwrite this one with --force";
  Baseline old;
  try {
    old = read_baseline(path);
  } catch (const UsageError&) {
    throw UsageError(fmt::format("{} exists and is not a baseline: not overwritten", path), kRemedy);
  }
  if (old.allocator != allocator.name) {
    throw UsageError(
        fmt::format("{} is a baseline of {}, not of {}: not overwritten", path, old.allocator, allocator.name),
        kRemedy);
  }
  if (old.env != allocator.env) {
    throw UsageError(fmt::format("{} is a baseline of {} with {}, not with {}: not overwritten", path, allocator.name,
                                 env_text(old.env), env_text(allocator.env)),
                     kRemedy);
  }
}

std::vector<std::string> compared_words() {
  std::vector<std::string> words;
  for (const Metric metric : kSteadyMetrics) words.emplace_back(row_of(metric).key);
  words.emplace_back(kThresholds);
  return words;
}

CheckScope parse_scope(const std::vector<std::string>& sizes, const std::vector<std::string>& only,
                       const std::vector<std::string>& tolerances) {
  CheckScope scope;
  for (const std::string& size : sizes) scope.sizes.push_back(parse_size(size));
  const bool wants_thresholds = std::find(only.begin(), only.end(), kThresholds) != only.end();
  if (wants_thresholds && !sizes.empty()) {
    throw UsageError("--only thresholds and --size exclude each other",
                     "leave out one of the options: thresholds belong to all sizes");
  }
  scope.thresholds = sizes.empty() && (only.empty() || wants_thresholds);
  scope.all_metrics = only.empty();
  for (const std::string& word : only) {
    if (word != kThresholds) scope.metrics.push_back(metric_of_word("--only", word, false));
  }
  for (const std::string& word : tolerances) add_tolerance(word, scope.tolerances);
  return scope;
}

void refuse_other_sizes(const std::vector<std::uint64_t>& sizes, const std::set<std::uint64_t>& held,
                        const std::string& problem) {
  std::vector<std::string> words;
  words.reserve(held.size());
  for (const std::uint64_t size : held) words.push_back(format_size(size));
  for (const std::uint64_t size : sizes) {
    if (held.contains(size)) continue;
    throw UsageError(fmt::format("{} {}", problem, format_given_size(size)), choices_text(words));
  }
}

Baseline cut_to_sizes(const Baseline& baseline, const CheckScope& scope, const std::string& file) {
  Baseline cut = baseline;
  if (!scope.thresholds) {
    cut.thresholds.reset();
    cut.uncertain.clear();
  }
  if (scope.sizes.empty()) return cut;
  std::set<std::uint64_t> held;
  for (const Point& point : baseline.points) held.insert(point.size_bytes);
  refuse_other_sizes(scope.sizes, held, file + " has no point of");
  const auto is_out = [&](std::uint64_t size) {
    return std::find(scope.sizes.begin(), scope.sizes.end(), size) == scope.sizes.end();
  };
  std::erase_if(cut.points, [&](const Point& point) { return is_out(point.size_bytes); });
  std::erase_if(cut.ranges, [&](const SeenRange& range) { return is_out(range.point.size_bytes); });
  return cut;
}

Baseline cut_to_metrics(const Baseline& baseline, const CheckScope& scope) {
  Baseline cut = baseline;
  if (scope.all_metrics) return cut;
  if (scope.metrics.empty()) cut.points.clear();
  const auto is_kept = [&](Metric metric) {
    return std::find(scope.metrics.begin(), scope.metrics.end(), metric) != scope.metrics.end();
  };
  const auto drop = [&](std::initializer_list<Metric> held, MetricValues& values) {
    for (const Metric metric : held) {
      if (!is_kept(metric)) values[metric] = MetricValue();
    }
  };
  std::erase_if(cut.ranges, [&](const SeenRange& range) { return !is_kept(range.metric); });
  for (Point& point : cut.points) {
    drop(kSteadyMetrics, point);
    for (FirstOperation& operation : point.first_ops) drop(kEarlyMetrics, operation);
  }
  return cut;
}

}  // namespace zerotax::baseline
