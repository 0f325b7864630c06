#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "os/child.h"

namespace zerotax {

/// A lack or limit of this machine is reported as such, never as something that an allocator does. Exit status 3.

/// A process that could not be started: why, and what to do. `what` as in "the probe '/path/bench-glibc'";
/// `missing_remedy` is the remedy if the file is missing.
MachineError start_trouble(const std::string& what, const ChildResult& child, const std::string& missing_remedy);

/// A call that got no memory, descriptor, process or file from the kernel: "memfd_create: Operation not permitted". The
/// remedy depends on the errno and the limits of this process.
MachineError call_trouble(const std::string& what, int error);

/// A probe that reported that the machine gave it no memory or thread (kNoMachine), in its own words.
MachineError probe_trouble(const std::string& what, const std::string& words);

/// A resource limit (RLIMIT_…) that may be why a process ended as it did, so that its end proves nothing: of CPU time
/// and file sizes where their signals say so, else of address space, data or a small stack where one is set.
std::optional<int> limit_behind(const ChildResult& child);

/// That process's error, if there is such a limit; `how` as in "mine: killed by SIGABRT in calloc, operation 1".
void throw_if_limited(const ChildResult& child, const std::string& how);

/// Throws MachineError where /proc is not mounted: nearly everything is measured by it.
void require_proc();

}  // namespace zerotax
