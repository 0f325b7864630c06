#include "drive/cow_run.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "drive/interrupt.h"
#include "os/clock.h"
#include "os/foreground.h"
#include "os/program_file.h"

namespace zerotax {
namespace {

constexpr std::chrono::milliseconds kPause{20};

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

/// Whether it runs; a zombie does not.
bool runs(pid_t pid) { return process_memory(pid, false).vsz.has_value(); }

}  // namespace

CowRun cow_command(const std::vector<std::string>& words, FaultTracerOptions options) {
  ForegroundCommand command;
  command.program = find_program(words.front());
  if (command.program.empty()) {
    throw UsageError(fmt::format("no command '{}' that may be executed", words.front()),
                     "give a program of PATH, or its path with a slash");
  }
  command.words = words;
  command.before_exec = restore_interrupts;
  FaultTracer tracer(std::move(options));
  const ForegroundResult result = run_foreground(command);
  if (result.not_started != 0) {
    throw UsageError(fmt::format("'{}' cannot be started: {}", command.program, std::strerror(result.not_started)),
                     "try it without zerotax cow --");
  }
  return {tracer.finish(), result.pid, seconds(result.wall_ns), result.exit_status};
}

CowRun cow_process(pid_t pid, FaultTracerOptions options) {
  if (process_threads(pid).empty()) {
    throw UsageError(fmt::format("there is no process {}", pid), "give the number of one that runs, as ps shows it");
  }
  if (!runs(pid)) {
    throw UsageError(fmt::format("process {} has no memory of its own (a zombie, or a thread of the kernel)", pid),
                     "give the number of a program that runs");
  }
  const std::int64_t start = monotonic_ns();
  FaultTracer tracer(std::move(options), pid);
  while (runs(pid) && interrupted() == 0) std::this_thread::sleep_for(kPause);
  const double wall_s = seconds(monotonic_ns() - start);
  return {tracer.finish(), pid, wall_s, 0};
}

}  // namespace zerotax
