#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "observe/address_space.h"
#include "observe/frame.h"
#include "observe/symbols.h"
#include "observe/unwinder.h"
#include "os/perf_sampler.h"
#include "os/process_file.h"
#include "record/outside/cpu_samples.h"
#include "record/outside/holdings_watch.h"
#include "record/outside/memory_access.h"
#include "record/outside/places.h"

namespace zerotax::record {

/// Faults that samples stand for.
struct SampledFaults {
  std::uint64_t samples = 0;
  double faults = 0;
  double squares = 0;  ///< of what each sample stands for: they need not be alike

  void add(double times) {
    ++samples;
    faults += times;
    squares += times * times;
  }
  /// Samples that all stand for the same and tell as much (Kish, Survey Sampling, 1965).
  [[nodiscard]] double effective() const { return squares > 0 ? faults * faults / squares : 0; }
};

/// A call stack under which memory was populated.
struct FaultPlace {
  std::vector<NamedFrame> frames;  ///< innermost first, without functions that write for their caller
  SampledFaults faults;
  double refilled = 0;  ///< of the faults: beyond what the process was growing by just then
};

/// Takes samples of page faults apart: which populated anonymous memory, and where the program was. Called in the
/// recorder's thread, in the order of time.
class FaultPlaces {
 public:
  explicit FaultPlaces(const HoldingsWatch& holdings) : holdings_(holdings) {}

  /// Processes that run already.
  void begin(const std::vector<pid_t>& processes);
  void change(const PerfEvent& event);
  void fault(const PerfEvent& event, const Stack& stack, Unwinder& unwinder);

  /// What a process has mapped at an address, as far as it is known; nothing: null.
  const Region* region(pid_t pid, std::uint64_t address);

  /// Once, after HoldingsWatch::finish(): most faults first.
  std::vector<FaultPlace> finish();
  [[nodiscard]] const SampledFaults& all() const { return all_; }
  /// Faults in anonymous memory of processes that share none of it with another process.
  [[nodiscard]] const SampledFaults& zero_fills() const { return zero_fills_; }
  /// The same after a fork, when each fault may have copied a page.
  [[nodiscard]] const SampledFaults& unsure() const { return unsure_; }
  /// Faults in anonymous memory whose instruction is unknown. Each may have been a read, which zeroes nothing.
  [[nodiscard]] const SampledFaults& unread() const { return unread_; }
  /// Faults in private mappings of files. Each may have copied a page of a file, and the copy is the process's own.
  [[nodiscard]] const SampledFaults& copied() const { return copied_; }
  /// Whether a process was forked.
  [[nodiscard]] bool forked() const { return forked_; }
  /// Faults in shared memory. For each, the kernel may have zeroed a page that is no process's own.
  [[nodiscard]] const SampledFaults& shared() const { return shared_; }

 private:
  struct Populated {
    SampledFaults faults;
    double refilled = 0;
  };
  struct Waiting {
    pid_t pid = 0;
    std::uint64_t time_ns = 0;
    Populated* place = nullptr;
    double faults = 0;
  };

  void read_space(pid_t pid);
  std::string code_at(pid_t pid, std::uint64_t address, const Unwinder& unwinder);
  Access access_of_fault(const PerfEvent& event, const Unwinder& unwinder);
  void attribute(std::uint64_t before_ns);

  const HoldingsWatch& holdings_;
  std::map<pid_t, AddressSpace> spaces_;
  std::map<pid_t, std::uint64_t> space_read_ns_;
  std::set<pid_t> sharing_;
  Places<Populated> places_;
  ProcessFiles files_;
  std::map<std::pair<pid_t, std::uint64_t>, std::string> code_;  ///< code at faulting instructions
  std::vector<Waiting> waiting_;
  bool forked_ = false;
  SampledFaults all_;
  SampledFaults zero_fills_;
  SampledFaults unsure_;
  SampledFaults unread_;
  SampledFaults shared_;
  SampledFaults copied_;
};

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
