#pragma once

#include <sys/types.h>

#include <functional>

#include "os/child.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Takes what is in the pipe, of which the first 64 KiB are kept; closes it at its end.
void drain(UniqueFd& fd, std::string& text);

/// Waits for the end of a child, keeping the limits of its command and collecting what it says; kills it, with its
/// group, where it passes one. Fills in `used`, and `end` and `code` if it was killed for a reason of ours. Does not
/// reap.
void watch_child(pid_t pid, const ChildCommand& command, const std::function<bool()>& stop, UniqueFd& out,
                 UniqueFd& err, ChildResult& result);

}  // namespace zerotax
