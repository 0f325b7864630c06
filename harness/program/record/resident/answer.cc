#include "record/resident/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lines.h"
#include "base/names.h"
#include "base/shell.h"
#include "base/units.h"
#include "record/answer.h"
#include "record/remedies.h"
#include "record/where.h"

namespace zerotax::record {
namespace {

constexpr std::size_t kFramesListed = 3;
constexpr std::size_t kSitesListed = 5;
constexpr std::size_t kProcessesListed = 10;
/// A part of the freed memory that is worth a sentence.
constexpr std::uint64_t kNoticeable = 10;

struct PartRow {
  const char* name;
  std::uint64_t MemoryParts::*bytes;
};
constexpr PartRow kParts[] = {
    {"live blocks", &MemoryParts::live_bytes},
    {"free, in whole pages", &MemoryParts::free_bytes},
    {"free, on pages with live blocks", &MemoryParts::fragmented_bytes},
    {"offered to the kernel (MADV_FREE)", &MemoryParts::offered_bytes},
    {"the allocator's own", &MemoryParts::allocator_bytes},
    {"stacks", &MemoryParts::stack_bytes},
    {"other", &MemoryParts::other_bytes},
    {"resident", &MemoryParts::resident_bytes},
};

const char* moment_title(ResidentAt at) {
  constexpr const char* kWords[] = {"When idle", "At the peak", "At the signal", "At the end"};
  return kWords[static_cast<std::size_t>(at)];
}

/// Returns the moment in words, for one or several processes.
const char* moment_words(ResidentAt at, bool several) {
  constexpr const char* kOne[] = {"after an idle second", "at the peak", "when the signal arrived", "at the end"};
  constexpr const char* kEach[] = {"each after an idle second", "each at its peak", "when the signal arrived",
                                   "each at its end"};
  return (several ? kEach : kOne)[static_cast<std::size_t>(at)];
}

/// Returns the moment that matters most to the reader, among those that any process has.
std::optional<ResidentAt> main_moment(const Resident& resident) {
  for (const ResidentAt at : {ResidentAt::kSignal, ResidentAt::kIdle, ResidentAt::kEnd, ResidentAt::kPeak}) {
    for (const ResidentProcess& process : resident.processes) {
      if (process.find(at) != nullptr) return at;
    }
  }
  return std::nullopt;
}

/// Returns the process with the most resident memory at a moment.
const ResidentProcess* largest_at(const Resident& resident, ResidentAt at) {
  const ResidentProcess* largest = nullptr;
  std::uint64_t most = 0;
  for (const ResidentProcess& process : resident.processes) {
    const ResidentMoment* const moment = process.find(at);
    if (moment == nullptr || (largest != nullptr && moment->parts.resident_bytes <= most)) continue;
    largest = &process;
    most = moment->parts.resident_bytes;
  }
  return largest;
}

std::string allocator_of(const ResidentProcess& process) {
  const std::string name = allocator_name(process.allocator);
  return name.empty() ? "the allocator" : name;
}

Table parts_table(const ResidentProcess& process) {
  std::vector<Column> columns{{"part", Unit::kText, 34}};
  for (const ResidentMoment& each : process.moments)
    columns.push_back({words_of(each.moment)[static_cast<std::size_t>(each.moment)], Unit::kBytes, 10});
  Table table(columns);
  for (const PartRow& part : kParts) {
    std::vector<Cell> row{part.name};
    for (const ResidentMoment& each : process.moments) row.emplace_back(each.parts.*part.bytes);
    table.add(row);
  }
  return table;
}

std::string freed_words(const MemoryParts& parts, const std::string& allocator) {
  if (parts.freed_bytes() * kNoticeable < parts.resident_bytes) {
    return fmt::format("only {} of freed memory is among them", format_size(parts.freed_bytes()));
  }
  std::string words;
  const auto add = [&](std::uint64_t bytes, const std::string& what) {
    if (bytes * kNoticeable < parts.freed_bytes()) return;
    words += (words.empty() ? "" : ", ") + format_size(bytes) + " " + what;
  };
  add(parts.free_bytes, "are free inside " + allocator + " in whole pages, and could be returned");
  add(parts.fragmented_bytes, "are free on pages with live blocks");
  add(parts.offered_bytes, "stay until the kernel needs memory");
  return words;
}

std::string headline_of(const Resident& resident, ResidentAt at) {
  MemoryParts sum;
  std::size_t count = 0;
  for (const ResidentProcess& process : resident.processes) {
    if (const ResidentMoment* const moment = process.find(at)) {
      sum.add(moment->parts);
      ++count;
    }
  }
  const std::string in = count > 1 ? fmt::format("In {}, ", format_counted(count, "process", "processes")) : "";
  return fmt::format("{}{} are resident {}, of which {} are live: {}.", in, format_size(sum.resident_bytes),
                     moment_words(at, count > 1), format_size(sum.live_bytes),
                     freed_words(sum, allocator_of(*largest_at(resident, at))));
}

/// Returns the heap in which a live block keeps the most free memory from being trimmed, or nullptr.
const ResidentHeap* held_heap(const ResidentMoment& moment) {
  const ResidentHeap* most = nullptr;
  for (const ResidentHeap& heap : moment.heaps) {
    // glibc trims these heaps only at their ends.
    if (!heap.heap.starts_with("main") && !heap.heap.starts_with("thread")) continue;
    if (heap.below_last_bytes != 0 && (most == nullptr || heap.below_last_bytes > most->below_last_bytes)) most = &heap;
  }
  return most;
}

std::string where_of(const ResidentMoment& moment) {
  std::string words;
  const std::uint64_t freed = moment.parts.freed_bytes();
  if (freed * kNoticeable < moment.parts.resident_bytes) return words;
  if (!moment.freed.empty() && moment.freed.front().free_bytes * kNoticeable >= freed) {
    words = fmt::format("{} of the free pages were last allocated by {}.", format_size(moment.freed.front().free_bytes),
                        place_words(moment.freed.front().frames));
  }
  const ResidentHeap* const heap = held_heap(moment);
  if (heap != nullptr && heap->below_last_bytes * kNoticeable >= freed) {
    words += fmt::format("{}A live block of {} from {} is the last one of the {}, with {} of free pages below it.",
                         words.empty() ? "" : " ", format_counted(heap->last_block_bytes, "byte"),
                         place_words(heap->last_block_frames), heap->heap, format_size(heap->below_last_bytes));
  } else if (!moment.holders.empty() && moment.holders.front().held_bytes * kNoticeable >= freed) {
    const HoldingSite& holder = moment.holders.front();
    words +=
        fmt::format("{}{} from {} alone, the smallest of {}, hold{} {} with {} of free bytes.",
                    words.empty() ? "" : " ", format_counted(holder.blocks, "live block"), place_words(holder.frames),
                    format_counted(holder.smallest_bytes, "byte"), holder.blocks == 1 ? "s" : "",
                    format_counted(holder.held_pages, "page"), format_size(holder.held_bytes));
  }
  return words;
}

std::vector<Answer::Step> steps_of(const Record& record, const ResidentProcess& process, const MemoryParts& parts) {
  if (parts.freed_bytes() * kNoticeable < parts.resident_bytes) return {};
  std::vector<Answer::Step> steps;
  if (allocator_of(process) == "glibc" && parts.free_bytes != 0) {
    steps.push_back({"",
                     "malloc_trim(0) in the program returns the free whole pages; MALLOC_ARENA_MAX=1 or a fixed "
                     "MALLOC_MMAP_THRESHOLD_ keep fewer."});
  }
  add_alternative(
      steps, {"zerotax advise --goal idle -- " + shell_text(record.command), "let zerotax lower the memory at idle:"});
  return steps;
}

std::string frames_text(const std::vector<NamedFrame>& frames) {
  if (frames.empty()) return "    (unknown)\n";
  std::string text;
  bool any_script = false;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const bool first_script = frames[i].is_script() && !any_script;
    any_script = any_script || first_script;
    if (i < kFramesListed || first_script) text += wrap(one_line(frame_label(frames[i], false)), "    ", "      ");
  }
  return text;
}

std::string moment_text(const ResidentMoment& moment) {
  Table heaps({{"heap", Unit::kText, 24},
               {"resident", Unit::kBytes, 10},
               {"live", Unit::kBytes, 10},
               {"free", Unit::kBytes, 10},
               {"fragmented", Unit::kBytes, 10},
               {"own", Unit::kBytes, 10}});
  for (const ResidentHeap& heap : moment.heaps) {
    heaps.add({heap.heap, heap.parts.resident_bytes, heap.parts.live_bytes, heap.parts.free_bytes,
               heap.parts.fragmented_bytes, heap.parts.allocator_bytes});
  }
  Table freed({{"free pages", Unit::kBytes, 12}, {"last allocated at", Unit::kText, 0, "", {}, 2}});
  for (std::size_t i = 0; i < std::min(moment.freed.size(), kSitesListed); ++i) {
    freed.add({moment.freed[i].free_bytes});
    freed.note(frames_text(moment.freed[i].frames));
  }
  Table holders({{"held free", Unit::kBytes, 12},
                 {"pages", Unit::kCount, 9},
                 {"free below", Unit::kBytes, 11},
                 {"blocks", Unit::kCount, 9},
                 {"smallest", Unit::kBytes, 9},
                 {"live blocks of", Unit::kText, 0, "", {}, 2}});
  for (std::size_t i = 0; i < std::min(moment.holders.size(), kSitesListed); ++i) {
    const HoldingSite& each = moment.holders[i];
    holders.add({each.held_bytes, each.held_pages, each.below_bytes, each.blocks, each.smallest_bytes});
    holders.note(frames_text(each.frames));
  }
  std::string text = fmt::format("\n{}:\n", moment_title(moment.moment));
  for (const Table* table : {&heaps, &freed, &holders}) {
    if (!table->empty()) text += table->text();
  }
  return text;
}

/// Returns the allocator's own counts in one paragraph.
std::string counts_text(const ResidentProcess& process) {
  if (!process.allocator_counts)
    return wrap("The allocator's own counts are n/a: " + process.allocator_counts.why() + ".");
  std::string words;
  for (const AllocatorCount& each : process.allocator_counts->counts) {
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", each.name, format_size(each.bytes));
  }
  return wrap(fmt::format("At the end, by {}: {}.", process.allocator_counts->function, words));
}

}  // namespace

Answer resident_answer(const Record& record) {
  const Resident& resident = *record.resident;
  Answer answer{.headline = "", .more = "Heaps, sites, and the cost of zeroing"};
  const std::optional<ResidentAt> at = main_moment(resident);
  for (const ResidentProcess& process : resident.processes) {
    if (process.why_not.empty()) continue;
    answer.warnings.push_back(fmt::format("{} ({}): {}.", file_name(process.executable), process.pid, process.why_not));
  }
  if (record.run.signal || record.run.exit_status.value_or(0) != 0) {
    answer.warnings.insert(answer.warnings.begin(), end_words(record) + ".");
  }
  if (!at) {
    answer.headline = "The resident memory is unknown: no process was seen at its end, or idle.";
    return answer;
  }
  const ResidentProcess& process = *largest_at(resident, *at);
  const ResidentMoment& moment = *process.find(*at);
  answer.headline = headline_of(resident, *at);
  answer.table = parts_table(process);
  answer.where = where_of(moment);
  answer.steps = steps_of(record, process, moment.parts);
  if (resident.processes.size() > 1) {
    answer.legend = fmt::format("The table shows process {} ({}). ", process.pid, file_name(process.executable));
  }
  answer.legend += "Headers of blocks count as free on their pages.";
  return answer;
}

std::string resident_text(const Record& record) {
  if (!record.resident) return "";
  const Answer answer = resident_answer(record);
  std::string text = wrap(answer.headline);
  std::size_t shown = 0;
  for (const ResidentProcess& process : record.resident->processes) {
    if (process.moments.empty() || ++shown > kProcessesListed) continue;
    text += fmt::format("\n{} ({}):\n", file_name(process.executable), process.pid) + parts_table(process).text();
    text += counts_text(process);
    for (const ResidentMoment& moment : process.moments) text += moment_text(moment);
  }
  if (!answer.where.empty()) text += "\n" + wrap(answer.where);
  for (const std::string& warning : answer.warnings) text += wrap(warning, "! ", "  ");
  return text + "\n";
}

}  // namespace zerotax::record
