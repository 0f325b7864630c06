#include "advise/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "advise/result.h"
#include "base/error.h"
#include "base/names.h"
#include "base/units.h"
#include "os/clock.h"
#include "os/elf_file.h"
#include "os/environment.h"
#include "os/print.h"
#include "run/experiment.h"
#include "run/interrupt.h"
#include "run/metered_run.h"

namespace zerotax::advise {
namespace {

/// Whether programs may have transparent huge pages, according to describe_environment().
bool has_huge_pages(const Json& environment) { return text_field(environment, "thp", "never") != "never"; }

/// Performs the runs of a search. Each part of the search is shown as an experiment.
class SearchRuns {
 public:
  using Name = std::function<std::string(std::size_t candidate)>;
  SearchRuns(RunOnce run, Name name) : run_(std::move(run)), name_(std::move(name)) {}

  RunOnce run() {
    return [this](std::size_t candidate) { return once(candidate); };
  }
  OnPart on_part() {
    return [this](const std::string& what, std::size_t runs) {
      part_ = std::make_unique<Experiment>(what);
      part_->expect(runs, static_cast<double>(runs));
    };
  }

 private:
  Trial once(std::size_t candidate) {
    Trial trial;
    Item item;
    item.label = candidate == kPresent ? "the program as it is" : name_(candidate);
    item.measure = [&](const Say&) { trial = run_(candidate); };
    if (!part_->run({item})) trial.end = Trial::End::kStopped;
    return trial;
  }

  RunOnce run_;
  Name name_;
  std::unique_ptr<Experiment> part_;
};

bool by_hand_dominates(const Recorded& recorded) {
  const double by_hand = recorded.share(Cause::kByHand).value_or(0);
  if (by_hand < kNoticed) return false;
  constexpr Cause kOthers[] = {Cause::kFresh,     Cause::kRefilled, Cause::kReturning,
                               Cause::kRedundant, Cause::kNeeded,   Cause::kInFree};
  return std::none_of(std::begin(kOthers), std::end(kOthers),
                      [&](Cause cause) { return recorded.share(cause).value_or(0) >= by_hand; });
}

/// Whether every cause of zeroing takes too little CPU time to matter. Returns false if the times are unknown.
bool nothing_to_gain(const Recorded& recorded) {
  if (!recorded.zeroing() || recorded.tax.not_recorded.noticed || recorded.tax.other_faults.noticed) return false;
  return std::all_of(recorded.causes.begin(), recorded.causes.end(),
                     [&](const RecordedCause& each) { return recorded.share(each.cause).value_or(0) < kNoticed; });
}

/// Whether the goal is a time. If so, each cause's share of CPU time shows whether the cause matters.
bool is_about_time(Goal goal) { return goal == Goal::kCpu || goal == Goal::kWall; }

Others others_of(const Request& request) {
  if (request.method.goal == Goal::kShared && request.allocators.empty()) {
    return {{}, {{"other allocators", "the goal shared tries only the allocators of --allocator"}}};
  }
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
    settings.push_back(setting_of(word, others.allocators, advice.allocator.name));
  }
  for (Remedy& change : advice.at_forks.remedies) {
    change.allocator = advice.allocator.name;  // permits pairs with settings of the allocator
    settings.push_back(change);
  }
  const bool all = request.all || !is_about_time(request.method.goal);
  const bool shared = request.method.goal == Goal::kShared && !request.all;
  const Situation situation{
      advice.allocator, &advice.recording, all, has_huge_pages(advice.environment), advice.inside, shared};
  advice.catalogue = make_catalogue(situation, others.allocators, settings);
  if (request.frontier) {
    // Values of levers replace the known settings. Other allocators have their defaults.
    std::erase_if(advice.catalogue.remedies,
                  [](const Remedy& remedy) { return !remedy.parts.empty() || !remedy.causes.empty(); });
    advice.catalogue.not_tried.clear();
    advice.levers = add_levers(situation, advice.catalogue);
  }
  for (const auto& more : {others.missing, advice.at_forks.not_tried}) {
    advice.catalogue.not_tried.insert(advice.catalogue.not_tried.end(), more.begin(), more.end());
  }
}

/// Limit of the time of a search for the frontier: a multiple of the program's time, or kLeastTime_s if that is more.
/// With the recordings, the advice on a program of a second takes less than six minutes.
constexpr double kMostTime = 330;
constexpr double kLeastTime_s = 60;

/// Announces a search of at most `runs` runs, and at most `most_s` seconds, if the search may take long.
void announce(std::size_t runs, double run_s, double most_s = std::numeric_limits<double>::infinity()) {
  constexpr double kWorthSaying_s = 20;
  const double seconds = std::min(static_cast<double>(runs) * run_s, most_s);
  if (seconds < kWorthSaying_s) return;
  print_text(stderr, "zerotax: at most {:.0f} runs of {} each, about {} in total\n", std::ceil(seconds / run_s),
             format_ns(run_s * 1e9), format_duration(seconds));
}

Recording record_or_not(TargetRunner& runner, const TargetRunner::Variables& variables,
                        const TargetRunner::Words& launcher, bool& stopped) {
  try {
    auto recording = record_target(runner, variables, launcher);
    stopped = !recording;
    return recording.value_or(NotAvailable{"it was interrupted"});
  } catch (const MachineError& error) {
    return NotAvailable{error.what()};
  }
}

/// Searches among the remedies of the catalogue.
void search(Advice& advice, TargetRunner& runner, const std::vector<TargetRunner::Variables>& variables) {
  const std::vector<Remedy>& remedies = advice.catalogue.remedies;
  const std::vector<Candidate> candidates = candidates_of(remedies);
  const auto run = [&](std::size_t candidate) {
    return candidate == kPresent ? runner.run_present()
                                 : runner.run(variables[candidate], remedies[candidate].launcher);
  };
  SearchRuns runs(run, [&](std::size_t candidate) { return remedies[candidate].name; });
  SearchMethod& method = advice.request.method;
  if (!advice.frontier) {
    announce(most_runs(candidates, method), runner.run_s());
    advice.result = search_remedies(candidates, method, runs.run(), runs.on_part());
    return;
  }
  std::vector<Axis> axes;
  for (const ChosenLever& lever : advice.levers) axes.push_back(lever.axis);
  advice.frontier->most_s = std::max(kLeastTime_s, kMostTime * runner.wall_s());
  const auto on_estimate = [&](std::size_t most, double run_s) { announce(most, run_s, advice.frontier->most_s); };
  advice.found = search_frontier(candidates, axes, *advice.frontier, runs.run(), runs.on_part(), on_estimate);
  advice.result = std::move(advice.found.search);
  method.goal = advice.found.goal;
}

/// Throws an exception if the first run lacks the metric of the goal.
void check_goal(const Request& request, const Figures& figures) {
  const Goal goal = request.method.goal;
  if (goal == Goal::kIdle && !figures.idle_bytes) {
    throw UsageError("--goal idle: " + figures.idle_bytes.why(), "give another --goal");
  }
  if (goal == Goal::kShared && !figures.copies->copied_bytes) {
    throw MachineError("--goal shared: " + figures.copies->copied_bytes.why(),
                       "give the program less work, or run it on an idle machine");
  }
}

/// Finds the changes that the program could make before its forks. Returns false if a signal stopped the run.
bool find_fork_changes(Advice& advice, TargetRunner& runner, const ForkHook& hook) {
  const MeteredRun run = runner.run_once(hook.observing());
  if (run.end == MeteredRun::End::kStopped) return false;
  const std::vector<std::string> files =
      advice.recording ? advice.recording->files : std::vector<std::string>{advice.request.target.program};
  const HookNotes notes = hook.notes();
  if (advice.request.method.goal == Goal::kShared) advice.at_forks = fork_remedies(hook, notes, files);
  add_dont_fork(hook, notes, runner.succeeded(run) && runner.same_output(),
                advice.recording ? advice.recording->large_blocks_at : "", advice.at_forks);
  return true;
}

/// Ends the advice after the first run of the unchanged program.
void end_at_first_run(Advice& advice, const Trial& first) {
  advice.result.runs.push_back({Phase::kScreen, 0, kPresent, first});
  advice.nothing_to_gain = advice.complete = true;
  advice.catalogue = {};
}

constexpr unsigned kPairs = 20;

}  // namespace

std::vector<Candidate> candidates_of(const std::vector<Remedy>& remedies) {
  std::vector<Candidate> candidates;
  candidates.reserve(remedies.size());
  for (const Remedy& remedy : remedies) {
    candidates.push_back({settings(remedy), remedy.preload.has_value(), remedy.parts, remedy.parts_must_gain});
  }
  return candidates;
}

Advice advise(const Request& request) {
  Advice advice;
  advice.request = request;
  advice.started = utc_now();
  advice.environment = describe_environment();
  // Checks the names and files of the command line before the first run.
  Others others = others_of(request);
  choose(advice, others);
  TargetRunner runner(request.target);
  const Trial first = runner.run_present();
  if (first.end == Trial::End::kStopped) return advice;
  check_goal(request, first.figures);
  if (request.method.goal == Goal::kShared && copies_little(*first.figures.copies)) {
    end_at_first_run(advice, first);
    return advice;
  }
  bool stopped = false;
  advice.recording = record_or_not(runner, {}, {}, stopped);
  std::optional<ForkHook> hook;
  const bool costly_forks =
      is_about_time(request.method.goal) && !request.frontier && advice.recording && advice.recording->forks_matter();
  if ((request.method.goal == Goal::kShared || costly_forks) && !stopped) {
    stopped = !find_fork_changes(advice, runner, hook.emplace());
  }
  if (stopped) return advice;
  const Recording& recording = advice.recording;
  const std::string library = recording ? recording->allocator_file : "libc.so.6";
  // An allocator in the program's own file belongs to `inside`.
  const bool is_library = file_name(library).find(".so") != std::string::npos;
  advice.allocator = is_library ? record::present_allocator(library) : record::PresentAllocator{"", library, "", {}};
  if (request.frontier) {
    advice.frontier = FrontierMethod{request.method, request.wanted, {}};
    if (!request.max_memory.empty()) {
      advice.frontier->most_extra_bytes = extra_bytes(request.max_memory, first.figures.peak_bytes);
    }
  } else if (!request.all && is_about_time(request.method.goal) && recording && nothing_to_gain(*recording)) {
    if (advice.at_forks.remedies.empty()) {
      advice.nothing_to_gain = advice.complete = true;
      advice.catalogue = {};
      return advice;
    }
    others = {{}, {{"other allocators", "each cause of zeroing is below 1 % of CPU time"}}};
  }
  if (recording) advice.inside = record::allocators_inside(recording->files);
  if (request.allocators.empty()) leave_out(others, advice.allocator.name);
  choose(advice, others);
  advice.request.method.brief = !request.all && !request.frontier && is_about_time(request.method.goal) && recording &&
                                by_hand_dominates(*recording);
  const std::vector<Remedy>& remedies = advice.catalogue.remedies;
  std::vector<TargetRunner::Variables> variables;
  variables.reserve(remedies.size());
  for (const Remedy& remedy : remedies) variables.push_back(environment_of(remedy));
  search(advice, runner, variables);
  advice.complete = advice.result.complete;
  if (!advice.complete || !advice.result.winner) return advice;
  const std::size_t winner = *advice.result.winner;
  advice.after = record_or_not(runner, variables[winner], remedies[winner].launcher, stopped);
  if (!stopped && remedies[winner].preload) advice.startup_ms = startup_cost_ms(variables[winner]);
  return advice;
}

std::optional<double> startup_cost_ms(const TargetRunner::Variables& variables) {
  const std::string program = find_program("true");
  if (program.empty() || !why_not_preloadable(program).empty()) return std::nullopt;
  MeteredCommand plain;
  plain.program = program;
  plain.words = {"true"};
  MeteredCommand changed = plain;
  changed.environment.assign(variables.begin(), variables.end());
  // The fastest run counts, because other activity on the machine only makes a run slower.
  double fastest_plain = std::numeric_limits<double>::infinity();
  double fastest_changed = fastest_plain;
  for (unsigned pair = 0; pair < kPairs; ++pair) {
    for (const bool is_changed : {pair % 2 == 0, pair % 2 != 0}) {
      const MeteredRun run = run_metered(is_changed ? changed : plain);
      if (run.end != MeteredRun::End::kEnded || !run.exited || run.code != 0) return std::nullopt;
      double& fastest = is_changed ? fastest_changed : fastest_plain;
      fastest = std::min(fastest, static_cast<double>(run.wall_ns) / 1e6);
    }
  }
  return fastest_changed - fastest_plain;
}

}  // namespace zerotax::advise
