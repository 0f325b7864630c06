#include "trace/intervals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "base/units.h"
#include "trace/fields.h"

namespace zerotax::trace {
namespace {

constexpr const char* kAnyType = "*";
constexpr const char* kThreadKey = "thread";
constexpr const char* kProcessKey = "process";
constexpr const char* kAnyKey = "any";

bool is_of(const CtfEvent& event, const std::string& type) { return type == kAnyType || event.type->name == type; }

/// Keys that every event has.
const std::set<std::string>& common_keys() {
  static const std::set<std::string> keys{kThreadKey, kProcessKey, kAnyKey, "pid", "tid"};
  return keys;
}

void check_key(const std::string& type, const std::string& key, const std::vector<CtfProcess>& processes) {
  if (common_keys().contains(key) || type == kAnyType) return;
  std::set<std::string> known = common_keys();
  bool exists = false;
  for (const CtfProcess& process : processes) {
    for (const auto& [id, each] : process.metadata.types) {
      if (each.name != type) continue;
      exists = true;
      if (each.field(key) != nullptr) return;
      for (const CtfField& field : each.fields) known.insert(field.name);
    }
  }
  if (exists) refuse_word(fmt::format("event '{}' has no field '{}'", type, key), key, {known.begin(), known.end()});
}

/// Returns an empty key if the event has no such field; events with an empty key pair with no other event.
std::string key_of(const CtfEvent& event, const std::string& name) {
  if (name == kThreadKey) return fmt::format("{}:{}", event.pid, event.tid);
  if (name == kProcessKey) return std::to_string(event.pid);
  if (name == kAnyKey) return name;
  if (const CtfField* field = event.type->field(name)) {
    return json_line(ctf_field_value(*field, event.bytes + field->offset));
  }
  if (name == "pid") return std::to_string(event.pid);
  return name == "tid" ? std::to_string(event.tid) : "";
}

std::string sentence_of(const Intervals& intervals) {
  const Distribution& all = intervals.all;
  const std::string what = fmt::format("from {} to {}", intervals.from, intervals.to);
  if (all.count == 0) return "There is no interval " + what;
  return fmt::format("{} {}: median {}, longest {}", format_counted(all.count, "time"), what, time_text(all.median_ns),
                     time_text(all.max_ns));
}

}  // namespace

void IntervalChoice::set_key(const std::string& key) {
  const std::size_t equals = key.find('=');
  from_key = key.substr(0, equals);
  to_key = equals == std::string::npos ? from_key : key.substr(equals + 1);
  if (!from_key.empty() && !to_key.empty()) return;
  throw UsageError(fmt::format("invalid --key '{}'", key),
                   "give a field of both events, or one of each, as in --key address or --key child=pid");
}

void IntervalChoice::check(const std::vector<CtfProcess>& processes) const {
  check_key(from, from_key, processes);
  check_key(to, to_key, processes);
}

void TraceIntervals::add(const CtfEvent& event) {
  const bool begins = is_of(event, choice_.from);
  const bool ends = is_of(event, choice_.to);
  if (!begins && !ends) return;
  const Owner owner{event.pid, event.tid};
  if (const std::string key = ends ? key_of(event, choice_.to_key) : ""; !key.empty()) {
    const auto found = pending_.find(key);
    if (found != pending_.end()) {
      threads_[owner].ns.push_back(static_cast<double>(event.monotonic_ns - found->second.since));
      pending_.erase(found);
    } else if (!begins) {
      ++threads_[owner].without_from;
    }
  }
  const std::string key = begins ? key_of(event, choice_.from_key) : "";
  if (key.empty()) return;
  const auto [found, is_new] = pending_.try_emplace(key, Pending{event.monotonic_ns, owner});
  if (is_new) return;
  ++threads_[found->second.owner].without_to;
  found->second = {event.monotonic_ns, owner};
}

Intervals TraceIntervals::result() const {
  std::map<Owner, Thread> threads = threads_;
  for (const auto& [key, pending] : pending_) {
    // If both types are the same, the last event begins no interval, so its missing end is not counted.
    threads[pending.owner].without_to += choice_.from != choice_.to ? 1 : 0;
  }
  Intervals result;
  result.from = choice_.from;
  result.to = choice_.to;
  result.key = {choice_.from_key, choice_.to_key};
  std::vector<double> all;
  for (const auto& [who, thread] : threads) {
    all.insert(all.end(), thread.ns.begin(), thread.ns.end());
    result.threads.push_back({who.first, who.second, thread.without_to,
                              known_if(choice_.to != kAnyType, thread.without_from, "any event ends an interval"),
                              distribution_of(thread.ns)});
  }
  result.all = distribution_of(all);
  result.sentence = sentence_of(result);
  result.histogram = histogram_of(all);
  return result;
}

}  // namespace zerotax::trace
