#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "observe/frame.h"
#include "observe/kernel_symbols.h"
#include "observe/unwinder.h"
#include "os/perf_sampler.h"

namespace zerotax {

/// Stacks that were sampled, and how often each.
struct ProfileData {
  std::map<Stack, std::uint64_t> stacks;  ///< outermost frame first: the program's short name, without a module
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;
  bool sees_kernel = false;
  bool knows_kernel_names = false;

  /// Adds what was sampled of another process.
  void add(const ProfileData& other);
};

/// Takes and unwinds samples, in a thread of its own, of the program that the calling thread starts between
/// construction and finish(): one, and what that starts. (Of a second one the kernel may take none: between two threads
/// that share inherited events it exchanges them, and "enabled by exec" is true of an event once.)
class ProfileRecorder {
 public:
  /// Called in the recorder's thread for each sample, with its stack.
  using Each = std::function<void(const PerfEvent&, const Stack&)>;

  /// `hz`: samples a second of CPU time. Throws MachineError if nothing can be sampled.
  explicit ProfileRecorder(unsigned hz, Each each = {});
  ~ProfileRecorder();
  ProfileRecorder(const ProfileRecorder&) = delete;
  ProfileRecorder& operator=(const ProfileRecorder&) = delete;

  /// Ends sampling. Once. Throws what ended it early.
  ProfileData finish();

 private:
  void work();
  void take_samples();
  void process(std::uint64_t before_ns);
  void apply(PerfEvent& event);
  Unwinder& unwinder(std::uint32_t pid);

  PerfSampler sampler_;
  const KernelSymbols& kernel_;
  Each each_;
  ProfileData data_;
  std::vector<PerfEvent> pending_;
  std::map<std::uint32_t, std::unique_ptr<Unwinder>> processes_;
  std::map<std::uint32_t, std::string> names_;
  std::exception_ptr failure_;  ///< of the thread
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace zerotax
