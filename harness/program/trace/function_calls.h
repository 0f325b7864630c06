#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/log_histogram.h"
#include "trace/call_paths.h"
#include "trace/ctf_trace.h"
#include "trace/function_filter.h"
#include "trace/time_sums.h"

namespace zerotax::trace {

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

}  // namespace zerotax::trace
