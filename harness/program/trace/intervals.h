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

/// The two types of event that begin and end an interval, and the keys that pair the events.
struct IntervalChoice {
  std::string from;                 ///< type of event; "*" for any
  std::string to;                   ///< type of event; "*" for any
  std::string from_key = "thread";  ///< field of the first event that must equal field `to_key` of the second
  std::string to_key = "thread";

  /// Parses "address" (a field of both events), or "child=pid" (a field of the first event and a field of the second).
  /// "thread" means the event's thread, "process" the event's process, and "any" pairs all events. "pid" and "tid" mean
  /// the event's own process and thread, unless the event has a field of that name. Throws UsageError.
  void set_key(const std::string& key);
  /// Throws UsageError if the trace has events of these types but no such event has the field.
  void check(const std::vector<CtfProcess>& processes) const;
};

// The fields below are keys of results/schema/trace.schema.json.

struct IntervalKey {
  RESULT("interval key");
  FIELD(std::string, from, "Field of the first event.");
  FIELD(std::string, to, "Field of the second event.");
};

struct IntervalThread {
  RESULT("interval thread", "A thread in which intervals ended.");
  FIELD(pid_t, pid, "PID of the process.", kAnySign);
  FIELD(pid_t, tid, "ID of the thread.", kAnySign);
  FIELD(std::uint64_t, from_without_to,
        "Number of events of the first type that were followed by another event of that type or by the end of the"
        " trace.");
  FIELD(Measured<std::uint64_t>, to_without_from,
        "Number of events of the second type without an event of the first type before them; n/a if any event "
        "ends an interval.");
  FIELD(Distribution, time, "Distribution of the times in this thread.");
};

struct Intervals {
  RESULT("intervals");
  FIELD(std::string, from, "Type of event that begins an interval.", kMayBeEmpty);
  FIELD(std::string, to, "Type of event that ends an interval.", kMayBeEmpty);
  FIELD(IntervalKey, key,
        "The value that pairs two events: a field of the first event that equals a field of the second; or "
        "thread, process, any.");
  FIELD(Distribution, all, "Distribution of the times over all threads.");
  FIELD(std::string, sentence, "The distribution in words.", form(R"(\S)"));
  FIELD(std::vector<HistogramRow>, histogram,
        "Histogram of the times: the number of times in each class, without gaps between classes.");
  FIELD(std::vector<IntervalThread>, threads, "Distribution for each thread in which an interval ended.");
};

/// Measures intervals between events of the same key: from an event of type `from` to the next event of type `to`. Of
/// several events of type `from` before an event of type `to`, the last counts. If both types are the same, intervals
/// run from each event to the next. The default key is the thread. Other keys also pair events of different threads and
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
