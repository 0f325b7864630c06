#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "trace/ctf_trace.h"
#include "trace/distribution.h"

namespace zerotax::trace {

/// Between which events time is taken, and which two belong together.
struct IntervalChoice {
  std::string from;                 ///< type of event; "*": any
  std::string to;                   ///< type of event; "*": any
  std::string from_key = "thread";  ///< field of the first event that equals to_key of the second
  std::string to_key = "thread";

  /// "address", or "child=pid": field of the first event, field of the second. "thread" and "process" are those that
  /// the event is of, "any" is the same for all; "pid" and "tid" are theirs where the event has no such field. Throws
  /// UsageError.
  void set_key(const std::string& key);
  /// Throws UsageError if the trace has events of these types, and none of them has the field.
  void check(const std::vector<CtfProcess>& processes) const;
};

// The fields below are keys of results/schema/trace.schema.json.

struct IntervalKey {
  std::string from;
  std::string to;
};

/// A thread in which times ended.
struct IntervalThread {
  pid_t pid = 0;
  pid_t tid = 0;
  std::uint64_t from_without_to = 0;
  Measured<std::uint64_t> to_without_from;
  Distribution time;
};

struct Intervals {
  std::string from;
  std::string to;
  IntervalKey key;
  Distribution all;
  std::string sentence;
  std::vector<HistogramRow> histogram;
  std::vector<IntervalThread> threads;
};

/// The time from one type of event to another, of events with the same key: from the last FROM before a TO to that TO.
/// The same type twice: from each to the next. By default in each thread; with another key also across threads and
/// processes.
class TraceIntervals {
 public:
  explicit TraceIntervals(IntervalChoice choice) : choice_(std::move(choice)) {}

  void add(const CtfEvent& event);

  [[nodiscard]] Intervals result() const;

 private:
  using Owner = std::pair<pid_t, pid_t>;
  struct Thread {
    std::vector<double> ns;
    std::uint64_t without_to = 0;
    std::uint64_t without_from = 0;
  };
  struct Pending {
    std::int64_t since;
    Owner owner;
  };

  IntervalChoice choice_;
  std::map<Owner, Thread> threads_;
  std::unordered_map<std::string, Pending> pending_;
};

}  // namespace zerotax::trace
