#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/log_histogram.h"
#include "observe/symbols.h"
#include "trace/ctf_trace.h"
#include "trace/distribution.h"
#include "trace/function_filter.h"

namespace zerotax::trace {

/// A function by the way that led to it: who called it, who called that one.
struct CallPath {
  std::size_t parent = 0;      ///< CallPaths::kRoot: nobody that is recorded and shown
  std::size_t process = 0;     ///< which of CtfTrace::processes()
  std::uint64_t function = 0;  ///< address
  unsigned depth = 0;
  std::uint64_t calls = 0;     ///< that ended
  std::uint64_t total_ns = 0;  ///< of them, with all that they called
  std::uint64_t self_ns = 0;   ///< without the instrumented functions that they called
  std::uint64_t unfinished = 0;
};

/// The call tree of a trace, its threads merged.
class CallPaths {
 public:
  static constexpr std::size_t kRoot = SIZE_MAX;

  /// The path that this call extends `parent` to.
  std::size_t child(std::size_t process, std::size_t parent, std::uint64_t function);
  CallPath& at(std::size_t path) { return paths_[path]; }
  [[nodiscard]] const CallPath& at(std::size_t path) const { return paths_[path]; }

  /// All paths of fewer than `depth` callers (0: all), each behind its parent, the longest total time first.
  [[nodiscard]] std::vector<std::size_t> ordered(unsigned depth) const;

 private:
  using Key = std::pair<std::size_t, std::uint64_t>;
  std::vector<CallPath> paths_;
  std::map<std::pair<std::size_t, Key>, std::size_t> children_;  ///< by parent, process and function
};

/// Calls of one function of a process.
struct FunctionFigures {
  std::uint64_t calls = 0;       ///< that ended
  std::uint64_t total_ns = 0;    ///< of the outermost of recursive calls, each with all that it called
  std::uint64_t self_ns = 0;     ///< without the instrumented functions that it called
  LogHistogram duration;         ///< of each call
  TimeSums durations;            ///< the same, for their mean and variance
  TimeSums self;                 ///< of each call: without the instrumented functions that it called
  std::uint64_t left = 0;        ///< of the calls: ended by a jump or in another way without an exit of their own
  std::uint64_t unfinished = 0;  ///< not among the calls: the trace ends, or lacks records, before they do
};

/// Puts entries and exits of functions together, thread by thread.
class FunctionCalls {
 public:
  using Key = std::pair<std::size_t, std::uint64_t>;  ///< process, address

  /// Called for each call that ends, in whatever way: process, thread, time.
  std::function<void(std::size_t, pid_t, std::int64_t)> on_end;

  /// What is wanted of a function; not set: everything. What is not wanted has no figures and no path, and the time of
  /// the others is the same as without it.
  std::function<FunctionChoice(std::size_t process, std::uint64_t function)> choose;
  /// Also takes each call by its path.
  CallPaths* paths = nullptr;

  /// Takes function events, in the order of time; leaves others.
  void add(const CtfEvent& event);
  /// Counts what has not ended. Once, after the last event.
  void finish();

  [[nodiscard]] const std::map<Key, FunctionFigures>& figures() const { return figures_; }
  [[nodiscard]] std::uint64_t exits_without_entry() const { return exits_without_entry_; }

 private:
  struct Call {
    std::uint64_t function = 0;
    std::uint64_t stack = 0;
    std::int64_t begin_ns = 0;
    std::int64_t inner_ns = 0;
    std::size_t path = CallPaths::kRoot;  ///< its own; if it is not shown, that of its nearest caller that is
    bool inside = true;                   ///< of what is wanted
    bool left_out = false;
    bool shown = true;
  };
  struct Thread {
    std::vector<Call> calls;
    std::map<std::uint64_t, unsigned> depth;        ///< of each function that is being called
    std::map<std::uint64_t, unsigned> shown_depth;  ///< of those that are shown
    pid_t tid = 0;
  };
  void begin_call(std::size_t process, Thread& thread, Call call);
  void end_call(std::size_t process, Thread& thread, std::int64_t now_ns, bool left);
  void drop_calls(std::size_t process, Thread& thread);

  std::map<std::pair<std::size_t, pid_t>, Thread> threads_;
  std::map<Key, FunctionFigures> figures_;
  std::uint64_t exits_without_entry_ = 0;
};

/// Names of the functions in a trace, by the program files that it says were loaded (function_module).
class FunctionNames {
 public:
  /// Takes a function_module event; leaves any other.
  void add(const std::string& process, const CtfEvent& event);

  /// The names of an address in a process's memory.
  const NamedFrame& frame(const std::string& process, std::uint64_t address);

  /// In few words: "read_request", "0x1234".
  std::string label(const std::string& process, std::uint64_t address);

 private:
  struct Module {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t bias = 0;
    std::string path;
    std::vector<unsigned char> build_id;
  };
  Symbols symbols_;
  std::map<std::string, std::vector<Module>> modules_;
  std::map<std::pair<std::string, std::uint64_t>, NamedFrame> frames_;
};

/// The function calls of a trace: figures, call tree and names.
class FunctionProfile {
 public:
  /// Reads the trace; `filter` remembers which of its names matched. The call tree only if `with_paths`.
  FunctionProfile(CtfTrace& trace, FunctionFilter& filter, bool with_paths);

  [[nodiscard]] const std::map<FunctionCalls::Key, FunctionFigures>& figures() const { return calls_.figures(); }
  [[nodiscard]] const CallPaths& paths() const { return paths_; }
  [[nodiscard]] std::uint64_t exits_without_entry() const { return calls_.exits_without_entry(); }
  const NamedFrame& frame(std::size_t process, std::uint64_t function);

 private:
  CtfTrace& trace_;
  FunctionNames names_;
  CallPaths paths_;
  FunctionCalls calls_;
};

}  // namespace zerotax::trace
