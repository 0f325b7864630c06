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

/// A function that stores zeros, with its calling convention and the position of its breakpoint.
struct StoringFunction {
  enum class Convention {
    kMemset,  ///< memset(block, byte, bytes), C calling convention
    kBzero,   ///< bzero(block, bytes), C calling convention
    kGo,      ///< runtime.memclrNoHeapPointers(block, bytes), Go's convention (1.17 and later)
  };
  std::string name;
  UprobePlace place;
  Convention convention = Convention::kMemset;
};

/// The functions of a file that store zeros. The file's symbols name most of these functions. If the file is zerotax's
/// own C library, the functions that zerotax's own calls reach are added. If the CPU chooses among variants of a
/// function, each variant is listed.
struct StoringFunctions {
  std::vector<StoringFunction> watched;  ///< without functions that jump to a function in this list, because their
                                         ///< calls would count twice
  std::vector<std::string> unwatched;    ///< names of functions on which no breakpoint is safe
};
StoringFunctions storing_functions(const std::string& path);

/// Counts every call to the storing functions in running processes, their new threads and their forked children. Uses
/// uprobes, which need root. Each call costs the program a trap of some microseconds.
class StoreSizesWatch {
 public:
  /// Throws MachineError if the kernel does not permit uprobes, or the processes have no storing function.
  explicit StoreSizesWatch(std::vector<pid_t> processes);
  ~StoreSizesWatch();
  StoreSizesWatch(const StoreSizesWatch&) = delete;
  StoreSizesWatch& operator=(const StoreSizesWatch&) = delete;

  /// Returns the counts. Call this once.
  StoreSizes finish();

 private:
  struct Seen {
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t least = UINT64_MAX;
    std::uint64_t most = 0;
    std::map<std::uint64_t, SizeClass> sizes{};  ///< by the smallest size of the class

    void add(std::uint64_t bytes_of_call);
    void add(const Seen& more);
  };
  using Caller = std::tuple<pid_t, std::uint64_t, std::size_t>;  ///< PID, return address, index of the function

  void find_functions(pid_t pid);
  void open();
  void open(perf_event_attr attributes, pid_t thread);
  void read();
  void take(PerfRecordReader reader);
  [[nodiscard]] Spot spot_of(pid_t pid, std::uint64_t address);

  std::vector<pid_t> processes_;
  std::set<std::string> looked_;  ///< paths of files whose functions are known
  std::vector<StoringFunction> functions_;
  std::set<std::string> unwatched_;  ///< names of functions on which no breakpoint is safe
  ProcessFiles files_;
  std::optional<UprobeEvent> event_;    ///< the places of this event are in the order of `functions_`
  std::optional<PerfStreams> streams_;  ///< declared after `event_`, because the event cannot be removed while a stream
                                        ///< is open
  std::map<Caller, std::pair<Spot, Seen>> callers_;
  std::uint64_t other_bytes_calls_ = 0;
  std::atomic<bool> done_ = false;
  Worker reader_;
};

}  // namespace zerotax::record
