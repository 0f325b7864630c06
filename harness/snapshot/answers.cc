#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "base/wrap.h"
#include "snapshot/avoiding.h"
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

/// Whether the child's unmapping worked; empty where it did, or where there is none.
std::string unmapping(const Json& result) {
  const Json child = result.value("child", not_available("an earlier version"));
  if (is_not_available(child) || !child.at("unmap_error").is_string()) return "";
  return sentence(fmt::format("{}: the child's munmap failed ({}); it unmapped {} of {}, and had the rest to its end.",
                              result.at("alternative").get<std::string>(), child.at("unmap_error").get<std::string>(),
                              format_count(number(child, "unmapped_batches")),
                              format_counted(number(child, "batches"), "batch", "batches")));
}

/// What the private memory that the snapshot is copied to costs, and whom; empty where it is shared.
std::string destination(const Json& result) {
  const Json& faults = result.at("faults");
  if (is_not_available(faults) || !faults.contains("destination")) return "";
  const Json& found = faults.at("destination");
  if (is_not_available(found)) return "";
  const auto counts = [](const Json& part) {
    return fmt::format("{} and {}", format_counted(number(part, "zero_fills"), "zero-fill fault"),
                       format_counted(number(part, "copies"), "copy fault"));
  };
  const Json& child = result.at("child");
  return sentence(fmt::format(
      "{}: the {} pages of the snapshot's destination are private memory: {} in the parent, {} in the child. The "
      "child's CPU time is {} in user mode and {} in the kernel.",
      result.at("alternative").get<std::string>(), format_count(number(found, "pages")), counts(found.at("parent")),
      counts(found.at("child")), format_ns(child.at("user_ns").at("median")),
      format_ns(child.at("system_ns").at("median"))));
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
    std::string remedies;
    for (const Json& result : snapshot.at("results")) {
      if (result.at("allocator") != allocator || result.at("status") != "ok") continue;
      if (result.at("has_child").get<bool>()) {
        const bool published = text_field(result, "baseline", "none") != "none";
        copying += copying.empty() || published ? is_it_copying_held(result) + is_it_copying(result) : in_brief(result);
        copying += unmapping(result) + destination(result);
      }
      if (!is_not_available(result.at("remedy"))) remedies += sentence(result.at("remedy").at("sentence"));
    }
    const std::string under = allocators.size() > 1 ? fmt::format(" ({})", allocator) : "";
    if (!copying.empty()) text += fmt::format("\nIs it copying?{}\n{}", under, copying);
    if (!remedies.empty()) text += fmt::format("\nWhat helps after the child's end?{}\n{}", under, remedies);
    const std::string avoiding = how_to_avoid(snapshot, allocator);
    if (!avoiding.empty()) text += fmt::format("\nHow to avoid it?{}\n{}", under, avoiding);
  }
  return text;
}

}  // namespace zerotax::snapshot
