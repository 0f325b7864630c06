#include "findings/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/size.h"
#include "base/units.h"
#include "core/operation_cost.h"
#include "findings/tax.h"
#include "os/page.h"

namespace zerotax::findings {
namespace {

/// The key that says whether zeroed bytes are exact, or nullptr of another figure.
const char* bound_key(std::string_view key) {
  if (key == "zeroed_bytes" || key == "redundant_zeroed_bytes") return "zeroed_bound";
  if (key == "zeroed_in_free_bytes" || key == "redundant_zeroed_in_free_bytes") return "zeroed_in_free_bound";
  return nullptr;
}

/// A page that was found written and zero may have been written to in one byte: one page alone is no evidence.
bool is_evidence(const Json& figures, const char* key, std::uint64_t bytes) {
  return bytes >= 2 * kPageBytes || !is_upper_bound(figures, key);
}

/// The entry of the process's first operation, for a key "first_KEY"; nothing for any other key.
const Json* first_entry(const Json& figures, std::string_view key) {
  if (!key.starts_with("first_") || key == "first_ops") return nullptr;
  static const Json none = Json::object();
  const auto early = figures.find("first_ops");
  return early == figures.end() || early->empty() ? &none : &early->front();
}

bool has_violation(const Json& point, const char* violation) {
  const auto all = point.find("violations");
  return all != point.end() && std::find(all->begin(), all->end(), violation) != all->end();
}

}  // namespace

bool is_upper_bound(const Json& figures, const char* key) {
  const char* bound = bound_key(key);
  return bound != nullptr && figures.contains(bound) && figures.at(bound) == "at most";
}

std::string bound_words(bool upper_bound) { return upper_bound ? "up to " : ""; }

std::optional<std::uint64_t> count_in(const Json& figures, const char* key) {
  if (const Json* first = first_entry(figures, key)) return count_in(*first, key + std::string_view("first_").size());
  const auto figure = figure_in(figures, key);
  if (!figure) return std::nullopt;
  const auto count = static_cast<std::uint64_t>(std::llround(*figure));
  return is_evidence(figures, key, count) ? count : 0;
}

std::string bytes_words(const Json& figures, const char* key) {
  if (const Json* first = first_entry(figures, key)) {
    return bytes_words(*first, key + std::string_view("first_").size());
  }
  const auto count = count_in(figures, key);
  if (!count) return "n/a";
  return bound_words(*count > 0 && is_upper_bound(figures, key)) + format_count(*count);
}

bool has_result(const Json& point) {
  const Json& status = point.at("status");
  return status == "ok" || status == "not_zero" || status == "misaligned";
}

bool is_plain_loop(const Json& point) { return point.at("status") == "ok" && point.at("case") == "calloc_loop"; }

std::vector<const Json*> plain_loops(const FindingSubject& subject) {
  std::vector<const Json*> points;
  for (const Json* point : subject.points) {
    if (is_plain_loop(*point)) points.push_back(point);
  }
  return points;
}

std::uint64_t size_of(const Json& point) { return point.at("size_bytes"); }

std::uint64_t pages_of(const Json& point) { return (size_of(point) + kPageBytes - 1) / kPageBytes; }

bool is_much(std::uint64_t part, std::uint64_t whole) { return 2 * part >= whole; }

bool is_little(std::uint64_t part, std::uint64_t whole) { return 20 * part <= whole; }

std::vector<FiringRange> firing_ranges(std::vector<const Json*> considered,
                                       const std::function<bool(const Json&)>& fires) {
  std::stable_sort(considered.begin(), considered.end(),
                   [](const Json* one, const Json* other) { return size_of(*one) < size_of(*other); });
  std::vector<FiringRange> ranges;
  bool joined = false;
  for (std::size_t begin = 0; begin < considered.size();) {
    const std::uint64_t size = size_of(*considered[begin]);
    std::size_t end = begin;
    std::vector<const Json*> firing;
    for (; end < considered.size() && size_of(*considered[end]) == size; ++end) {
      if (fires(*considered[end])) firing.push_back(considered[end]);
    }
    if (!firing.empty()) {
      if (!joined) ranges.push_back({size, size, {}});
      ranges.back().to_bytes = size;
      ranges.back().points.insert(ranges.back().points.end(), firing.begin(), firing.end());
    }
    joined = !firing.empty();
    begin = end;
  }
  return ranges;
}

std::function<bool(const Json&)> not_on_worker_alone(const FindingSubject& subject,
                                                     std::function<bool(const Json&)> fires) {
  return [&subject, fires = std::move(fires)](const Json& point) {
    if (!fires(point)) return false;
    if (point.at("thread") == "main") return true;
    return std::none_of(subject.points.begin(), subject.points.end(), [&](const Json* other) {
      return other->at("thread") == "main" && size_of(*other) == size_of(point) &&
             other->at("touch") == point.at("touch") && other->at("case") == point.at("case") &&
             other->at("status") == "ok" && !fires(*other);
    });
  };
}

const Json& point_nearest(const FiringRange& range, std::uint64_t size_bytes) {
  const auto distance = [&](const Json* point) {
    return std::abs(static_cast<std::int64_t>(size_of(*point)) - static_cast<std::int64_t>(size_bytes));
  };
  return **std::min_element(range.points.begin(), range.points.end(),
                            [&](const Json* one, const Json* other) { return distance(one) < distance(other); });
}

Json evidence_of(const Json& point, std::initializer_list<const char*> figures) {
  Json entry;
  for (const char* key : {"case", "size_bytes", "touch", "thread"}) entry[key] = point.at(key);
  entry["figures"] = Json::object();
  for (const char* key : figures) {
    const auto count = count_in(point, key);
    if (count) {
      entry["figures"][key] = *count;
    } else {
      const auto found = point.find(key);
      entry["figures"][key] =
          found != point.end() && is_not_available(*found) ? *found : not_available("not measured by this pass");
    }
  }
  return entry;
}

Finding finding_of(const std::string& name, const FiringRange& range, std::initializer_list<const char*> figures) {
  Finding finding;
  finding.name = name;
  finding.from_bytes = range.from_bytes;
  finding.to_bytes = range.to_bytes;
  finding.named_bytes = named_size(range.from_bytes, range.to_bytes);
  for (const Json* point : range.points) finding.evidence.push_back(evidence_of(*point, figures));
  return finding;
}

std::vector<Finding> broken_promise(const FindingSubject& subject, const char* violation, const char* name,
                                    const char* title, const char* reason) {
  const auto is_broken = [violation](const Json& point) { return has_violation(point, violation); };
  std::vector<const Json*> points;
  for (const Json* point : subject.points) {
    if (point->at("status") == "ok" || is_broken(*point)) points.push_back(point);
  }
  std::vector<Finding> found;
  for (const FiringRange& range : firing_ranges(points, is_broken)) {
    Finding finding = finding_of(name, range, {});
    for (Json& entry : finding.evidence) entry["figures"]["violations"] = 1;
    finding.severity = Severity::kHigh;
    const Json& point = point_nearest(range, finding.named_bytes);
    finding.title = fmt::format("calloc({}) hands out {}", format_size(size_of(point)), title);
    finding.sentence =
        fmt::format("At {}, {}.", range_text(range.from_bytes, range.to_bytes), text_field(point, "reason", reason));
    found.push_back(std::move(finding));
  }
  return found;
}

std::optional<Peer> fastest_peer(const FindingSubject& subject, const Json& point,
                                 const std::function<std::optional<double>(const Json&)>& time) {
  return fastest_peer(subject, point, time(point), time);
}

std::optional<Peer> fastest_peer(const FindingSubject& subject, const Json& point, std::optional<double> own,
                                 const std::function<std::optional<double>(const Json&)>& time) {
  if (!own) return std::nullopt;
  std::optional<Peer> best;
  for (const Json* peer : subject.peers) {
    if (peer->at("status") != "ok") continue;
    bool same = true;
    for (const char* key : {"case", "size_bytes", "touch", "thread"}) same = same && peer->at(key) == point.at(key);
    const auto ns = same ? time(*peer) : std::nullopt;
    if (ns && (!best || *ns < best->ns)) best = Peer{allocator_label(*peer), *ns, *own / std::max(*ns, 1.0)};
  }
  return best;
}

std::string peer_words(const std::optional<Peer>& peer) {
  if (!peer || peer->ratio < 2) return "";
  return fmt::format(", {} times as long as {}", format_ratio(peer->ratio), peer->label);
}

std::string time_words(const Json& one, const Json& other) {
  const auto ns = operation_ns(one);
  const auto other_ns = operation_ns(other);
  if (!ns || !other_ns || *ns <= 0 || *other_ns <= 0) return "";
  const double ratio = *ns / *other_ns;
  if (ratio >= 2) return fmt::format(", {} times the time", format_ratio(ratio));
  return ratio <= 0.5 ? fmt::format(", 1/{} of the time", format_ratio(1 / ratio)) : "";
}

}  // namespace zerotax::findings
