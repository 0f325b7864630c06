#include "run/fleet/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <thread>

#include "base/error.h"
#include "base/lines.h"
#include "base/shell.h"
#include "base/units.h"
#include "files/output_file.h"
#include "os/input_file.h"
#include "os/print.h"
#include "run/fleet/job_folder.h"
#include "run/fleet/slurm.h"
#include "run/interrupt.h"
#include "run/metered_run.h"
#include "run/progress.h"

namespace zerotax::fleet {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Intervals at which results are collected and Slurm is queried. The interval grows with the duration of a job.
constexpr Clock::duration kFirstLook = std::chrono::milliseconds(300);
constexpr Clock::duration kLastLook = std::chrono::seconds(3);
constexpr Clock::duration kFirstAsk = std::chrono::seconds(1);
constexpr Clock::duration kLastAsk = std::chrono::seconds(15);
/// Maximum delay until another host's files are visible on this host. NFS caches a folder for up to a minute, but asks
/// the server again when the folder is opened.
constexpr auto kFilesLate = std::chrono::seconds(5);
/// Maximum time that Slurm needs to list a job, or to cancel one.
constexpr auto kSlurmLate = std::chrono::seconds(20);

std::string new_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

std::string script_text(const JobFolder& folder, const std::string& token) {
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  return fmt::format(
      "#!/bin/sh\n"
      "# Written by zerotax: each task of the array measures one shard. A task that is started again continues "
      "where it was.\n"
      "[ \"$(cat {0}/token 2>/dev/null)\" = {1} ] || {{ echo \"zerotax: $(hostname) does not see \"{0}; exit 2; }}\n"
      "[ -x {2} ] || {{ echo \"zerotax: $(hostname) has no \"{2}; exit 3; }}\n"
      "exec {2} shard {0} \"$SLURM_ARRAY_TASK_ID\"\n",
      shell_word(folder.path()), token, shell_word(program));
}

std::map<std::string, double> seconds_of(const std::vector<Item>& items, const std::set<std::string>& keys) {
  std::map<std::string, double> seconds;
  for (const Item& item : items) {
    if (keys.contains(item.key)) seconds.emplace(item.key, item.seconds);
  }
  return seconds;
}

double sum_of(const std::map<std::string, double>& seconds) {
  double sum = 0;
  for (const auto& [key, each] : seconds) sum += each;
  return sum;
}

/// Sleeps for `duration`, or until a signal requests termination.
void sleep_unless_stopped(Clock::duration duration) {
  constexpr auto kStep = std::chrono::milliseconds(50);
  for (Clock::duration slept{}; slept < duration && !stop_requested(); slept += kStep)
    std::this_thread::sleep_for(kStep);
}

bool all_ended(const std::vector<SlurmTask>& tasks) {
  return std::all_of(tasks.begin(), tasks.end(), [](const SlurmTask& task) { return task.has_ended(); });
}

/// A job of a fleet, from its submission to its end.
class SlurmJob {
 public:
  /// Opens the job's folder, or creates it and divides the work. Throws UsageError if the folder belongs to other work.
  SlurmJob(const Work& work, const std::set<std::string>& missing, const Place& place, const JobRequest& request)
      : place_(place),
        folder_(request.results, request.name),
        cpus_(work.cpus()),
        memory_bytes_(work.memory_bytes()),
        seconds_(seconds_of(work.items(), missing)),
        missing_(missing),
        progress_("measuring on Slurm", missing.size(), sum_of(seconds_)) {
    if (const auto earlier = folder_.read_plan()) {
      if (earlier->work != request.work || earlier->kind != request.kind) {
        throw UsageError(fmt::format("{} belongs to a job with other work", folder_.path()), "give --out a new folder");
      }
      plan_ = *earlier;
      return;
    }
    plan_ = {request.kind, new_token(), work.is_timed(), cut_into_shards(work.items(), place.shards), request.work};
    folder_.create(plan_);
    made_ = true;
  }

  /// Submits the missing shards, unless an earlier job is still in the queue.
  void submit() {
    collect();
    if (is_done()) return;
    const auto earlier = tasks_of(name());
    if (!earlier) throw MachineError("Slurm's controller does not answer", "try again when squeue works");
    for (const SlurmTask& task : *earlier) job_ = std::max(job_, task.has_ended() ? 0 : task.job);
    if (job_ != 0) return;
    Submission submission{folder_.file("task.sh"), name(),       folder_.file("log-%a.txt"), {}, plan_.timed, cpus_,
                          memory_bytes_,           place_.sbatch};
    for (std::size_t shard = 0; shard < plan_.shards.size(); ++shard) {
      if (!is_missing(shard)) continue;
      submission.shards.push_back(shard);
      std::error_code failure;
      fs::remove(folder_.log(shard), failure);
    }
    try {
      write_file(submission.script, script_text(folder_, plan_.token));
      job_ = submit_array(submission);
    } catch (const Error&) {
      if (made_) folder_.remove();
      throw;
    }
    print_text(stderr, "zerotax: submitted job {} with {}; logs: {}\n", job_,
               format_counted(submission.shards.size(), "shard"), folder_.path());
  }

  /// Waits for the end of all tasks. Returns false if a signal requested termination. Throws the same errors as run()
  /// in fleet.h.
  bool wait() {
    const auto began = Clock::now();
    auto ask = began;
    while (!is_done()) {
      if (stop_requested()) {
        stop();
        return is_done();
      }
      const auto waited = Clock::now() - began;
      sleep_unless_stopped(std::clamp(waited / 100, kFirstLook, kLastLook));
      collect();
      progress_.show(queue_text());
      if (is_done() || Clock::now() < ask) continue;
      check_tasks(waited);
      ask = Clock::now() + std::clamp(waited / 20, kFirstAsk, kLastAsk);
    }
    return true;
  }

  [[nodiscard]] const std::map<std::string, ItemResult>& results() const { return results_; }

 private:
  /// Collects results that tasks have finished since the last call.
  void collect() {
    for (auto& [key, result] : folder_.new_results()) {
      if (missing_.erase(key) == 0) continue;
      progress_.advance(seconds_[key]);
      results_.emplace(key, std::move(result));
    }
  }

  void look_at_tasks() {
    const auto tasks = tasks_of(name());
    if (!tasks) return;  // the controller may be restarting; tasks run without the controller
    tasks_.clear();
    std::copy_if(tasks->begin(), tasks->end(), std::back_inserter(tasks_),
                 [this](const SlurmTask& task) { return task.job == job_; });
    known_ = known_ || !tasks_.empty();
  }

  /// Cancels the job and waits for its end.
  void stop() {
    cancel_array(job_);
    const auto until = Clock::now() + kSlurmLate;
    do {
      progress_.show(fmt::format("cancelling job {}", job_));
      std::this_thread::sleep_for(kFirstLook);
      look_at_tasks();
    } while (!all_ended(tasks_) && Clock::now() < until);
    collect();
  }

  /// Throws an error if tasks have ended without results, so that more waiting is useless. `waited` is the time since
  /// wait() began.
  void check_tasks(Clock::duration waited) {
    look_at_tasks();
    const auto now = Clock::now();
    std::map<std::size_t, Clock::time_point> silent;
    for (const SlurmTask& task : tasks_) {
      if (!is_silent(task)) continue;
      const auto known = silent_.find(task.shard);
      const auto since = known == silent_.end() ? now : known->second;
      if (now - since >= kFilesLate) give_up(task);
      silent.emplace(task.shard, since);
    }
    silent_ = std::move(silent);
    // A job that Slurm has not listed yet cannot have ended.
    const bool over = (known_ || waited >= kSlurmLate) && silent_.empty() && all_ended(tasks_);
    if (!over) {
      ended_.reset();
    } else if (!ended_) {
      ended_ = now;
    } else if (now - *ended_ >= kFilesLate) {
      report_failures();
    }
  }

  /// Returns whether a task has ended although this host does not see even its log.
  [[nodiscard]] bool is_silent(const SlurmTask& task) const {
    const bool ended = task.state == "FAILED" || task.state == "COMPLETED" || task.is_held();
    return ended && is_missing(task.shard) && !is_there(folder_.log(task.shard));
  }

  /// Throws the UsageError for a folder that a node does not see.
  [[noreturn]] void give_up(const SlurmTask& task) {
    stop();
    if (made_ && results_.empty()) folder_.remove();
    throw UsageError(fmt::format("task {} on node {} wrote nothing into {}, so that node does not see the folder",
                                 task.shard, task.node.empty() ? "?" : task.node, folder_.path()),
                     "give --out a folder that every node sees under the same path");
  }

  /// Throws the MachineError for tasks that ended without all their results.
  [[noreturn]] void report_failures() const {
    std::size_t failed = 0;
    std::string first;
    for (std::size_t shard = 0; shard < plan_.shards.size(); ++shard) {
      if (!is_missing(shard)) continue;
      ++failed;
      if (!first.empty()) continue;
      const auto task =
          std::find_if(tasks_.begin(), tasks_.end(), [&](const SlurmTask& each) { return each.shard == shard; });
      const std::string words = one_line(last_line_of_file(folder_.log(shard)));
      first = fmt::format("the first is shard {}{}{}", shard,
                          task == tasks_.end() ? "" : fmt::format(" on {}, {}", task->node, task->state),
                          words.empty() ? "" : fmt::format(", with the last line: {}", words));
    }
    throw MachineError(fmt::format("{} of {} failed: {}", failed, format_counted(plan_.shards.size(), "shard"), first),
                       fmt::format("see {}/log-*.txt; finished results are kept, and the same command submits the rest",
                                   folder_.path()));
  }

  [[nodiscard]] bool is_done() const { return missing_.empty(); }

  [[nodiscard]] bool is_missing(std::size_t shard) const {
    const auto& keys = plan_.shards.at(shard);
    return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) { return missing_.contains(key); });
  }

  [[nodiscard]] std::string name() const { return "zerotax-" + plan_.token; }

  [[nodiscard]] std::string queue_text() const {
    const auto count = [&](const char* state) {
      return std::count_if(tasks_.begin(), tasks_.end(), [&](const SlurmTask& task) { return task.state == state; });
    };
    std::string why;
    for (const SlurmTask& task : tasks_) {
      if (task.state == "PENDING" && why.empty() && task.reason != "None") why = " (" + task.reason + ")";
    }
    return fmt::format("job {}: {} running, {} waiting{}", job_, count("RUNNING"), count("PENDING"), why);
  }

  const Place& place_;
  JobFolder folder_;
  JobPlan plan_;
  bool made_ = false;  ///< whether this object has created the folder
  unsigned cpus_;
  std::uint64_t memory_bytes_;
  std::map<std::string, double> seconds_;  ///< expected duration of each item
  std::set<std::string> missing_;
  std::map<std::string, ItemResult> results_;
  std::uint64_t job_ = 0;
  std::vector<SlurmTask> tasks_;
  bool known_ = false;                               ///< whether Slurm has listed the job
  std::map<std::size_t, Clock::time_point> silent_;  ///< shards whose task ended without a visible log, and the time of
                                                     ///< this discovery
  std::optional<Clock::time_point> ended_;           ///< time at which all tasks were first seen to have ended
  Progress progress_;
};

/// Measures on the nodes of a Slurm cluster, and passes on the results at the job's end.
class SlurmHosts : public Executor {
 public:
  SlurmHosts(const Place& place, const JobRequest& request) : place_(place), request_(request) {}

  bool run(const Work& work, const std::set<std::string>& missing, const OnResult& on_result) override {
    SlurmJob job(work, missing, place_, request_);
    const auto hand_over = [&] {
      for (const Item& item : work.items()) {
        const auto result = job.results().find(item.key);
        if (result != job.results().end()) on_result(item.key, result->second.result, result->second.host);
      }
    };
    try {
      job.submit();
      const bool whole = job.wait();
      hand_over();
      return whole;
    } catch (const Error&) {
      hand_over();
      throw;
    }
  }

 private:
  const Place& place_;
  const JobRequest& request_;
};

constexpr double kSecondsOfShard = 120;
constexpr std::size_t kFewestShards = 8;
constexpr std::size_t kManyShards = 256;

struct Group {
  std::vector<std::size_t> items;  ///< indices of items in ascending order
  double seconds = 0;
};

/// Returns the groups in the order of their first items.
std::vector<Group> groups_of(const std::vector<Item>& items) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto [place, is_new] = places.emplace(items[i].group, groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].items.push_back(i);
    groups[place->second].seconds += items[i].seconds;
  }
  return groups;
}

std::size_t usual_count(const std::vector<Item>& items) {
  double seconds = 0;
  for (const Item& item : items) seconds += item.seconds;
  return std::clamp(static_cast<std::size_t>(std::ceil(seconds / kSecondsOfShard)), kFewestShards, kManyShards);
}

}  // namespace

bool run(const Work& work, const std::set<std::string>& missing, const Place& place, const JobRequest& request,
         const OnResult& on_result) {
  if (missing.empty()) return true;
  if (place.slurm) return SlurmHosts(place, request).run(work, missing, on_result);
  return ThisHost().run(work, missing, on_result);
}

Shards cut_into_shards(const std::vector<Item>& items, std::size_t count) {
  std::vector<Group> groups = groups_of(items);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& one, const Group& other) { return one.seconds > other.seconds; });
  const std::size_t shards = std::min(count == 0 ? usual_count(items) : count, groups.size());
  std::vector<Group> parts(shards);
  for (const Group& group : groups) {
    Group& least = *std::min_element(parts.begin(), parts.end(),
                                     [](const Group& one, const Group& other) { return one.seconds < other.seconds; });
    least.items.insert(least.items.end(), group.items.begin(), group.items.end());
    least.seconds += group.seconds;
  }
  Shards keys;
  for (Group& part : parts) {
    std::sort(part.items.begin(), part.items.end());
    std::vector<std::string>& shard = keys.emplace_back();
    for (const std::size_t item : part.items) shard.push_back(items[item].key);
  }
  return keys;
}

bool ThisHost::run(const Work& work, const std::set<std::string>& missing, const OnResult& on_result) {
  std::vector<Item> items;
  for (Item& item : work.items()) {
    if (missing.contains(item.key)) items.push_back(std::move(item));
  }
  const auto on_finished = [&](const Item& item) { on_result(item.key, item.result(), ""); };
  return Experiment(work.title(), {side_by_side_, work.is_timed(), on_finished}).run(items);
}

}  // namespace zerotax::fleet
