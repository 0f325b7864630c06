#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace zerotax {

/// Waits with progress for so many seconds, or until a signal asks for an end, or the process has ended; calls `look`
/// every 20 ms meanwhile, if there is one. `what`: for progress, "sampling". Returns whether the process has ended.
bool wait_for_process(const std::string& what, pid_t pid, double seconds, const std::function<void()>& look);
/// Likewise, of no process: returns false.
bool wait_for_seconds(const std::string& what, double seconds);

}  // namespace zerotax
