#include "run/fleet/slurm_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "base/error.h"
#include "base/shell.h"
#include "base/units.h"
#include "files/output_file.h"
#include "os/print.h"

namespace zerotax::fleet {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

SlurmJob::SlurmJob(const Work& work, const std::set<std::string>& missing, const Place& place,
                   const JobRequest& request)
    : place_(place),
      folder_(request.results, request.name),
      cpus_(work.cpus()),
      memory_bytes_(work.memory_bytes()),
      seconds_(seconds_of(work.items(), missing)),
      missing_(missing),
      progress_("measuring on Slurm", missing.size(), sum_of(seconds_)) {
  if (const auto earlier = folder_.read_plan()) {
    if (earlier->work != request.work || earlier->kind != request.kind) {
      throw UsageError(fmt::format("{} was made for other work", folder_.path()), "give --out a new folder");
    }
    plan_ = *earlier;
    return;
  }
  plan_ = {request.kind, new_token(), work.is_timed(), cut_into_shards(work.items(), place.shards), request.work};
  folder_.create(plan_);
  made_ = true;
}

bool SlurmJob::is_missing(std::size_t shard) const {
  const auto& keys = plan_.shards.at(shard);
  return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) { return missing_.contains(key); });
}

void SlurmJob::collect() {
  for (auto& [key, result] : folder_.new_results()) {
    if (missing_.erase(key) == 0) continue;
    progress_.advance(seconds_[key]);
    results_.emplace(key, std::move(result));
  }
}

void SlurmJob::submit() {
  collect();
  if (is_done()) return;
  const auto earlier = tasks_of(name());
  if (!earlier) throw MachineError("Slurm's controller does not answer", "try again when squeue does");
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

bool SlurmHosts::run(const Work& work, const std::set<std::string>& missing, const OnResult& on_result) {
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

}  // namespace zerotax::fleet
