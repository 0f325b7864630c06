#include "run/metered_run.h"

#include <fmt/format.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "base/lines.h"
#include "base/printable.h"
#include "os/child.h"
#include "os/clock.h"
#include "os/process_info.h"
#include "run/allocators.h"
#include "run/interrupt.h"

namespace zerotax {
namespace {

/// Finds the moments at which a program is idle.
class IdleWatch {
 public:
  /// Call often, with the program's processes. Returns true at the end of each period of kIdle_ns in which the
  /// processes used under kIdleShare of a CPU.
  bool is_idle(const std::vector<pid_t>& processes, std::int64_t now_ns);

 private:
  static constexpr std::int64_t kIdle_ns = 300'000'000;
  static constexpr std::int64_t kIdleShare = 100;

  std::vector<pid_t> processes_;
  std::int64_t since_ns_ = 0;
  std::int64_t cpu_ns_ = 0;  ///< CPU time of the processes at `since_ns_`
};

/// Whether a thread runs or waits for a CPU. On a busy machine, a thread that waits for a CPU uses no CPU time.
bool any_thread_runs(const std::vector<pid_t>& processes) {
  for (const pid_t pid : processes) {
    for (const pid_t thread : process_threads(pid)) {
      const auto facts = process_facts(thread);
      if (facts && (facts->state == 'R' || facts->state == 'D')) return true;
    }
  }
  return false;
}

bool IdleWatch::is_idle(const std::vector<pid_t>& processes, std::int64_t now_ns) {
  std::int64_t cpu = 0;
  for (const pid_t pid : processes) cpu += process_cpu_ns(pid).value_or(0);
  const bool same = processes == processes_ && !processes.empty() && cpu - cpu_ns_ <= kIdle_ns / kIdleShare;
  if (same && now_ns - since_ns_ < kIdle_ns) return false;
  processes_ = processes;
  since_ns_ = now_ns;
  cpu_ns_ = cpu;
  return same && !any_thread_runs(processes);
}

/// The memory of the processes that a meter runs, sampled while they run. Keeps the largest simultaneous sum, and the
/// memory of the last idle moment.
class TreeMemory {
 public:
  explicit TreeMemory(const MeteredCommand& command)
      : limit_(command.memory_limit),
        clients_(!command.client.empty()),
        waits_(command.wait_until_idle),
        pss_(command.sum_pss) {}

  /// Takes a sample of the descendants of a meter. A sample is cheap while there is one process, or while the sum
  /// cannot be a new peak. Returns false if the descendants use more memory than the limit.
  bool sample(pid_t meter);

  /// Returns the peak in bytes; 0 if only one process ran at a time, because the kernel keeps the exact peak of a
  /// single process. If PSS is read, a page mapped by several processes counts once (PSS), and otherwise once per
  /// process.
  [[nodiscard]] std::uint64_t peak_of_several() const { return peak_of_several_; }

  /// Returns the memory at the last idle moment, or the mean.
  [[nodiscard]] Measured<IdleMemory> idle_memory() const;

 private:
  std::vector<pid_t> processes(pid_t meter);
  void look_for_idle(pid_t meter, const std::vector<pid_t>& found, std::uint64_t sum_of_rss);

  std::uint64_t limit_;
  bool clients_;  ///< children of the meter that lead sessions are clients, except the first such child
  bool waits_;    ///< whether the meter waits for a signal at an idle moment
  bool pss_;      ///< whether sums are of PSS
  pid_t first_ = 0;
  std::uint64_t peak_of_several_ = 0;
  std::int64_t next_ns_ = 0;       ///< time before which no sample is taken, because sampling a process of many threads
                                   ///< takes a while
  std::int64_t next_walk_ns_ = 0;  ///< time before which no page tables are walked
  std::int64_t next_mean_ns_ = 0;  ///< time before which no page tables are walked for the mean
  IdleWatch watch_;
  std::optional<std::uint64_t> idle_;  ///< bytes at the last idle moment
  double byte_ns_ = 0;           ///< sum of the samples' bytes, each multiplied by the time since the sample before
  std::int64_t sampled_ns_ = 0;  ///< sum of these times
  unsigned samples_ = 0;
  std::int64_t last_ns_ = 0;  ///< time of the last sample; 0 without a sample
};

/// Samples take at most 1/kShare of the time, and walks of page tables at most 1/kWalkShare (10 ms per GiB).
constexpr std::int64_t kShare = 10;
constexpr std::int64_t kWalkShare = 4;
/// Walks of page tables for the mean take at most 1/kMeanWalkShare of the time.
constexpr std::int64_t kMeanWalkShare = 20;
/// Minimum number of samples of a mean.
constexpr unsigned kFewestSamples = 10;

std::uint64_t sum_of(const std::vector<pid_t>& processes, bool pss) {
  std::uint64_t sum = 0;
  for (const pid_t pid : processes) {
    const ProcessMemory memory = process_memory(pid, pss);
    sum += pss ? memory.pss.value_or(memory.rss.value_or(0)) : memory.rss.value_or(0);
  }
  return sum;
}

std::vector<pid_t> TreeMemory::processes(pid_t meter) {
  std::vector<pid_t> found;
  for (const pid_t child : process_children(meter)) {
    if (first_ == 0) first_ = child;
    if (clients_ && child != first_ && ::getsid(child) == child) {
      idle_.reset();  // only memory after the last client counts
      continue;
    }
    for (const pid_t each : process_tree(child)) found.push_back(each);
  }
  return found;
}

void TreeMemory::look_for_idle(pid_t meter, const std::vector<pid_t>& found, std::uint64_t sum_of_rss) {
  const std::int64_t now = monotonic_ns();
  if (watch_.is_idle(found, now)) {
    idle_ = found.size() < 2 ? sum_of_rss : sum_of(found, pss_);
    if (waits_) ::kill(meter, SIGUSR1);
  }
  if (found.empty() || sum_of_rss == 0 || now < next_mean_ns_) return;
  const std::int64_t cpu_before = thread_cpu_ns();
  const std::uint64_t sum = found.size() < 2 ? sum_of_rss : sum_of(found, pss_);
  if (found.size() > 1) next_mean_ns_ = monotonic_ns() + kMeanWalkShare * (thread_cpu_ns() - cpu_before);
  if (last_ns_ != 0) {
    byte_ns_ += static_cast<double>(sum) * static_cast<double>(now - last_ns_);
    sampled_ns_ += now - last_ns_;
    ++samples_;
  }
  last_ns_ = now;
}

bool TreeMemory::sample(pid_t meter) {
  const std::int64_t began = monotonic_ns();
  if (began < next_ns_) return true;
  // The limit is a share of CPU time, because a sample on a busy machine mostly waits.
  const std::int64_t cpu = thread_cpu_ns();
  const std::vector<pid_t> found = processes(meter);
  // This sum counts each page once per process, so it is an upper bound.
  const std::uint64_t most = sum_of(found, false);
  const bool may_exceed = limit_ != 0 && most > limit_;
  look_for_idle(meter, found, most);
  next_ns_ = monotonic_ns() + kShare * (thread_cpu_ns() - cpu);
  if (found.size() < 2) return !may_exceed;
  if (most <= peak_of_several_ || (began < next_walk_ns_ && !may_exceed)) return true;
  const std::int64_t cpu_before = thread_cpu_ns();
  const std::uint64_t sum = sum_of(found, pss_);
  peak_of_several_ = std::max(peak_of_several_, sum);
  next_walk_ns_ = monotonic_ns() + kWalkShare * (thread_cpu_ns() - cpu_before);
  return limit_ == 0 || sum <= limit_;
}

Measured<IdleMemory> TreeMemory::idle_memory() const {
  if (idle_) return IdleMemory{static_cast<std::int64_t>(*idle_), true};
  if (clients_ && !waits_) return NotAvailable{"the server was not left running after its load"};
  if (clients_) return NotAvailable{"the server was not idle within a second after its load"};
  if (samples_ < kFewestSamples) return NotAvailable{"the program ended before its memory was sampled ten times"};
  return IdleMemory{static_cast<std::int64_t>(byte_ns_ / static_cast<double>(sampled_ns_)), false};
}

std::vector<std::string> words_for_meter(const MeteredCommand& command) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("-C", command.folder);
  add("-i", command.input);
  add("-o", command.output);
  add("-e", command.errors);
  add("-c", command.client);
  add("-r", command.ready);
  if (command.terminate) words.emplace_back("-t");
  if (command.wait_until_idle) words.emplace_back("-w");
  if (command.only_these_variables) words.emplace_back("-x");
  for (const auto& [key, value] : command.environment) add("-v", std::string(key).append("=").append(value));
  words.insert(words.end(), {"--", command.program});
  words.insert(words.end(), command.words.begin(), command.words.end());
  return words;
}

// Kills processes left by a killed meter. These processes may be in other process groups, and are now children of this
// process (run_child).
void kill_left_over() {
  for (;;) {
    const std::vector<pid_t> children = process_children(::getpid());
    if (children.empty()) return;
    for (const pid_t child : children) ::kill(child, SIGKILL);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

bool read_line(const std::string& line, MeteredRun& run) {
  std::istringstream text(line);
  std::int64_t kib = 0;
  if (!(text >> run.faults >> run.user_ns >> run.system_ns >> kib >> run.exited >> run.code >> run.wall_ns >> run.pid >>
        run.started_ns >> run.client_status)) {
    return false;
  }
  run.user_ns *= 1000;
  run.system_ns *= 1000;
  run.peak_bytes = kib * 1024;
  run.never_ready = run.client_status == -2;
  return true;
}

}  // namespace

MeteredRun run_metered(const MeteredCommand& command, const std::function<void()>& watch) {
  ChildCommand child;
  child.program = helper_program("run-metered");
  child.arguments = words_for_meter(command);
  child.capture = true;
  child.timeout = command.timeout;
  child.fixed_layout = command.fixed_layout;
  TreeMemory memory(command);
  bool too_large = false;
  const auto sample = [&](pid_t meter) {
    too_large = !memory.sample(meter);
    return too_large;
  };
  if (command.sum_memory) child.watch = sample;
  const ChildResult result = run_child(child, [&] {
    if (watch) watch();
    return stop_requested();
  });
  kill_left_over();

  MeteredRun run;
  switch (result.end) {
    case ChildResult::End::kTimeout:
      run.end = MeteredRun::End::kTimeout;
      return run;
    case ChildResult::End::kStopped:
      run.end = too_large ? MeteredRun::End::kMemory : MeteredRun::End::kStopped;
      return run;
    case ChildResult::End::kNotStarted:
      run.why_not_started = fmt::format("'{}': {}", child.program, std::strerror(result.code));
      return run;
    default:
      break;
  }
  if (read_line(result.output, run)) {
    run.end = MeteredRun::End::kEnded;
    if (command.sum_memory) run.idle_memory = memory.idle_memory();
    run.peak_bytes = std::max(run.peak_bytes, static_cast<std::int64_t>(memory.peak_of_several()));
  } else {
    run.why_not_started = "its meter failed: " + first_characters(printable(result.errors), 200);
  }
  return run;
}

std::string end_text(bool exited, int code) {
  if (exited) return code == 0 ? "ok" : fmt::format("exit status {}", code);
  return "killed by " + signal_name(code);
}

std::uint64_t hash_of_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::uint64_t hash = 14695981039346656037U;
  const auto add = [&](std::uint64_t word) { hash = (hash ^ word) * 1099511628211U; };
  std::string buffer(1U << 20U, '\0');
  while (stream) {
    stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto got = static_cast<std::size_t>(stream.gcount());
    for (std::size_t at = 0; at < got; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, &buffer[at], std::min(sizeof word, got - at));
      add(word);
    }
    add(got);
  }
  return hash;
}

std::string first_line_of_file(const std::string& path) {
  std::ifstream stream(path);
  std::string line;
  while (line.empty() && std::getline(stream, line)) {
  }
  return first_characters(printable(line), 200);
}

std::string last_line_of_file(const std::string& path) {
  std::ifstream stream(path);
  std::string line;
  std::string last;
  while (std::getline(stream, line)) {
    if (!line.empty()) last = line;
  }
  return first_characters(printable(last), 200);
}

}  // namespace zerotax
