#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "observe/frame.h"
#include "observe/interpreter.h"

namespace zerotax {

/// Properties of a stack's samples that its frames do not show.
struct SampleKinds {
  std::uint64_t zeros = 0;        ///< samples whose innermost function in user mode was filling memory with zeros
  std::uint64_t other_bytes = 0;  ///< samples whose innermost function in user mode was filling memory with another
                                  ///< byte
  std::uint64_t waiting = 0;      ///< samples of a thread while it was blocked
  std::uint64_t in_call = 0;      ///< samples in a system call, according to the registers of user mode

  void add(const SampleKinds& other, std::uint64_t times = 1);
};

/// Names of frames for CPU time that is in the kernel's accounts of threads (ThreadClock), but in no sample.
inline constexpr const char* kKernelNotSampled = "(kernel, not sampled)";
inline constexpr const char* kUserNotSampled = "(user mode, not sampled)";
inline constexpr const char* kNeverSampled = "(running, never sampled)";

/// Orders stacks by the functions and by the addresses in these functions.
struct ByPlace {
  bool operator()(const Stack& one, const Stack& other) const;
};

struct ThreadProfile {
  std::string name;
  std::uint64_t samples = 0;
  /// Stacks with the outermost frame first, without the frame for the program's name.
  std::map<Stack, std::uint64_t, ByPlace> stacks;
};

/// Sampled stacks, and the number of samples of each.
struct ProfileData {
  std::map<Stack, std::uint64_t> stacks;  ///< outermost frame first; this frame is the program's short name, without a
                                          ///< module
  std::map<Stack, SampleKinds> kinds;     ///< properties of each stack's samples; stacks without properties have none
  /// Profiles by process and thread, if requested.
  std::map<std::pair<std::uint32_t, std::uint32_t>, ThreadProfile> threads;
  bool by_thread = false;  ///< whether profiles by thread were requested
  std::uint64_t samples = 0;
  std::uint64_t accounted = 0;            ///< number of samples that represent time known only from the kernel's
                                          ///< accounts
  std::map<Stack, std::uint64_t> faults;  ///< page faults in user mode by the stack that took them
  std::uint64_t fault_samples = 0;        ///< number of samples from which faults were counted
  bool sees_faults = false;               ///< whether faults were sampled
  std::string why_no_returns;             ///< PerfSampler::why_no_returns()
  std::string denied;                     ///< reason why nothing could be sampled; empty if sampling was possible
  std::uint64_t lost = 0;
  std::vector<int> running;          ///< PIDs of sampled processes that still run
  std::uint64_t rights_changed = 0;  ///< execs that ended the perf events of their process (os/page_counts.h)
  std::uint64_t looks = 0;           ///< number of rounds of wall-clock sampling, each over all threads
  bool sees_kernel = false;
  bool samples_cpus = false;  ///< whether CPUs were sampled instead of threads (PerfSampler::samples_cpus)
  bool knows_kernel_names = false;
  bool refused = false;            ///< whether some blocked threads could not be inspected
  ScriptNames scripts;             ///< names from the interpreters that ran
  std::uint64_t load_address = 0;  ///< load address of the first program that was started; 0 if unknown

  /// Adds the samples of another process.
  void add(const ProfileData& other);
};

}  // namespace zerotax
