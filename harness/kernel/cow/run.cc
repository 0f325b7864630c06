#include "cow/run.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "os/clock.h"
#include "run/interrupt.h"
#include "run/program_launch.h"

namespace zerotax::cow {
namespace {

constexpr std::chrono::milliseconds kPause{20};

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

/// Whether the process is running; a zombie is not.
bool runs(pid_t pid) { return process_memory(pid, false).vsz.has_value(); }

}  // namespace

CowRun cow_command(const std::vector<std::string>& words, FaultTracerOptions options) {
  const ForegroundCommand command = foreground_command(resolve_program(words.front()), words, "", {});
  FaultTracer tracer(std::move(options));
  const ForegroundResult result = run_program(command, "cow");
  return {tracer.finish(), result.pid, seconds(result.wall_ns), result.exit_status, result.all_minor_faults};
}

CowRun cow_process(pid_t pid, FaultTracerOptions options, double seconds_to_watch, const std::function<bool()>& stop) {
  const std::int64_t start = monotonic_ns();
  FaultTracer tracer(std::move(options), pid);
  const auto is_over = [&] { return seconds_to_watch > 0 && seconds(monotonic_ns() - start) >= seconds_to_watch; };
  while (runs(pid) && interrupted() == 0 && !is_over() && !stop()) std::this_thread::sleep_for(kPause);
  const double wall_s = seconds(monotonic_ns() - start);
  return {tracer.finish(), pid, wall_s, 0, std::nullopt};
}

}  // namespace zerotax::cow
