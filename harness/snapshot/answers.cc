#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/units.h"
#include "base/wrap.h"
#include "os/page.h"
#include "snapshot/document.h"
#include "snapshot/kernel_sections.h"

namespace zerotax::snapshot {
namespace {

std::uint64_t number(const Json& counts, const char* key) { return counts.at(key).get<std::uint64_t>(); }

std::uint64_t all(const Json& counts) {
  std::uint64_t sum = 0;
  for (const auto& [key, value] : counts.items()) sum += value.get<std::uint64_t>();
  return sum;
}

std::string faults_of(const Json& counts) {
  return fmt::format("{} ({}, {}, {} other)", format_counted(all(counts), "fault"),
                     format_counted(number(counts, "copies"), "copy", "copies"),
                     format_counted(number(counts, "reuses"), "reuse"),
                     format_count(all(counts) - number(counts, "copies") - number(counts, "reuses")));
}

/// The kernel time of a part, and what it was spent on; empty if it was not sampled.
std::string kernel_time(const Json& part) {
  if (is_not_available(part.at("kernel_ns"))) return "";
  const std::uint64_t kernel = number(part, "kernel_ns");
  std::vector<std::pair<std::uint64_t, const char*>> sections;
  for (const KernelSection& section : kernel_sections()) {
    sections.emplace_back(number(part.at("sections_ns"), section.name), section.summary);
  }
  std::stable_sort(sections.begin(), sections.end(),
                   [](const auto& one, const auto& other) { return one.first > other.first; });
  std::string text = fmt::format("{} in the kernel, {} of it copying pages", format_ns(static_cast<double>(kernel)),
                                 format_ns(static_cast<double>(number(part.at("sections_ns"), "copy"))));
  for (std::size_t i = 0, told = 0; i < sections.size() && told < 3 && kernel > 0; ++i) {
    if (std::string_view(sections[i].second) == "copying pages" || 200 * sections[i].first < kernel) continue;
    text += fmt::format(", {} {}",
                        format_whole_percent(static_cast<double>(sections[i].first) / static_cast<double>(kernel)),
                        sections[i].second);
    ++told;
  }
  return text;
}

std::string sentence(const std::string& text) { return wrap("- " + text, "", "  "); }

/// Of one alternative with a child: what the parent's faults were while it lived, and after.
std::string is_it_copying(const Json& result) {
  const auto name = result.at("alternative").get<std::string>();
  std::string text;
  const Json& faults = result.at("faults");
  if (!is_not_available(faults)) {
    text += fmt::format("{}: until the child ended, the parent took {} on the array; afterwards, {}. ", name,
                        faults_of(faults.at("before_end")), faults_of(faults.at("after_end")));
  }
  const Json& cpu = result.at("cpu");
  if (!is_not_available(cpu)) {
    const std::string time = kernel_time(cpu.at("before_end"));
    if (!time.empty()) text += fmt::format("Until then it spent {}. ", time);
  }
  return text.empty() ? "" : sentence(text);
}

/// The same with writers that resume only after the child has ended: the clean answer.
std::string is_it_copying_held(const Json& result) {
  const Json& held = result.at("faults_held");
  if (is_not_available(held)) return "";
  const auto name = result.at("alternative").get<std::string>();
  const Json& after = held.at("after_end");
  std::string text =
      fmt::format("{}, with the writers held until the child has ended: {}: {}. ", name, faults_of(after),
                  number(after, "copies") == 0 ? "it is not copying: each fault only makes a page writable again"
                                               : "the copies are of pages that something else still held");
  if (!is_not_available(held.at("exclusive_pages"))) {
    text += fmt::format("By the pagemap, {} of the array's {} pages then belonged to the parent alone. ",
                        format_count(number(held, "exclusive_pages")), format_count(number(held, "pages")));
  }
  const Json& cpu = result.at("cpu_held");
  const std::string time = is_not_available(cpu) ? "" : kernel_time(cpu.at("after_end"));
  if (!time.empty()) text += fmt::format("That costs {}.", time);
  return sentence(text);
}

/// Of an alternative that is not the first with a child: the counts alone.
std::string in_brief(const Json& result) {
  const Json& faults = result.at("faults");
  if (is_not_available(faults)) return "";
  const auto counts = [](const Json& part) {
    return fmt::format("{} and {}", format_counted(number(part, "copies"), "copy", "copies"),
                       format_counted(number(part, "reuses"), "reuse"));
  };
  std::string text =
      fmt::format("{}: {} until the child ended, {} afterwards", result.at("alternative").get<std::string>(),
                  counts(faults.at("before_end")), counts(faults.at("after_end")));
  const Json& held = result.at("faults_held");
  if (!is_not_available(held))
    text += fmt::format("; {} with the writers held until then", counts(held.at("after_end")));
  return sentence(text + ".");
}

std::string described(const Json& result) {
  const Json& slowdown = result.at("slowdown");
  std::string text = fmt::format("{} (", result.at("alternative").get<std::string>());
  if (!is_not_available(slowdown)) text += fmt::format("{:.2f} times the time without, ", slowdown.get<double>());
  text += fmt::format("stopped for {}", format_ns(result.at("stopped_ns").at("median")));
  if (!is_not_available(result.at("memory"))) text += ", +" + format_size(added_bytes(result));
  return text + ")";
}

/// The result with the least of something.
const Json& least(const std::vector<Json>& results, const std::function<double(const Json&)>& of) {
  return *std::min_element(results.begin(), results.end(),
                           [&](const Json& one, const Json& other) { return of(one) < of(other); });
}

double median_of(const Json& result, const char* figure) { return result.at(figure).at("median").get<double>(); }

std::string how_to_avoid(const std::vector<Json>& snapshots) {
  std::vector<std::pair<const char*, const Json*>> best{
      {"least time for the writers",
       &least(snapshots, [](const Json& result) { return median_of(result, "writers_wall_ns"); })},
      {"shortest stop", &least(snapshots, [](const Json& result) { return median_of(result, "stopped_ns"); })}};
  if (std::none_of(snapshots.begin(), snapshots.end(),
                   [](const Json& result) { return is_not_available(result.at("memory")); })) {
    best.emplace_back("least memory",
                      &least(snapshots, [](const Json& result) { return static_cast<double>(added_bytes(result)); }));
  }
  std::string text;
  // An alternative that is best in several ways is listed once.
  for (std::size_t i = 0; i < best.size(); ++i) {
    std::string praises = best[i].first;
    for (std::size_t j = i + 1; j < best.size();) {
      if (best[j].second != best[i].second) {
        ++j;
        continue;
      }
      praises += fmt::format(", {}", best[j].first);
      best.erase(best.begin() + static_cast<std::ptrdiff_t>(j));
    }
    text += sentence(fmt::format("{}: {}", praises, described(*best[i].second)));
  }
  // Most useful to those who cannot change the writers.
  std::vector<Json> with_child;
  for (const Json& result : snapshots) {
    if (result.at("has_child").get<bool>()) with_child.push_back(result);
  }
  if (with_child.size() > 1 && with_child.size() < snapshots.size()) {
    const Json& best_child = least(with_child, [](const Json& result) { return median_of(result, "writers_wall_ns"); });
    text += sentence("least time for the writers with a forked child: " + described(best_child));
  }
  std::string copies;
  for (const Json& result : snapshots) {
    const Json& faults = result.at("faults");
    if (is_not_available(faults)) continue;
    const std::uint64_t count = number(faults.at("before_end"), "copies") + number(faults.at("after_end"), "copies");
    copies += fmt::format("{}{} {} ({})", copies.empty() ? "" : ", ", result.at("alternative").get<std::string>(),
                          format_count(count), format_size(count * kPageBytes));
  }
  if (!copies.empty()) text += sentence("Pages that the kernel copied for the parent: " + copies + ".");
  return text;
}

}  // namespace

std::string snapshot_answers(const Json& snapshot) {
  std::vector<std::string> allocators;
  for (const Json& result : snapshot.at("results")) {
    const auto name = result.at("allocator").get<std::string>();
    if (std::find(allocators.begin(), allocators.end(), name) == allocators.end()) allocators.push_back(name);
  }
  std::string text;
  for (const std::string& allocator : allocators) {
    std::string copying;
    std::vector<Json> snapshots;
    for (const Json& result : snapshot.at("results")) {
      if (result.at("allocator") != allocator || result.at("status") != "ok") continue;
      if (result.at("has_child").get<bool>()) {
        copying += copying.empty() ? is_it_copying_held(result) + is_it_copying(result) : in_brief(result);
      }
      if (!is_not_available(result.at("checked_elements"))) snapshots.push_back(result);
    }
    const std::string under = allocators.size() > 1 ? fmt::format(" ({})", allocator) : "";
    if (!copying.empty()) text += fmt::format("\nIs it copying?{}\n{}", under, copying);
    if (!snapshots.empty()) text += fmt::format("\nHow to avoid it?{}\n{}", under, how_to_avoid(snapshots));
  }
  return text;
}

}  // namespace zerotax::snapshot
