#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

#include "observe/frame.h"
#include "observe/symbols.h"
#include "observe/unwinder.h"
#include "os/perf_sampler.h"
#include "record/outside/fault_places.h"
#include "record/outside/functions.h"
#include "record/outside/places.h"

namespace zerotax::record {

/// A call stack under which memory was to be returned.
struct ReturnPlace {
  std::vector<NamedFrame> frames;  ///< innermost first, without the function that asked the kernel
  ReturnedIn in = ReturnedIn::kProgram;
  std::uint64_t samples = 0;
  double calls = 0;
  double bytes = 0;              ///< that the calls asked to be returned
  std::uint64_t seen_bytes = 0;  ///< by the sampled ones
  double variance = 0;           ///< of the bytes, as each sample stands for others like it
};

/// Counts what system calls that return memory were asked for: ranges of anonymous memory, whether they were populated
/// or not. Called in the recorder's thread, in the order of time.
class ReturnPlaces {
 public:
  explicit ReturnPlaces(FaultPlaces& spaces) : spaces_(spaces) {}

  /// A fork, an exec or an end: the heap is another one.
  void change(const PerfEvent& event);
  void add(const PerfEvent& event, const Stack& stack, Unwinder& unwinder);
  /// Most bytes first.
  [[nodiscard]] std::vector<ReturnPlace> finish() const;
  [[nodiscard]] std::uint64_t samples() const { return samples_; }

 private:
  std::uint64_t asked_bytes(const PerfEvent& event);
  std::uint64_t brk_bytes(pid_t pid, std::uint64_t end, bool every);

  FaultPlaces& spaces_;
  Places<ReturnPlace> places_;               ///< without their frames
  std::map<pid_t, std::uint64_t> heap_end_;  ///< as it was asked for last
  std::uint64_t samples_ = 0;
};

}  // namespace zerotax::record
