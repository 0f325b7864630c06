#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "os/child.h"

namespace zerotax {

/// These errors report a shortage or a limit of this machine, and never the behavior of an allocator. Exit status 3.

/// Returns the error, with its remedy, for a process that could not be started. `what` is, for example, "the probe
/// '/path/bench-glibc'". `missing_remedy` is the remedy if the file is missing.
MachineError start_trouble(const std::string& what, const ChildResult& child, const std::string& missing_remedy);

/// Returns the error for a call that got no memory, descriptor, process or file from the kernel: "memfd_create:
/// Operation not permitted". The remedy depends on the errno and the limits of this process.
MachineError call_trouble(const std::string& what, int error);

/// Returns the error for a probe that got no memory or thread from the machine (kNoMachine), in the probe's own words.
MachineError probe_trouble(const std::string& what, const std::string& words);

/// Returns a resource limit (RLIMIT_…) that may have ended a process. The end of the process then proves nothing about
/// the allocator. Exceeding the limits of CPU time and file size raises a specific signal. After any other end, the
/// suspects are a limit of address space or data, and a small stack.
std::optional<int> limit_behind(const ChildResult& child);

/// Throws an error that names the suspected limit, if any. `how` is, for example, "mine: killed by SIGABRT in calloc,
/// operation 1".
void throw_if_limited(const ChildResult& child, const std::string& how);

/// Throws MachineError if /proc is not mounted, because nearly everything is measured through it.
void require_proc();

}  // namespace zerotax
