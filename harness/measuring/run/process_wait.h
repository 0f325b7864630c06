#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace zerotax {

/// Waits with progress for `seconds`, or until a signal requests termination, or the process has ended. Calls `look`
/// every 20 ms, if given. `what` names the activity in progress, such as "sampling". Returns whether the process has
/// ended.
bool wait_for_process(const std::string& what, pid_t pid, double seconds, const std::function<void()>& look);
/// Waits for `seconds` in the same way without a process, and returns false.
bool wait_for_seconds(const std::string& what, double seconds);

}  // namespace zerotax
