#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "os/perf_streams.h"
#include "os/process_file.h"
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
  std::string path;  ///< by which the file can be read
  std::uint64_t file_offset = 0;
  Convention convention = Convention::kMemset;
};

/// Those of a file, by its symbols, and of our C library by where our own calls go. Variants of one function that the
/// CPU decides between are several; one that runs into another is left out, for its calls would count twice.
std::vector<StoringFunction> storing_functions(const std::string& path);

/// Every call of these functions in processes that run, and in the children that these fork: by uprobes of perf
/// (perf_event_open(2), PMU "uprobe"), which are root's. Each call costs the program a trap, some microseconds.
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
  void open(pid_t thread);
  void read();
  void take(PerfRecordReader reader);
  [[nodiscard]] Spot spot_of(pid_t pid, std::uint64_t address);

  std::vector<pid_t> processes_;
  std::uint32_t type_;  ///< of events: the PMU's number
  std::vector<StoringFunction> functions_;
  std::set<std::string> unwatched_;  ///< of these: their first instruction takes no breakpoint
  PerfStreams streams_;
  ProcessFiles files_;
  std::map<Caller, std::pair<Spot, Seen>> callers_;
  std::uint64_t other_bytes_calls_ = 0;
  std::atomic<bool> done_ = false;
  std::thread reader_;
};

}  // namespace zerotax::record
