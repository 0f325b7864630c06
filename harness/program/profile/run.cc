#include "profile/run.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/names.h"
#include "base/printable.h"
#include "observe/foreign_program.h"
#include "observe/running_process.h"
#include "os/clock.h"
#include "os/elf_file.h"
#include "os/process_info.h"
#include "profile/unseen.h"
#include "run/experiment.h"
#include "run/planning.h"
#include "run/probe_process.h"
#include "run/process_wait.h"
#include "run/program_launch.h"

namespace zerotax::profile {
namespace {

constexpr double kNs = 1e9;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

std::uint64_t faults_of_children() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<std::uint64_t>(usage.ru_minflt + usage.ru_majflt);
}

/// Throws an Error with the status of a finding if the allocator does not finish within ten times the expected time
/// plus one minute.
PassResult one_pass(const Allocator& allocator, PointSpec point, Pass pass, std::uint32_t ops,
                    double expected_seconds) {
  point.repeats = {ops, ops, ops, ops, 0};
  PassLimits limits;
  limits.timeout = std::chrono::milliseconds(std::chrono::minutes(1)) +
                   std::chrono::milliseconds(static_cast<std::int64_t>(10'000 * expected_seconds));
  limits.resident_bytes = resident_limit(point.size_bytes);
  PassResult result = run_pass(allocator, point, pass, limits);
  const bool ended = result.status() == PassResult::Status::kOk || result.status() == PassResult::Status::kStopped;
  if (!ended) {
    throw Error(ExitStatus::kFinding,
                fmt::format("{} cannot be profiled because it does not finish: {}", allocator.name, result.reason()),
                "use zerotax run to see how far it gets");
  }
  return result;
}

}  // namespace

ProfiledRun profile_command(const std::vector<std::string>& words, const std::optional<Allocator>& allocator,
                            const ProfileOptions& options) {
  const std::string program = resolve_program(words.front());
  const std::string privileged = ::geteuid() == 0 ? "" : why_privileged(program);
  if (!privileged.empty()) {
    throw MachineError(
        fmt::format("'{}' cannot be sampled: it {}, and the kernel then ends the sampling", program, privileged),
        "run zerotax as root");
  }
  if (allocator) check_takes_preload(program, "be given another allocator");
  const ForegroundCommand command = foreground_command(program, words, "", allocator);
  const std::string launched = utc_now();
  ProfileRecorder recorder(options);
  const std::uint64_t faults = faults_of_children();
  const ForegroundResult result = run_program(command, "profile");
  const auto in_s = [](std::int64_t ns) { return static_cast<double>(ns) / kNs; };
  ProfiledRun run{recorder.finish(),      in_s(result.wall_ns),          in_s(result.user_ns),
                  in_s(result.system_ns), faults_of_children() - faults, result.exit_status};
  if (!options.wall) account_rest(run.data, run.system_s, options.hz);
  run.process = describe_program(result.pid, program, launched);
  run.process->load_address = run.data.load_address;
  run.process->running = run.data.running;
  return run;
}

ProfiledRun profile_point(const Allocator& allocator, const PointSpec& point, double for_seconds,
                          const ProfileOptions& options) {
  const std::string too_large = why_too_large(memory_needed(point));
  if (!too_large.empty()) throw MachineError(too_large, "give a smaller --size");
  // Measures the time of one operation in a process that is not sampled.
  const PassResult timing = one_pass(allocator, point, Pass::kTiming, 8, 0);
  const SampleBlock& samples = timing.samples();
  const double op_ns = std::max(
      1.0, static_cast<double>(samples.run_ns) / static_cast<double>(std::max<std::int64_t>(samples.run_ops, 1)));
  // Each process runs for about a second, so that progress can be shown. If operations are very short, the limit of
  // repeats ends a process earlier.
  const double wanted = std::max(2.0, for_seconds * kNs / op_ns);
  const auto ops =
      static_cast<std::uint32_t>(std::min({wanted, std::max(2.0, kNs / op_ns), static_cast<double>(kMaxOps)}));
  const auto processes = static_cast<std::size_t>(std::clamp(std::ceil(wanted / ops), 1.0, 4000.0));

  rusage before{};
  ::getrusage(RUSAGE_CHILDREN, &before);
  const std::int64_t start = monotonic_ns();
  ProfiledRun run;
  Item item;
  item.label = allocator.name;
  item.measure = [&](const Say&) {
    ProfileRecorder recorder(options);
    one_pass(allocator, point, Pass::kBare, ops, ops * op_ns / kNs);
    run.data.add(recorder.finish());
  };
  // A signal ends the profile early. The samples taken so far count.
  (void)Experiment("profiling").run(std::vector<Item>(processes, item));
  run.wall_s = static_cast<double>(monotonic_ns() - start) / kNs;
  rusage after{};
  ::getrusage(RUSAGE_CHILDREN, &after);
  run.user_s = seconds(after.ru_utime) - seconds(before.ru_utime);
  run.system_s = seconds(after.ru_stime) - seconds(before.ru_stime);
  run.faults = static_cast<std::uint64_t>(after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt);
  if (!options.wall) account_rest(run.data, run.system_s, options.hz);
  return run;
}

SampledProcess describe_process(pid_t pid) {
  SampledProcess process;
  process.pid = pid;
  process.name = process_name(pid);
  process.path = printable(process_program(pid));
  process.build_id = ForeignProgram(fmt::format("/proc/{}/exe", living_thread(pid))).build_id();
  if (const auto facts = process_facts(pid)) {
    process.parent = facts->parent;
    process.parent_name = process_name(facts->parent);
    process.launched = utc_text(facts->started_s);
  }
  return process;
}

SampledProcess describe_program(pid_t pid, const std::string& path, const std::string& launched) {
  SampledProcess process;
  process.pid = pid;
  process.name = printable(file_name(path));
  process.path = printable(path);
  process.build_id = ForeignProgram(path).build_id();
  process.parent = ::getpid();
  process.parent_name = process_name(::getpid());
  process.launched = launched;
  process.ended = true;
  return process;
}

ProfiledRun profile_process(pid_t pid, double seconds, ProfileOptions options) {
  check_process(pid);
  ProfiledRun run;
  run.process = describe_process(pid);
  options.scope.processes = process_tree(pid);
  options.by_thread = true;
  ProfileRecorder recorder(options);
  recorder.wait_ready();
  TreeClock clock(options.scope.processes);
  const std::int64_t start = monotonic_ns();
  run.process->ended = wait_for_process("sampling", pid, seconds, [&] { clock.look(); });
  clock.look();
  run.wall_s = static_cast<double>(monotonic_ns() - start) / 1e9;
  run.data = recorder.finish();
  run.user_s = clock.user_s();
  run.system_s = clock.system_s();
  run.faults = clock.faults();
  if (!options.wall) account_rest(run.data, run.system_s, options.hz);
  run.process->load_address = run.data.load_address;
  if (run.process->ended) run.process->running = run.data.running;
  return run;
}

}  // namespace zerotax::profile
