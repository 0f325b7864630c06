#pragma once

#include <string>

#include "base/error.h"

namespace zerotax {

/// The errno with which perf_event_open(2) is denied to this process, whatever is asked of it; 0 if it is not. The call
/// is tried with flags that no kernel knows: the kernel itself refuses those first (EINVAL), so that any other answer
/// is that of a seccomp filter or sandbox in front of it, as containers have. Allocates nothing.
int perf_denial();
/// That denial in words; empty if perf_event_open(2) is not denied.
std::string why_perf_denied();

/// What would permit it there.
inline constexpr const char* kPermitPerf =
    "permit the call, as with docker run --cap-add PERFMON or --security-opt seccomp=unconfined, or run zerotax "
    "outside";

/// The error of a perf event that could not be opened. `what` as in "the kernel does not permit sampling"; `error`: its
/// errno; `paranoid`: the highest kernel.perf_event_paranoid with which an ordinary user may have it, -1 for events
/// that are root's. The reason is the filter, the setting, the limit or the missing feature, whichever it is.
MachineError perf_refusal(const std::string& what, int error, int paranoid);

}  // namespace zerotax
