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

/// Number of faults, as estimated from samples.
struct SampledFaults {
  std::uint64_t samples = 0;
  double faults = 0;
  double squares = 0;  ///< sum of the squares of the samples' numbers of faults

  void add(double times) {
    ++samples;
    faults += times;
    squares += times * times;
  }
  /// Effective sample size: the number of equally weighted samples with the same precision (Kish, Survey Sampling,
  /// 1965).
  [[nodiscard]] double effective() const { return squares > 0 ? faults * faults / squares : 0; }
};

/// A call stack under which memory was populated.
struct FaultPlace {
  std::vector<NamedFrame> frames;  ///< innermost first, without functions that write for their caller
  SampledFaults faults;
  double refilled = 0;  ///< the part of `faults` that refilled memory, because the process was not growing at that time
};

/// Classifies sampled page faults by the place in the program, and by whether the fault populated anonymous memory.
/// Call this in the recorder's thread, in the order of time.
class FaultPlaces {
 public:
  explicit FaultPlaces(const HoldingsWatch& holdings) : holdings_(holdings) {}

  /// Reads the mappings of running processes.
  void begin(const std::vector<pid_t>& processes);
  void change(const PerfEvent& event);
  void fault(const PerfEvent& event, const Stack& stack, Unwinder& unwinder);

  /// Returns the mapping at an address of a process, or nullptr if it is unknown.
  const Region* region(pid_t pid, std::uint64_t address);

  /// Returns all places, most faults first. Call this once, after HoldingsWatch::finish().
  std::vector<FaultPlace> finish();
  [[nodiscard]] const SampledFaults& all() const { return all_; }
  /// Faults in anonymous memory of processes that share no anonymous memory with another process.
  [[nodiscard]] const SampledFaults& zero_fills() const { return zero_fills_; }
  /// Faults in anonymous memory after a fork, each of which may have copied a page.
  [[nodiscard]] const SampledFaults& unsure() const { return unsure_; }
  /// Faults in anonymous memory whose instruction is unknown. Each of these faults may have been a read, which zeroes
  /// nothing.
  [[nodiscard]] const SampledFaults& unread() const { return unread_; }
  /// Faults in private mappings of files. Each of these faults may have copied a page of a file for the process.
  [[nodiscard]] const SampledFaults& copied() const { return copied_; }
  /// Whether any process was forked.
  [[nodiscard]] bool forked() const { return forked_; }
  /// Faults in shared memory, which may have zeroed a page that belongs to no single process.
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
  std::map<std::pair<pid_t, std::uint64_t>, std::string> code_;  ///< code by process and address of an instruction that
                                                                 ///< faulted
  std::vector<Waiting> waiting_;
  bool forked_ = false;
  SampledFaults all_;
  SampledFaults zero_fills_;
  SampledFaults unsure_;
  SampledFaults unread_;
  SampledFaults shared_;
  SampledFaults copied_;
};

/// A call stack under which the program returned memory to the kernel.
struct ReturnPlace {
  std::vector<NamedFrame> frames;  ///< innermost first, without the function that made the system call
  ReturnedIn in = ReturnedIn::kProgram;
  std::uint64_t samples = 0;
  double calls = 0;
  double bytes = 0;              ///< estimated bytes in the address ranges of all calls
  std::uint64_t seen_bytes = 0;  ///< bytes in the address ranges of the sampled calls
  double variance = 0;           ///< variance of `bytes`, because each sample stands for similar calls
};

/// Counts the ranges of anonymous memory in system calls that return memory, whether or not the ranges were populated.
/// Call this in the recorder's thread, in the order of time.
class ReturnPlaces {
 public:
  explicit ReturnPlaces(FaultPlaces& spaces) : spaces_(spaces) {}

  /// Handles a fork, an exec or the end of a process. A child of fork has its parent's heap, and an exec begins a new
  /// heap.
  void change(const PerfEvent& event);
  void add(const PerfEvent& event, const Stack& stack, Unwinder& unwinder);
  /// Returns all places, most bytes first.
  [[nodiscard]] std::vector<ReturnPlace> finish() const;
  [[nodiscard]] std::uint64_t samples() const { return samples_; }

 private:
  std::uint64_t asked_bytes(const PerfEvent& event);
  std::uint64_t brk_bytes(pid_t pid, std::uint64_t end, bool every);

  FaultPlaces& spaces_;
  Places<ReturnPlace> places_;               ///< the places' frames are set in finish()
  std::map<pid_t, std::uint64_t> heap_end_;  ///< the heap's end after the last call to brk
  std::uint64_t samples_ = 0;
};

}  // namespace zerotax::record
