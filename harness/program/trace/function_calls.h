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

/// A path in the call tree: a function, its caller, that caller's caller, and so on.
struct CallPath {
  std::size_t parent = 0;      ///< path of the caller; CallPaths::kRoot if the trace and the filters leave no caller
  std::size_t process = 0;     ///< index in CtfTrace::processes()
  std::uint64_t function = 0;  ///< address
  unsigned depth = 0;
  std::uint64_t calls = 0;     ///< calls that ended
  std::uint64_t total_ns = 0;  ///< time of these calls, including all functions that they called
  std::uint64_t self_ns = 0;   ///< time of these calls, without the instrumented functions that they called
  std::uint64_t unfinished = 0;
};

/// The call tree of a trace. Threads are merged.
class CallPaths {
 public:
  static constexpr std::size_t kRoot = SIZE_MAX;

  /// Returns the path that consists of `parent` and a call to `function` from there.
  std::size_t child(std::size_t process, std::size_t parent, std::uint64_t function);
  CallPath& at(std::size_t path) { return paths_[path]; }
  [[nodiscard]] const CallPath& at(std::size_t path) const { return paths_[path]; }

  /// Returns all paths that have fewer than `depth` callers (0 for all paths). Each path follows its parent; among
  /// siblings, paths with the longest total time come first.
  [[nodiscard]] std::vector<std::size_t> ordered(unsigned depth) const;

 private:
  using Key = std::pair<std::size_t, std::uint64_t>;
  std::vector<CallPath> paths_;
  std::map<std::pair<std::size_t, Key>, std::size_t> children_;  ///< path by parent, process and function
};

/// Metrics of the calls of one function in one process.
struct FunctionFigures {
  std::uint64_t calls = 0;       ///< calls that ended
  std::uint64_t total_ns = 0;    ///< time including callees; of recursive calls, only the outermost
  std::uint64_t self_ns = 0;     ///< time without the instrumented functions that these calls called
  LogHistogram duration;         ///< duration of each call
  TimeSums durations;            ///< the same durations, for mean and variance
  TimeSums self;                 ///< self time of each call
  std::uint64_t left = 0;        ///< calls that ended by a jump, or otherwise without an exit event
  std::uint64_t unfinished = 0;  ///< calls still open when the trace ended or records were lost; not part of `calls`
};

/// Matches the entries and exits of functions, thread by thread.
class FunctionCalls {
 public:
  using Key = std::pair<std::size_t, std::uint64_t>;  ///< process, address

  /// Called at the end of each call, with its process, thread and time.
  std::function<void(std::size_t, pid_t, std::int64_t)> on_end;

  /// Selects functions; if not set, all functions are selected. A function that is not selected gets no metrics and no
  /// path. The selection does not change the times of the other functions.
  std::function<FunctionChoice(std::size_t process, std::uint64_t function)> choose;
  /// If set, each call is also counted in this call tree.
  CallPaths* paths = nullptr;

  /// Takes the function events of a trace in the order of time. Ignores all other events.
  void add(const CtfEvent& event);
  /// Counts the unfinished calls. Must be called once, after the last event.
  void finish();

  [[nodiscard]] const std::map<Key, FunctionFigures>& figures() const { return figures_; }
  [[nodiscard]] std::uint64_t exits_without_entry() const { return exits_without_entry_; }

 private:
  struct Call {
    std::uint64_t function = 0;
    std::uint64_t stack = 0;
    std::int64_t begin_ns = 0;
    std::int64_t inner_ns = 0;
    std::size_t path = CallPaths::kRoot;  ///< path of this call; of its nearest shown caller if this call is not shown
    bool inside = true;                   ///< whether a selected function is on the stack
    bool left_out = false;
    bool shown = true;
  };
  struct Thread {
    std::vector<Call> calls;
    std::map<std::uint64_t, unsigned> depth;        ///< depth of recursion of each function on the stack
    std::map<std::uint64_t, unsigned> shown_depth;  ///< depth of recursion of each shown function
    pid_t tid = 0;
  };
  void begin_call(std::size_t process, Thread& thread, Call call);
  void end_call(std::size_t process, Thread& thread, std::int64_t now_ns, bool left);
  void drop_calls(std::size_t process, Thread& thread);

  std::map<std::pair<std::size_t, pid_t>, Thread> threads_;
  std::map<Key, FunctionFigures> figures_;
  std::uint64_t exits_without_entry_ = 0;
};

/// Names of the functions in a trace. The function_module events of the trace name the loaded program files, in which
/// the names are found.
class FunctionNames {
 public:
  /// Takes the function_module events of a trace. Ignores all other events.
  void add(const std::string& process, const CtfEvent& event);

  /// Returns the names for an address in a process's memory.
  const NamedFrame& frame(const std::string& process, std::uint64_t address);

  /// Returns a short name, such as "read_request" or "0x1234".
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

/// The function calls of a trace: metrics, call tree and names.
class FunctionProfile {
 public:
  /// Reads the trace. `filter` remembers which of its patterns matched. The call tree is built only if `with_paths`.
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
