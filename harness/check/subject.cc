#include "check/subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/shell.h"
#include "base/units.h"
#include "check/document.h"
#include "check/plan.h"
#include "os/input_file.h"
#include "run/allocators.h"
#include "run/file_variables.h"

namespace zerotax::check {
namespace {

namespace fs = std::filesystem;

/// "MALLOC_CONF=retain:false", or "no settings".
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

/// The options of `bless` that choose what this baseline holds: none for the usual one.
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
  std::vector<std::string> words{"zerotax", "bless", "--allocator", word_of(allocator), "--baseline", path};
  words.insert(words.end(), scope.begin(), scope.end());
  for (const std::string& word : env_words(allocator.name, allocator.env)) words.push_back(word);
  if (force) words.emplace_back("--force");
  return shell_text(words);
}

/// Baselines of other versions of an allocator in a folder.
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
  const std::string make = "make one with: " + bless_text(allocator, path, false);
  const auto others = folder.empty() ? std::vector<std::string>() : other_versions(folder, allocator.name);
  if (others.empty()) throw UsageError(problem, folder.empty() ? "check the path, or " + make : make);
  throw UsageError(problem,
                   fmt::format("to hold it against another version give --baseline {}, or {}", others.back(), make));
}

/// The one built-in allocator that a baseline is of.
std::string builtin_of(const Baseline& baseline, const std::string& path) {
  for (const BuiltinAllocator& each : builtin_allocators()) {
    if (each.name == baseline.allocator && each.missing.empty()) return each.name;
  }
  throw UsageError(fmt::format("{} is a baseline of {}, which is not built in", path, baseline.allocator),
                   "give its library: " + shell_text({"zerotax", "check", "--allocator", baseline.allocator + "=PATH",
                                                      "--baseline", path}));
}

/// Takes the configuration of the baseline over, if the command line has none.
void match_settings(CheckSubject& subject, bool force) {
  const auto& env = subject.baseline.env;
  Allocator& allocator = subject.allocator;
  if (env == allocator.env) return;
  if (!allocator.env.empty() || force) {
    subject.notes.push_back(fmt::format("The baseline was measured with {}, this with {}: that may explain changes.",
                                        env_text(env), env_text(allocator.env)));
    return;
  }
  announce_variables(
      subject.path, allocator.name, env,
      fmt::format("to set it yourself, give --env {}:KEY=VALUE; to leave it out, give --force", allocator.name));
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
  // A library under another name takes the name of the baseline, unless that is the name of a built-in allocator.
  Allocator accepted = subject.allocator;
  if (accepted.preload && !is_builtin(subject.baseline.allocator)) accepted.name = subject.baseline.allocator;
  const bool other = accepted.name != subject.baseline.allocator || accepted.env != subject.baseline.env;
  subject.accept = bless_text(accepted, path, other, scope_words(allocator, subject.baseline));
  return subject;
}

}  // namespace

std::string word_of(const Allocator& allocator) {
  return allocator.preload ? allocator.name + "=" + *allocator.preload : allocator.name;
}

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
        "name one with --allocator, or give --baseline a folder");
  }
  if (!is_there(baseline)) {
    if (!options.allocators.empty()) {
      say_missing(resolve_allocators(options.allocators, options.env).front(), baseline, "");
    }
    throw UsageError(fmt::format("there is no baseline {}", baseline),
                     "check the path, or make it with: " +
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
  constexpr const char* kRemedy = "give --baseline another file, or overwrite it with --force";
  Baseline old;
  try {
    old = read_baseline(path);
  } catch (const UsageError&) {
    throw UsageError(fmt::format("{} exists and is no baseline: not overwritten", path), kRemedy);
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

}  // namespace zerotax::check
