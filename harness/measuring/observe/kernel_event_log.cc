#include "observe/kernel_event_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/nearest.h"
#include "observe/time_order.h"
#include "os/clock.h"

namespace zerotax {
namespace {

/// What was probably meant; also by somebody who left out the subsystem.
std::string meant(const std::string& name, const std::vector<std::string>& known) {
  const auto ends =
      std::find_if(known.begin(), known.end(), [&](const std::string& each) { return each.ends_with(":" + name); });
  return ends == known.end() ? did_you_mean(name, known) : fmt::format("did you mean {}? ", *ends);
}

}  // namespace

KernelEventLog::KernelEventLog(const std::vector<KernelEventKind>& kinds) : events_(kinds) {
  for (const KernelEventKind& kind : kinds) types_.push_back(std::make_unique<KernelEventType>(kind));
  thread_ = Worker([this] { work(); });
}

KernelEventLog::~KernelEventLog() {
  done_ = true;
  thread_.wait();
}

void KernelEventLog::finish() {
  done_ = true;
  thread_.join();
}

void KernelEventLog::work() {
  constexpr std::chrono::milliseconds kPause{10};
  std::uint64_t before = 0;
  while (!done_) {
    const auto now = static_cast<std::uint64_t>(monotonic_ns());
    const auto next = std::chrono::steady_clock::now() + kPause;
    events_.read(pending_);
    record_before(before);
    before = now;
    std::this_thread::sleep_until(next);
  }
  events_.read(pending_);
  record_before(UINT64_MAX);
}

void KernelEventLog::record_before(std::uint64_t time_ns) {
  apply_in_order(pending_, time_ns, [&](const KernelEvent& event) { types_[event.kind]->record(event); });
}

KernelEventKind kernel_event_kind(const std::string& name) {
  if (name == kSwitches.name) return {name, std::nullopt};
  const std::size_t colon = name.find(':');
  const bool is_tracepoint = colon != std::string::npos && name.find(':', colon + 1) == std::string::npos &&
                             name.find('/') == std::string::npos;
  if (is_tracepoint) {
    if (const auto found = find_tracepoint(name)) return *found;
  }
  const std::vector<std::string> known = trace_event_names();
  if (known.empty() && is_tracepoint) {
    throw MachineError(fmt::format("the tracepoint {} cannot be read", name),
                       "run it as root: tracepoints are root's (zerotax trace events lists what you may have)");
  }
  throw UsageError(fmt::format("unknown event '{}'", name), meant(name, known) + "zerotax trace events lists them");
}

}  // namespace zerotax
