#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "observe/frame.h"
#include "observe/interpreter.h"

namespace zerotax {

/// Of the samples of a stack, what its frames do not show.
struct SampleKinds {
  std::uint64_t zeros = 0;        ///< its innermost function in user mode was filling memory with zeros
  std::uint64_t other_bytes = 0;  ///< with another byte
  std::uint64_t waiting = 0;      ///< the thread was blocked
  std::uint64_t in_call = 0;      ///< the kernel was in a system call, by the registers of user mode

  void add(const SampleKinds& other, std::uint64_t times = 1);
};

/// What stands in a stack for time of a thread that no sample shows, but the kernel's own account does (ThreadClock).
inline constexpr const char* kKernelNotSampled = "(kernel, not sampled)";
inline constexpr const char* kUserNotSampled = "(user mode, not sampled)";
inline constexpr const char* kNeverSampled = "(running, never sampled)";

/// Orders stacks by the places in their functions, too.
struct ByPlace {
  bool operator()(const Stack& one, const Stack& other) const;
};

struct ThreadProfile {
  std::string name;
  std::uint64_t samples = 0;
  std::map<Stack, std::uint64_t, ByPlace> stacks;  ///< outermost frame first, a function of the program's code
};

/// Stacks that were sampled, and how often each.
struct ProfileData {
  std::map<Stack, std::uint64_t> stacks;  ///< outermost frame first: the program's short name, without a module
  std::map<Stack, SampleKinds> kinds;     ///< of some of them
  std::map<std::pair<std::uint32_t, std::uint32_t>, ThreadProfile> threads;  ///< by process and thread, if asked for
  bool by_thread = false;                                                    ///< they were
  std::uint64_t samples = 0;
  std::uint64_t accounted = 0;            ///< of them those that stand for time by the kernel's account alone
  std::map<Stack, std::uint64_t> faults;  ///< page faults in user mode, by where they were taken
  std::uint64_t fault_samples = 0;        ///< that they were counted by
  bool sees_faults = false;               ///< they were sampled
  std::string why_no_returns;             ///< PerfSampler::why_no_returns()
  std::string denied;                     ///< why nothing could be sampled; empty: it could
  std::uint64_t lost = 0;
  std::vector<int> running;          ///< PIDs of sampled processes that still run
  std::uint64_t rights_changed = 0;  ///< execs that ended the perf events of their process (os/page_counts.h)
  std::uint64_t looks = 0;           ///< rounds of sampling all threads, by wall-clock time
  bool sees_kernel = false;
  bool samples_cpus = false;  ///< not threads (PerfSampler::samples_cpus)
  bool knows_kernel_names = false;
  bool refused = false;            ///< threads were met that may not be looked at while they are blocked
  ScriptNames scripts;             ///< of the interpreters that ran
  std::uint64_t load_address = 0;  ///< of the first program that was started meanwhile; 0: not known

  /// Adds what was sampled of another process.
  void add(const ProfileData& other);
};

}  // namespace zerotax
