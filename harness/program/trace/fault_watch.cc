#include "trace/fault_watch.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/printable.h"
#include "base/units.h"
#include "trace/control_client.h"

namespace zerotax::trace {
namespace {

/// A record overwrites another soon: the buffers of the kernel are read more often than usual.
constexpr std::chrono::milliseconds kPause{1};

}  // namespace

FaultWatch::FaultWatch(FaultRate rate) : rate_(rate) {
  ::setenv(recorder::kControlVariable, control_.path().c_str(), 1);
  ::setenv("ZEROTAX_TRACE_MODE", "overwrite", 0);
  ::setenv("ZEROTAX_TRACE_DRAIN", "off", 0);
  FaultTracerOptions options;
  options.pause = kPause;
  options.each = [this](const Fault& fault, FaultClass /*kind*/) { count(fault); };
  tracer_ = std::make_unique<FaultTracer>(options);
}

void FaultWatch::count(const Fault& fault) {
  if (reached_) return;
  recent_.push_back(fault.begin_ns);
  if (recent_.size() > rate_.faults) recent_.pop_front();
  if (recent_.size() < rate_.faults) return;
  if (recent_.back() - recent_.front() > static_cast<std::uint64_t>(rate_.within_ns)) return;
  stop_all();
  // A program takes hundreds of faults before its recorder is there.
  reached_ = stopped_ > 0 || !failures_.empty();
  if (!reached_) recent_.clear();
}

void FaultWatch::stop_all() {
  std::error_code failure;
  const std::string prefix = recorder::kControlPrefix;
  for (const auto& entry : std::filesystem::directory_iterator(control_.path(), failure)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(prefix)) continue;
    try {
      ControlClient client(static_cast<pid_t>(std::atoi(name.c_str() + prefix.size())), control_.path());
      if (client.ask(recorder::ControlAction::kStop).result == recorder::ControlResult::kDone) ++stopped_;
    } catch (const Error& error) {
      failures_.emplace_back(error.what());  // it may have ended by itself
    }
  }
}

std::string FaultWatch::finish() {
  const FaultData data = tracer_->finish();
  const std::string rate =
      fmt::format("{} in {}", format_counted(rate_.faults, "fault"), format_ns(static_cast<double>(rate_.within_ns)));
  std::string text = reached_ ? fmt::format("stopped {} at {}: the trace has what preceded that\n",
                                            format_counted(stopped_, "process", "processes"), rate)
                              : fmt::format("never {}: the trace has the latest records before the end\n", rate);
  for (const std::string& failure : failures_) text += fmt::format("! {}\n", printable(failure));
  if (data.lost > 0) {
    text += fmt::format("! {} lost: the rate may have been reached earlier\n",
                        format_counted(data.lost, "event of the kernel was", "events of the kernel were"));
  }
  return text;
}

}  // namespace zerotax::trace
