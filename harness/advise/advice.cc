#include "advise/advice.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>

#include <algorithm>
#include <memory>

#include "advise/startup.h"
#include "base/error.h"
#include "base/units.h"
#include "core/progress.h"
#include "core/results.h"
#include "os/environment.h"

namespace zerotax::advise {
namespace {

/// Shows what the search does.
class Shown {
 public:
  explicit Shown(std::function<std::string(std::size_t)> name) : name_(std::move(name)) {}

  SearchWatch watch() {
    return {[this](const std::string& what, std::size_t runs) { begin(what, runs); },
            [this](std::size_t candidate) { next(candidate); }};
  }

 private:
  void begin(const std::string& what, std::size_t runs) {
    progress_ = std::make_unique<Progress>(what, runs, static_cast<double>(runs));
    fresh_ = true;
  }
  void next(std::size_t candidate) {
    if (!progress_) return;
    if (!fresh_) progress_->advance(1);
    fresh_ = false;
    progress_->show(candidate == kPresent ? "the program as it is" : name_(candidate));
  }

  std::function<std::string(std::size_t)> name_;
  std::unique_ptr<Progress> progress_;
  bool fresh_ = false;
};

bool by_hand_dominates(const Recording& recording) {
  const double by_hand = recording.share("by_hand").value_or(0);
  if (by_hand < kNoticed) return false;
  for (const char* cause : {"fresh", "refilled", "returning", "redundant", "needed", "in_free"}) {
    if (recording.share(cause).value_or(0) >= by_hand) return false;
  }
  return true;
}

/// No cause of zeroing takes enough time. False where that is not known.
bool nothing_to_gain(const Recording& recording) {
  if (!recording.why_not.empty() || !recording.zeroing()) return false;
  const Json& rows = recording.tax.at("rows");
  return std::all_of(rows.begin(), rows.end(), [&](const Json& row) {
    return recording.share(row.at("cause").get<std::string>()).value_or(0) < kNoticed;
  });
}

/// Whether it is about time, so that the shares of CPU time say what could matter.
bool is_about_time(Goal goal) { return goal == Goal::kCpu || goal == Goal::kWall; }

Others others_of(const Request& request) {
  if (request.settings_only) return {{}, {{"other allocators", "as asked for"}}};
  return allocators_to_try(request.allocators);
}

void choose(Advice& advice, const Others& others) {
  const Request& request = advice.request;
  std::vector<Remedy> settings;
  settings.reserve(request.env.size());
  for (const std::string& word : request.env) {
    const bool again = std::count(request.env.begin(), request.env.end(), word) > 1;
    if (again) throw UsageError(fmt::format("--env {} is given twice", word), "leave one of them out");
    settings.push_back(setting_of(word, others.allocators, advice.allocator));
  }
  const bool all = request.all || !is_about_time(request.method.goal);
  const Json& thp = advice.environment.at("thp");
  const bool huge_pages = thp.is_string() && thp != "never";
  const Situation situation{advice.allocator, advice.allocator_version, &advice.recording, all, huge_pages};
  advice.catalogue = make_catalogue(situation, others.allocators, settings);
  advice.catalogue.not_tried.insert(advice.catalogue.not_tried.end(), others.missing.begin(), others.missing.end());
}

void announce(const std::vector<Candidate>& candidates, const SearchMethod& method, double wall_s) {
  constexpr double kWorthSaying_s = 20;
  const std::size_t runs = most_runs(candidates, method);
  const double seconds = static_cast<double>(runs) * wall_s;
  if (seconds < kWorthSaying_s) return;
  fmt::print(stderr, "zerotax: at most {} runs, of {} each: about {}, or less\n", runs, format_ns(wall_s * 1e9),
             format_duration(seconds));
}

Recording record_or_not(TargetRunner& runner, const TargetRunner::Variables& variables, bool& stopped) {
  try {
    auto recording = record_target(runner, variables);
    stopped = !recording;
    if (recording) return *recording;
  } catch (const MachineError& error) {
    Recording none;
    none.why_not = error.what();
    return none;
  }
  return {"it was interrupted", "", false, {}, {}, ""};
}

}  // namespace

std::vector<Candidate> candidates_of(const std::vector<Remedy>& remedies) {
  std::vector<Candidate> candidates;
  candidates.reserve(remedies.size());
  for (const Remedy& remedy : remedies) {
    candidates.push_back({settings(remedy), !remedy.preload.empty(), remedy.parts, remedy.parts_must_gain});
  }
  return candidates;
}

Advice advise(const Request& request, const std::function<bool()>& stop) {
  Advice advice;
  advice.request = request;
  advice.started = utc_now();
  advice.environment = describe_environment();
  // Names and files of the command line are checked before anything is run.
  Others others = others_of(request);
  choose(advice, others);
  TargetRunner runner(request.target, stop);
  if (runner.run_present().end == Trial::End::kStopped) return advice;
  bool stopped = false;
  advice.recording = record_or_not(runner, {}, stopped);
  if (stopped) return advice;
  const Recording& recording = advice.recording;
  advice.allocator = recording.why_not.empty() ? allocator_name(recording.allocator) : "glibc";
  if (advice.allocator == "glibc") advice.allocator_version = ::gnu_get_libc_version();
  if (!request.all && is_about_time(request.method.goal) && nothing_to_gain(recording)) {
    advice.nothing_to_gain = advice.complete = true;
    advice.catalogue = {};
    return advice;
  }
  if (request.allocators.empty()) leave_out(others, advice.allocator);
  choose(advice, others);
  advice.request.method.brief = !request.all && recording.why_not.empty() && by_hand_dominates(recording);
  const std::vector<Remedy>& remedies = advice.catalogue.remedies;
  std::vector<TargetRunner::Variables> variables;
  variables.reserve(remedies.size());
  for (const Remedy& remedy : remedies) variables.push_back(environment_of(remedy));
  const auto run = [&](std::size_t candidate) {
    return candidate == kPresent ? runner.run_present() : runner.run(variables[candidate]);
  };
  announce(candidates_of(remedies), advice.request.method, runner.wall_s());
  {
    Shown shown([&](std::size_t candidate) { return remedies[candidate].name; });
    advice.result = search_remedies(candidates_of(remedies), advice.request.method, run, shown.watch());
  }
  advice.complete = advice.result.complete;
  if (!advice.complete || !advice.result.winner) return advice;
  const std::size_t winner = *advice.result.winner;
  advice.after = record_or_not(runner, variables[winner], stopped);
  if (!stopped && !remedies[winner].preload.empty()) advice.startup_ms = startup_cost_ms(variables[winner], stop);
  return advice;
}

SelfTest self_test(const Request& request, std::size_t advices, const std::function<bool()>& stop) {
  SelfTest test;
  test.started = utc_now();
  test.environment = describe_environment();
  TargetRunner runner(request.target, stop);
  const auto run = [&](std::size_t) { return runner.run_present(); };
  // As many as an advice under glibc has.
  Advice usual;
  usual.request = request;
  usual.allocator = "glibc";
  usual.request.all = true;
  usual.environment = test.environment;
  choose(usual, others_of(usual.request));
  const std::vector<Candidate> candidates = candidates_of(usual.catalogue.remedies);
  SearchMethod method = request.method;
  while (test.advices < advices && !stop()) {
    Shown shown([](std::size_t) { return std::string("the program as it is"); });
    const SearchResult result = search_remedies(candidates, method, run, shown.watch());
    for (const SearchRun& each : result.runs) test.runs.push_back(each.trial.figures);
    if (!result.complete) break;
    ++test.advices;
    ++method.seed;
    if (result.winner) ++test.alarms;
  }
  return test;
}

}  // namespace zerotax::advise
