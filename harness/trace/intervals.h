#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "trace/ctf_trace.h"

namespace zerotax::trace {

/// The time from one type of event to another, in each thread: from the last FROM before a TO to that TO. The same type
/// twice: from each to the next.
class TraceIntervals {
 public:
  TraceIntervals(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}

  void add(const CtfEvent& event);

  /// from, to, all (the distribution over all threads), threads (of each: pid, tid), and how many had no partner.
  [[nodiscard]] Json json() const;
  [[nodiscard]] bool empty() const;

 private:
  struct Thread {
    std::vector<double> ns;
    std::int64_t since = 0;
    bool pending = false;
    std::uint64_t without_to = 0;
    std::uint64_t without_from = 0;
  };
  std::string from_;
  std::string to_;
  std::map<std::pair<pid_t, pid_t>, Thread> threads_;
};

/// Count, sum, min, quartiles, 95th and 99th percentile and max of times in ns; n/a where there is none.
Json distribution_json(const std::vector<double>& ns);

}  // namespace zerotax::trace
