#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "os/perf_streams.h"
#include "os/process_file.h"
#include "os/trace_event.h"
#include "os/worker.h"
#include "record/outside/places.h"
#include "record/result.h"

namespace zerotax::record {

/// A function that stores zeros: where it begins, and where its arguments are.
struct StoringFunction {
  enum class Convention {
    kMemset,  ///< memset(block, byte, bytes), by the C calling convention
    kBzero,   ///< bzero(block, bytes)
    kGo,      ///< runtime.memclrNoHeapPointers(block, bytes), by Go's (1.17 and later)
  };
  std::string name;
  UprobePlace place;
  Convention convention = Convention::kMemset;
};

/// The functions of a file that store zeros, found by its symbols and, for our C library, by the targets of our own
/// calls. Several variants of one function, between which the CPU decides, are several functions.
struct StoringFunctions {
  std::vector<StoringFunction> watched;  ///< without functions that run into another one: those calls would count twice
  std::vector<std::string> unwatched;    ///< names of functions on which no breakpoint is safe
};
StoringFunctions storing_functions(const std::string& path);

/// Every call of these functions in running processes, in the threads that they start and in the children that they
/// fork. Uses uprobes, which need root. Each call costs the program a trap of some microseconds.
class StoreSizesWatch {
 public:
  /// Throws MachineError if the kernel does not permit it, or no such function was found in the processes.
  explicit StoreSizesWatch(std::vector<pid_t> processes);
  ~StoreSizesWatch();
  StoreSizesWatch(const StoreSizesWatch&) = delete;
  StoreSizesWatch& operator=(const StoreSizesWatch&) = delete;

  /// What was seen. Once.
  StoreSizes finish();

 private:
  struct Seen {
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t least = UINT64_MAX;
    std::uint64_t most = 0;
    std::map<std::uint64_t, SizeClass> sizes{};  ///< by their smallest

    void add(std::uint64_t bytes_of_call);
    void add(const Seen& more);
  };
  using Caller = std::tuple<pid_t, std::uint64_t, std::size_t>;  ///< process, where it returns to, function

  void find_functions(pid_t pid);
  void open();
  void open(perf_event_attr attributes, pid_t thread);
  void read();
  void take(PerfRecordReader reader);
  [[nodiscard]] Spot spot_of(pid_t pid, std::uint64_t address);

  std::vector<pid_t> processes_;
  std::set<std::string> looked_;  ///< paths of files whose functions are known
  std::vector<StoringFunction> functions_;
  std::set<std::string> unwatched_;  ///< functions on which no breakpoint is safe
  ProcessFiles files_;
  std::optional<UprobeEvent> event_;    ///< the functions are its places, in their order
  std::optional<PerfStreams> streams_;  ///< after event_: while one stream is open, the event cannot be removed
  std::map<Caller, std::pair<Spot, Seen>> callers_;
  std::uint64_t other_bytes_calls_ = 0;
  std::atomic<bool> done_ = false;
  Worker reader_;
};

}  // namespace zerotax::record
