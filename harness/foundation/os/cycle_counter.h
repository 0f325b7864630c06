#pragma once

#include <cstdint>
#include <optional>

#include "os/unique_fd.h"

namespace zerotax {

/// The processor's cycles of the calling thread, in user and kernel mode, by a hardware counter (perf_event_open(2)).
/// Many virtual machines have none. Allocates nothing.
class CycleCounter {
 public:
  CycleCounter();

  /// Why there is no counter; empty if there is one.
  [[nodiscard]] const char* reason() const { return reason_; }
  /// Cycles so far; nothing if there is no counter, or if it did not run all the time.
  [[nodiscard]] std::optional<std::int64_t> read() const;

 private:
  UniqueFd fd_;
  const char* reason_ = "";
};

}  // namespace zerotax
