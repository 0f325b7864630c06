// Of SlurmJob, what it does from the submission to the end.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <thread>

#include "base/error.h"
#include "base/one_line.h"
#include "base/units.h"
#include "os/input_file.h"
#include "run/fleet/slurm_job.h"
#include "run/interrupt.h"
#include "run/metered_run.h"

namespace zerotax::fleet {
namespace {

/// How often results are looked for, and Slurm is asked: less and less, as a job takes longer.
constexpr Clock::duration kFirstLook = std::chrono::milliseconds(300);
constexpr Clock::duration kLastLook = std::chrono::seconds(3);
constexpr Clock::duration kFirstAsk = std::chrono::seconds(1);
constexpr Clock::duration kLastAsk = std::chrono::seconds(15);
/// How long another host's files may take to be seen here: NFS keeps what it knows of a folder for up to a minute, but
/// asks again when a folder is opened.
constexpr auto kFilesLate = std::chrono::seconds(5);
/// How long Slurm may take to list a job, and to cancel one.
constexpr auto kSlurmLate = std::chrono::seconds(20);

/// Sleeps, but not past a signal.
void sleep_unless_stopped(Clock::duration duration) {
  constexpr auto kStep = std::chrono::milliseconds(50);
  for (Clock::duration slept{}; slept < duration && !stop_requested(); slept += kStep)
    std::this_thread::sleep_for(kStep);
}

bool all_ended(const std::vector<SlurmTask>& tasks) {
  return std::all_of(tasks.begin(), tasks.end(), [](const SlurmTask& task) { return task.has_ended(); });
}

}  // namespace

void SlurmJob::look_at_tasks() {
  const auto tasks = tasks_of(name());
  if (!tasks) return;  // the controller may be restarting: tasks continue without it
  tasks_.clear();
  std::copy_if(tasks->begin(), tasks->end(), std::back_inserter(tasks_),
               [this](const SlurmTask& task) { return task.job == job_; });
  known_ = known_ || !tasks_.empty();
}

std::string SlurmJob::queue_text() const {
  const auto count = [&](const char* state) {
    return std::count_if(tasks_.begin(), tasks_.end(), [&](const SlurmTask& task) { return task.state == state; });
  };
  std::string why;
  for (const SlurmTask& task : tasks_) {
    if (task.state == "PENDING" && why.empty() && task.reason != "None") why = " (" + task.reason + ")";
  }
  return fmt::format("job {}: {} running, {} waiting{}", job_, count("RUNNING"), count("PENDING"), why);
}

void SlurmJob::stop() {
  cancel_array(job_);
  const auto until = Clock::now() + kSlurmLate;
  do {
    progress_.show(fmt::format("cancelling job {}", job_));
    std::this_thread::sleep_for(kFirstLook);
    look_at_tasks();
  } while (!all_ended(tasks_) && Clock::now() < until);
  collect();
}

void SlurmJob::give_up(const SlurmTask& task) {
  stop();
  if (made_ && results_.empty()) folder_.remove();
  throw UsageError(fmt::format("task {} on node {} wrote nothing into {}: that node does not see the folder",
                               task.shard, task.node.empty() ? "?" : task.node, folder_.path()),
                   "give --out a folder that every node sees under the same path");
}

void SlurmJob::report_failures() const {
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
                        words.empty() ? "" : fmt::format(", and says: {}", words));
  }
  throw MachineError(fmt::format("{} of {} failed: {}", failed, format_counted(plan_.shards.size(), "shard"), first),
                     fmt::format("see {}/log-*.txt; what was finished is kept, and the same command submits the rest",
                                 folder_.path()));
}

bool SlurmJob::is_silent(const SlurmTask& task) const {
  const bool ended = task.state == "FAILED" || task.state == "COMPLETED" || task.is_held();
  return ended && is_missing(task.shard) && !is_there(folder_.log(task.shard));
}

void SlurmJob::check_tasks(Clock::duration waited) {
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
  // A job that Slurm has not listed yet has not ended.
  const bool over = (known_ || waited >= kSlurmLate) && silent_.empty() && all_ended(tasks_);
  if (!over) {
    ended_.reset();
  } else if (!ended_) {
    ended_ = now;
  } else if (now - *ended_ >= kFilesLate) {
    report_failures();
  }
}

bool SlurmJob::wait() {
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

}  // namespace zerotax::fleet
