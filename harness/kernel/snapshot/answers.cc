#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "base/lines.h"
#include "base/units.h"
#include "os/environment.h"
#include "snapshot/table.h"

namespace zerotax::snapshot {
namespace {

// Sentences about a result, one after the other. A sentence with an empty {slot} is left out.

/// For an alternative with a child: the parent's faults while the child lived, and afterwards.
constexpr const char* kWhileItLived[] = {
    "{name}: until the child ended, the parent took {faults_before} on the array; afterwards, {faults_after}. ",
    "Until then it spent {kernel_before}. "};
/// For runs in which the writers resume only after the child has ended, which gives exact counts.
constexpr const char* kHeld[] = {
    "{name}, with the writers held until the child has ended: {held_faults}: {held_verdict}. ",
    "By the pagemap, {held_exclusive} of the array's {held_pages} pages then belonged to the parent alone. ",
    "That costs {held_kernel}."};
/// For an alternative without detailed sentences, this text gives only the counts of faults.
constexpr const char* kInBrief[] = {"{name}: {counts_before} until the child ended, {counts_after} afterwards",
                                    "; {held_counts} with the writers held until then", "{full_stop}"};
/// For a child that unmaps: whether its unmapping worked.
constexpr const char* kUnmapping[] = {
    "{name}: the child's munmap failed ({unmap_error}); it unmapped {unmapped} of {batches}, and had the rest to its "
    "end."};
/// For a private destination: its cost, and the process that bears it.
constexpr const char* kDestination[] = {
    "{name}: the {destination_pages} pages of the snapshot's destination are private memory: {filled} in the parent, "
    "{copied_to} in the child. The child's CPU time is {child_user} in user mode and {child_kernel} in the kernel."};

using Slots = std::map<std::string, std::string>;

std::string bullet(const std::string& text) { return text.empty() ? "" : wrap("- " + text, "", "  "); }

/// Returns a sentence with its slots filled; empty if a slot has no text.
std::string filled(std::string sentence, const Slots& slots) {
  for (std::size_t open = 0; (open = sentence.find('{', open)) != std::string::npos;) {
    const std::size_t close = sentence.find('}', open);
    const auto found = slots.find(sentence.substr(open + 1, close - open - 1));
    if (found == slots.end() || found->second.empty()) return "";
    sentence.replace(open, close + 1 - open, found->second);
    open += found->second.size();
  }
  return sentence;
}

template <std::size_t count>
std::string all_filled(const char* const (&sentences)[count], const Slots& slots) {
  std::string text;
  for (const char* sentence : sentences) text += filled(sentence, slots);
  return text;
}

template <std::size_t count>
std::string said(const char* const (&sentences)[count], const Slots& slots) {
  return bullet(all_filled(sentences, slots));
}

std::string faults_words(const Counts& counts) {
  return fmt::format("{} ({}, {}, {} other)", format_counted(counts.all(), "fault"),
                     format_counted(counts.copies, "copy", "copies"), format_counted(counts.reuses, "reuse"),
                     format_count(counts.all() - counts.copies - counts.reuses));
}

std::string counts_words(const Counts& counts) {
  return fmt::format("{} and {}", format_counted(counts.copies, "copy", "copies"),
                     format_counted(counts.reuses, "reuse"));
}

std::string private_words(const Counts& counts) {
  return fmt::format("{} and {}", format_counted(counts.zero_fills, "zero-fill fault"),
                     format_counted(counts.copies, "copy fault"));
}

/// The kernel time of a part, and its division by kind of work; empty if the kernel was not sampled.
std::string kernel_time(const CpuPart& part) {
  if (!part.kernel_ns) return "";
  const auto kernel = static_cast<double>(*part.kernel_ns);
  const Sections& time = *part.sections_ns;
  std::vector<std::size_t> works(kKernelWorks);
  std::iota(works.begin(), works.end(), std::size_t{0});
  std::stable_sort(works.begin(), works.end(),
                   [&](std::size_t one, std::size_t other) { return time[one] > time[other]; });
  std::string text = fmt::format("{} in the kernel, {} of it copying pages", format_ns(kernel),
                                 format_ns(static_cast<double>(time[kCopyWork])));
  std::size_t told = 0;
  for (const std::size_t work : works) {
    if (told == 3 || kernel <= 0) break;
    if (work == kCopyWork || 200 * time[work] < *part.kernel_ns) continue;
    text += fmt::format(", {} {}", format_whole_percent(static_cast<double>(time[work]) / kernel),
                        kernel_works()[work].summary);
    ++told;
  }
  return text;
}

/// The texts for the slots of a result's sentences.
Slots slots_of(const Result& result) {
  Slots slots{{"name", result.alternative}};
  if (const auto& faults = result.faults) {
    slots.insert({{"faults_before", faults_words(faults->before_end)},
                  {"faults_after", faults_words(faults->after_end)},
                  {"counts_before", counts_words(faults->before_end)},
                  {"counts_after", counts_words(faults->after_end)},
                  {"full_stop", "."}});
    if (result.faults_held) slots.emplace("held_counts", counts_words(result.faults_held->after_end));
    if (const auto& destination = faults->destination; destination && result.child) {
      slots.insert({{"destination_pages", format_count(destination->pages)},
                    {"filled", private_words(destination->parent)},
                    {"copied_to", private_words(destination->child)},
                    {"child_user", format_ns(result.child->user_ns.median)},
                    {"child_kernel", format_ns(result.child->system_ns.median)}});
    }
  }
  if (result.cpu) slots.emplace("kernel_before", kernel_time(result.cpu->before_end));
  if (const auto& held = result.faults_held) {
    const Counts& after = held->after_end;
    slots.insert({{"held_faults", faults_words(after)},
                  {"held_verdict", after.copies == 0 ? "it is not copying: each fault only makes a page writable again"
                                                     : "the copied pages were still held by something else"},
                  {"held_pages", format_count(held->pages)}});
    if (held->exclusive_pages) {
      slots.emplace("held_exclusive", format_count(static_cast<std::uint64_t>(*held->exclusive_pages)));
    }
    if (result.cpu_held) slots.emplace("held_kernel", kernel_time(result.cpu_held->after_end));
  }
  if (result.child && result.child->unmap_error) {
    slots.insert({{"unmap_error", *result.child->unmap_error},
                  {"unmapped", format_count(result.child->unmapped_batches.value_or(0))},
                  {"batches", format_counted(result.child->batches, "batch", "batches")}});
  }
  return slots;
}

std::string described(const Result& result) {
  std::string text = result.alternative + " (";
  if (result.slowdown) text += fmt::format("{:.2f} times the time without, ", *result.slowdown);
  text += fmt::format("stopped for {}", format_ns(result.stopped_ns->median));
  if (result.memory) text += ", +" + format_size(result.memory->added_bytes());
  return text + ")";
}

struct Way {
  Measured<std::string> Advice::*best;
  const char* praise;
};
constexpr Way kWays[] = {{&Advice::least_time, "least time for the writers"},
                         {&Advice::shortest_stop, "shortest stop"},
                         {&Advice::least_memory, "least memory"},
                         {&Advice::least_time_with_child, "least time for the writers with a forked child"},
                         {&Advice::no_faults_after_end, "no faults after the child's end"}};

std::string copied_pages(const Snapshot& snapshot, const std::string& allocator) {
  const std::uint64_t page = page_bytes_of(snapshot.environment);
  std::vector<std::string> copies;
  for (const Result& result : snapshot.results) {
    if (result.allocator != allocator || !result.took_snapshot() || !result.faults) continue;
    const std::uint64_t count = result.faults->before_end.copies + result.faults->after_end.copies;
    copies.push_back(fmt::format("{} {} ({})", result.alternative, format_count(count), format_size(count * page)));
  }
  if (copies.empty()) return "";
  return bullet(fmt::format("Pages that the kernel copied for the parent: {}.", fmt::join(copies, ", ")));
}

/// The recommendation of the advice under an allocator; empty if there is none.
std::string how_to_avoid(const Snapshot& snapshot, const std::string& allocator) {
  for (const Advice& advice : snapshot.advice) {
    if (advice.allocator != allocator) continue;
    std::string text;
    for (const std::string& way : recommended(snapshot, advice)) text += bullet(way);
    for (const NextCommand& next : advice.next) {
      text += bullet(fmt::format("To measure {}:", next.measures)) + fmt::format("      {}\n", next.command);
    }
    return text + copied_pages(snapshot, allocator);
  }
  return "";
}

}  // namespace

std::vector<std::string> recommended(const Snapshot& snapshot, const Advice& advice) {
  std::vector<std::pair<std::string, std::string>> praised;  // each recommended alternative, with the reasons for it
  for (const Way& way : kWays) {
    const Measured<std::string>& best = advice.*way.best;
    if (!best) continue;
    const auto found =
        std::find_if(praised.begin(), praised.end(), [&](const auto& each) { return each.first == *best; });
    if (found == praised.end()) {
      praised.emplace_back(*best, way.praise);
    } else {
      found->second += fmt::format(", {}", way.praise);
    }
  }
  std::vector<std::string> ways;
  ways.reserve(praised.size());
  for (const auto& [name, praises] : praised) {
    ways.push_back(fmt::format("{}: {}", praises, described(*snapshot.find(advice.allocator, name))));
  }
  if (!ways.empty()) return ways;
  return {advice.instead_of ? fmt::format("Nothing that was measured is clearly better than {}.", *advice.instead_of)
                            : "No alternative with a child was measured, so nothing can be compared."};
}

std::string counts_in_brief(const Result& result) { return all_filled(kInBrief, slots_of(result)); }

std::string snapshot_answers(const Snapshot& snapshot) {
  const std::vector<std::string> allocators = snapshot.allocators();
  std::string text;
  for (const std::string& allocator : allocators) {
    std::string copying;
    std::string remedies;
    for (const Result& result : snapshot.results) {
      if (result.allocator != allocator || !result.ok()) continue;
      if (result.has_child.value_or(false)) {
        const Slots slots = slots_of(result);
        copying += copying.empty() || result.published() ? said(kHeld, slots) + said(kWhileItLived, slots)
                                                         : said(kInBrief, slots);
        copying += said(kUnmapping, slots) + said(kDestination, slots);
      }
      if (result.remedy) remedies += bullet(result.remedy->sentence);
    }
    const std::string under = allocators.size() > 1 ? fmt::format(" ({})", allocator) : "";
    for (const auto& [question, answer] :
         {std::pair("Is it copying?", copying), std::pair("What helps after the child's end?", remedies),
          std::pair("How to avoid it?", how_to_avoid(snapshot, allocator))}) {
      if (!answer.empty()) text += fmt::format("\n{}{}\n{}", question, under, answer);
    }
  }
  return text;
}

}  // namespace zerotax::snapshot
