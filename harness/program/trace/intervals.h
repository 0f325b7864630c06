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
  RESULT("interval key");
  FIELD(std::string, from, "Field of the first event.");
  FIELD(std::string, to, "Field of the second event.");
};

struct IntervalThread {
  RESULT("interval thread", "A thread in which times ended.");
  FIELD(pid_t, pid, "PID of the process.", kAnySign);
  FIELD(pid_t, tid, "ID of the thread.", kAnySign);
  FIELD(std::uint64_t, from_without_to,
        "Number of events of the first type that were followed by another of that type, or by the end of the trace.");
  FIELD(Measured<std::uint64_t>, to_without_from,
        "Number of events of the second type that no event of the first type preceded; n/a if any event ends a time.");
  FIELD(Distribution, time, "Distribution in this thread.");
};

struct Intervals {
  RESULT("intervals");
  FIELD(std::string, from, "Type of event at which a time begins.", kMayBeEmpty);
  FIELD(std::string, to, "Type of event at which it ends.", kMayBeEmpty);
  FIELD(IntervalKey, key,
        "What the two events have in common: a field of the first, which equals one of the second; or thread, process, "
        "any.");
  FIELD(Distribution, all, "Distribution over all threads.");
  FIELD(std::string, sentence, "The distribution in words.", form(R"(\S)"));
  FIELD(std::vector<HistogramRow>, histogram, "How many of the times lie in each class, without a gap.");
  FIELD(std::vector<IntervalThread>, threads, "Distribution for each thread in which such a time ended.");
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
