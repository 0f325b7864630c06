#pragma once

#include <optional>
#include <string>

namespace zerotax {

/// Whether we are in the machine's own PID namespace: in a container's we are not, and PID 1 is a program like any
/// other. Nothing if /proc does not tell. `proc` replaces "/proc" in tests. Source: pid_namespaces(7), and
/// PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h.
std::optional<bool> in_first_pid_namespace(const std::string& proc = "/proc");

}  // namespace zerotax
