#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/measured.h"
#include "observe/symbols.h"
#include "os/task_counts.h"
#include "record/preload/arena.h"

namespace zerotax::record {

class RecordArena;
class RecordedScripts;
class SeenRun;

ENUM_WORDS(ForkKind, "fork", "vfork", "posix_spawn", "clone_vm")

/// Reason why a call had to be fork, by what its children did before they executed a program.
enum class ForkNeed : std::uint8_t {
  kShares,     ///< the call copied no page tables
  kContinues,  ///< no child executed a program
  kUser,
  kAllocated,
  kNothing  ///< vfork or posix_spawn may suffice
};
ENUM_WORDS(ForkNeed, "shares_memory", "continues", "changed_user", "allocated", "nothing")

struct ForkSiteRow {
  RESULT("fork site", "A call stack that started processes.");
  FIELD(
      ForkKind, kind,
      "The call: `fork` copies the page tables of the process. `vfork` and `posix_spawn` (also popen and system) share "
      "its memory until the child executes a program. `clone_vm` is clone(2) with CLONE_VM and without CLONE_VFORK.");
  FIELD(std::uint64_t, calls, "Number of calls.");
  FIELD(std::uint64_t, failed, "The part of `calls` that started no process.");
  FIELD(Measured<std::uint64_t>, call_ns,
        "Nanoseconds from call to return in the calling thread, summed over the calls that started a process, with the "
        "recorder's own time. vfork and posix_spawn return when the child has executed a program. n/a for system(3), "
        "which waits for the program.");
  FIELD(Measured<std::uint64_t>, longest_call_ns, "Nanoseconds of the longest call.");
  FIELD(
      Measured<std::uint64_t>, held_bytes,
      "Average anonymous memory that the process held at the calls. Each fork copies the page tables of this memory.");
  FIELD(Measured<std::uint64_t>, execs, "Number of children that executed a program.");
  FIELD(Measured<std::uint64_t>, exec_after_ns, "Average nanoseconds from the call to the exec.");
  FIELD(std::uint64_t, allocated, "The part of `execs` in which the child allocated memory before the exec.");
  FIELD(std::uint64_t, changed_user,
        "The part of `execs` in which the child changed its user, group or supplementary groups before the exec.");
  FIELD(std::uint64_t, changed_session,
        "The part of `execs` in which the child began a session or a process group before the exec.");
  FIELD(std::uint64_t, closed_range,
        "The part of `execs` in which the child called close_range or closefrom before the exec.");
  FIELD(ForkNeed, need,
        "Reason why the call is fork and not vfork. `shares_memory`: the call copied no page tables. `continues`: no "
        "child executed a program. `changed_user`: a child changed its user, group or supplementary groups before its "
        "exec. `allocated`: a "
        "child allocated memory before its exec. `nothing`: no child did either, so that vfork or posix_spawn may "
        "suffice.");
  FIELD(std::vector<NamedFrame>, frames, "Frames of the call stack, innermost first.");
};

struct KernelForks {
  RESULT("forks by the kernel");
  FIELD(std::uint64_t, fork, "Number of processes that got a copy of their parent's page tables.");
  FIELD(std::uint64_t, vfork,
        "Number of processes that shared memory while the parent waited (CLONE_VM, CLONE_VFORK).");
  FIELD(std::uint64_t, clone_vm, "Number of processes that shared memory while the parent ran (CLONE_VM).");
};

/// The kernel's counts of started processes.
struct ForkCounts {
  std::uint64_t processes = 0;
  KernelForks kinds;                       ///< known to root alone
  std::map<pid_t, std::uint64_t> unknown;  ///< number of each parent's processes whose clone(2) flags are still
                                           ///< unknown

  void note(const TaskEvent& event);
};

struct Forks {
  RESULT("forks", "Processes that the program and its descendants started.");
  FIELD(Measured<std::uint64_t>, processes, "Number of started processes, as the kernel counts them.");
  FIELD(Measured<KernelForks>, by_kernel, "`processes` by the flags of clone(2), which only root can see.");
  FIELD(std::uint64_t, calls, "Number of successful calls that zerotax's library saw, in `sites` or without a site.");
  FIELD(std::uint64_t, calls_without_site, "The part of `calls` for whose stacks there was no room.");
  FIELD(std::vector<ForkSiteRow>, sites, "Call stacks, in descending order of call_ns.");
};

/// Returns the forks of a recorded run, or nothing if no process was started.
std::optional<Forks> forks_of(const RecordArena& arena, const SeenRun& seen, const Measured<ForkCounts>& counts,
                              RecordedScripts& scripts);
/// Returns the forks of a program that was recorded from outside, or nothing if no process was started.
std::optional<Forks> forks_outside(const Measured<ForkCounts>& counts);

/// Returns sentences about forks that took at least 1 % of the run's wall time; empty if there are none.
std::string fork_words(const Forks& forks, std::int64_t wall_ns);

/// Returns the table of all call stacks, with a line break before it.
std::string forks_text(const Forks& forks);

}  // namespace zerotax::record
