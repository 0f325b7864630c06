#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/size.h"
#include "base/statistics.h"
#include "base/units.h"
#include "grid.h"
#include "largecache/policy.h"

using namespace zerotax;

namespace {

constexpr double kNear = 1.05;
constexpr double kTenth = 0.1;

double quantile_of(const std::map<std::string, std::vector<LoopFigures>>& rounds, const std::string& contender,
                   double LoopFigures::*figure, double share) {
  const auto found = rounds.find(contender);
  if (found == rounds.end() || found->second.empty()) return 0;
  std::vector<double> values;
  for (const LoopFigures& figures : found->second) values.push_back(figures.*figure);
  return quantile(values, share);
}

std::string sizes_text(const Cell& cell) {
  std::vector<std::string> words;
  for (const std::uint64_t size : cell.words.sizes) words.push_back(format_size(size));
  return fmt::format("{}", fmt::join(words, "+"));
}

std::string microseconds(double ns) {
  if (ns <= 0) return "n/a";
  const double us = ns / 1000;
  return us < 100 ? fmt::format("{:.3g}", us) : fmt::format("{:.0f}", us);
}

std::string short_name(const std::string& name) {
  const std::size_t dash = name.find('-');
  const bool apples = name.starts_with("libmalloc-") || name.starts_with("xzone-");
  return (apples ? name.substr(dash + 1) : name).substr(0, 7);
}

std::string faults_text(const Cell& cell, const std::string& contender) {
  if (cell.ns(contender) <= 0) return "n/a";
  const double faults = cell.faults(contender);
  // A count below 1 means that not every operation takes a fault.
  return faults >= 100 || faults == 0 ? fmt::format("{:.0f}", faults) : fmt::format("{:.2g}", faults);
}

std::string zeroed_text(const Cell& cell, const std::string& contender) {
  const auto zeroed = cell.zeroed.find(contender);
  if (zeroed == cell.zeroed.end() || zeroed->second < 0) return "n/a";
  return fmt::format("{:.3g}", static_cast<double>(zeroed->second) / static_cast<double>(kMiB));
}

// Formats the `figure` of each contender of one kind, in columns.
std::string columns_text(const std::vector<Contender>& contenders, bool policies,
                         const std::function<std::string(const std::string&)>& figure) {
  std::string text;
  for (const Contender& contender : contenders) {
    if (contender.is_policy == policies) text += fmt::format(" {:>7}", figure(contender.name));
  }
  return text;
}

Json figure_or_na(double value, const char* why) { return value > 0 ? Json(value) : Json{{"na", why}}; }

}  // namespace

double Cell::ns(const std::string& contender) const { return quantile_of(figures, contender, &LoopFigures::ns, 0); }
double Cell::again_ns(const std::string& contender) const { return quantile_of(again, contender, &LoopFigures::ns, 0); }
double Cell::faults(const std::string& contender) const {
  return quantile_of(figures, contender, &LoopFigures::faults, 0.5);
}

std::vector<std::string> rivals_of(const Cell& cell, const std::vector<Contender>& contenders) {
  constexpr std::size_t kRivals = 2;
  std::vector<const Contender*> others;
  for (const Contender& contender : contenders) {
    if (contender.name != "adaptive" && cell.ns(contender.name) > 0) others.push_back(&contender);
  }
  std::ranges::sort(others, {}, [&](const Contender* other) { return cell.ns(other->name); });
  std::vector<std::string> rivals;
  for (const Contender* other : others) {
    const bool cheapest_allocator = !other->is_policy && std::ranges::none_of(others, [&](const Contender* cheaper) {
      return !cheaper->is_policy && cell.ns(cheaper->name) < cell.ns(other->name);
    });
    if (rivals.size() < kRivals || cheapest_allocator) rivals.push_back(other->name);
  }
  return rivals;
}

Verdict judge(const Cell& cell, const std::vector<Contender>& contenders) {
  Verdict verdict{};
  double best_allocator = 0;
  double best_other = 0;
  for (const Contender& contender : contenders) {
    const double ns = cell.again_ns(contender.name);
    if (ns <= 0 || contender.name == "adaptive") continue;
    if (best_other == 0 || ns < best_other) {
      best_other = ns;
      verdict.best_other = contender.name;
    }
    if (!contender.is_policy && (best_allocator == 0 || ns < best_allocator)) {
      best_allocator = ns;
      verdict.best_allocator = contender.name;
    }
  }
  const double adaptive = cell.again_ns("adaptive");
  verdict.to_best_allocator = best_allocator > 0 ? adaptive / best_allocator : 0;
  verdict.to_best_other = best_other > 0 ? adaptive / best_other : 0;
  verdict.ten_times_promised = cell.words.sizes.front() >= 20 * kMiB && cell.words.fraction < 0.1;
  verdict.near_kept = adaptive > 0 && verdict.to_best_other <= kNear;
  verdict.ten_times_kept = adaptive > 0 && verdict.to_best_allocator <= kTenth;
  return verdict;
}

std::string cells_text(const std::string& heading, const std::vector<Cell>& cells,
                       const std::vector<Contender>& contenders) {
  std::string text;
  // Prints two tables, to limit their width: one of the allocators, one of the policies.
  for (const bool policies : {false, true}) {
    text += fmt::format("{}{}\n{:<16}{:>6}", heading, policies ? ", largecache's policies" : "", "size", "part");
    if (!policies) text += fmt::format(" {:>7}", "limit");
    text += columns_text(contenders, policies, short_name);
    text += policies ? fmt::format(" {:>6}{:>7}\n", "/other", "/alloc") : "\n";
    for (const Cell& cell : cells) {
      std::string what = sizes_text(cell);
      if (cell.words.threads > 1) what += fmt::format(" x{}", cell.words.threads);
      text += fmt::format("{:<16}{:>5g}%", what, cell.words.fraction * 100);
      if (!policies) text += fmt::format(" {:>7}", microseconds(cell.ns("limit")));
      text += columns_text(contenders, policies, [&](const std::string& name) { return microseconds(cell.ns(name)); });
      const Verdict verdict = judge(cell, contenders);
      const bool tenth = !verdict.ten_times_promised || verdict.ten_times_kept;
      text += policies ? fmt::format(" {:>5.2f}{}{:>6.3f}{}\n", verdict.to_best_other, verdict.near_kept ? " " : "!",
                                     verdict.to_best_allocator, tenth ? " " : "!")
                       : "\n";
    }
    text += "\n";
  }
  return text;
}

std::string causes_text(const std::string& heading, const std::vector<Cell>& cells,
                        const std::vector<Contender>& contenders) {
  std::string text;
  const auto add_table = [&](const char* what, bool policies, std::string (*figure)(const Cell&, const std::string&)) {
    text += fmt::format("{}{}: {} per calloc + touch + free\n{:<16}{:>6}", heading,
                        policies ? ", largecache's policies" : "", what, "size", "part");
    text += columns_text(contenders, policies, short_name) + "\n";
    for (const Cell& cell : cells) {
      text += fmt::format("{:<16}{:>5g}%", sizes_text(cell), cell.words.fraction * 100);
      text += columns_text(contenders, policies, [&](const std::string& name) { return figure(cell, name); }) + "\n";
    }
    text += "\n";
  };
  for (const bool policies : {false, true}) add_table("minor faults", policies, faults_text);
  for (const bool policies : {false, true}) add_table("MiB zeroed", policies, zeroed_text);
  return text;
}

Json cell_json(const Cell& cell, const std::vector<Contender>& contenders) {
  constexpr const char* kFailed = "a process of this contender failed or took longer than two minutes";
  Json json{{"sizes", cell.words.sizes},
            {"touch", cell.words.fraction},
            {"pattern", cell.words.pattern},
            {"threads", cell.words.threads},
            {"limit_ns", figure_or_na(cell.ns("limit"), "not measured for several threads or sizes")}};
  Json& all = json["contenders"] = Json::object();
  for (const Contender& contender : contenders) {
    Json& one = all[contender.name];
    const double ns = cell.ns(contender.name);
    one["ns"] = figure_or_na(ns, kFailed);
    one["faults"] = ns > 0 ? Json(cell.faults(contender.name)) : Json{{"na", kFailed}};
    const auto zeroed = cell.zeroed.find(contender.name);
    one["zeroed_bytes"] = zeroed == cell.zeroed.end() || zeroed->second < 0
                              ? Json{{"na", "audited for contiguous touching, one thread, up to 100 MiB"}}
                              : Json(zeroed->second);
  }
  Json& again = json["again"] = Json::object();
  for (const auto& [name, rounds] : cell.again) again[name] = figure_or_na(cell.again_ns(name), kFailed);
  const Verdict verdict = judge(cell, contenders);
  json["verdict"] = {{"best_allocator", verdict.best_allocator},
                     {"best_other", verdict.best_other},
                     {"to_best_allocator", verdict.to_best_allocator},
                     {"to_best_other", verdict.to_best_other},
                     {"near_kept", verdict.near_kept},
                     {"ten_times_promised", verdict.ten_times_promised},
                     {"ten_times_kept", verdict.ten_times_kept}};
  return json;
}

namespace {

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const auto* each = largecache::kPolicies; *each != nullptr; ++each) names.emplace_back((*each)->name);
  return names;
}

void add_ratios(Json& cell, const std::vector<std::string>& policies) {
  double best = 0;
  for (const auto& [name, figures] : cell.at("contenders").items()) {
    if (is_not_available(figures.at("ns")) || std::ranges::find(policies, name) != policies.end()) continue;
    const double ns = figures.at("ns");
    if (best == 0 || ns < best) best = ns;
  }
  for (auto& [name, figures] : cell.at("contenders").items()) {
    Json& ratio = figures["to_best_allocator"];
    if (is_not_available(figures.at("ns"))) {
      ratio = figures.at("ns");
    } else {
      ratio = best > 0 ? Json(figures.at("ns").get<double>() / best) : not_available("no other allocator was measured");
    }
  }
}

void add_reason(Json& cell, int cpus) {
  // Largest ratio of times that scatter alone can explain.
  constexpr double kClose = 1.15;
  Json& verdict = cell.at("verdict");
  const bool near_kept = verdict.at("near_kept");
  const bool random = cell.at("pattern") == "random";
  const auto sizes = cell.at("sizes").get<std::vector<std::uint64_t>>();
  const auto why = [&]() -> const char* {
    if (near_kept && (verdict.at("ten_times_kept") || !verdict.at("ten_times_promised"))) return "";
    if (cell.at("touch") == 0) return "nothing is touched: one system call for the other, two here";
    if (near_kept) {
      return random ? "other pages each time: which, only a fault per page can tell"
                    : "so few pages that their faults cost the other little more than two system calls";
    }
    if (*std::ranges::min_element(sizes) <= kMiB) return "so little to zero that the witness's system call shows";
    if (cell.at("threads") > cpus) return "more threads than processors: who runs when makes more of a difference";
    if (random) return "how much is touched is learnt over more calls than the stretch has";
    return verdict.at("to_best_other") <= kClose ? "close: a figure scatters as much from one run to the next" : "open";
  };
  verdict["why"] = why();
}

}  // namespace

void add_verdicts(Json& document) {
  document["policies"] = policy_names();
  const int cpus = document.at("environment").at("cpus");
  for (Json& group : document.at("groups")) {
    for (Json& cell : group.at("cells")) {
      add_ratios(cell, policy_names());
      add_reason(cell, cpus);
    }
  }
}
