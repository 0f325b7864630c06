#include "record/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string_view>

#include "base/names.h"
#include "os/huge_pages.h"
#include "os/memory.h"
#include "os/page.h"
#include "record/remedies.h"

namespace zerotax::record {
namespace {

Costly costly_of(Cause cause) {
  switch (cause) {
    case Cause::kFresh:
    case Cause::kUnseen:
      return Costly::kFresh;
    case Cause::kRefilled:
    case Cause::kReturning:
      return Costly::kRefilled;
    case Cause::kRedundant:
    case Cause::kNeeded:
    case Cause::kUnexamined:
      return Costly::kCleared;
    case Cause::kInFree:
      return Costly::kInFree;
    case Cause::kByHand:
      return Costly::kByHand;
    case Cause::kByProgram:
      return Costly::kByProgram;
    case Cause::kStores:
      return Costly::kStores;
  }
  return Costly::kStores;
}

Evidence::Count count_of(const Count& count) { return count ? Evidence::Count(*count) : std::nullopt; }

Evidence::Count added(std::initializer_list<Evidence::Count> parts) {
  std::uint64_t sum = 0;
  for (const Evidence::Count& part : parts) {
    if (!part) return std::nullopt;
    sum += *part;
  }
  return sum;
}

/// The part of a process that returned memory to the kernel by calls outside the allocator's functions.
enum class Giver { kProgram, kTrim, kThread, kInside };

bool is_any(const std::string& name, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view each) { return name == each; });
}

bool starts_with_any(const std::string& name, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](auto each) { return name.starts_with(each); });
}

bool is_in_c_library(const NamedFrame& frame) {
  return frame.module && starts_with_any(file_name(*frame.module), {"libc.so", "libc-", "libpthread", "ld-linux"});
}

/// The files that contain an allocator, and the name of that allocator.
using Insides = std::vector<InsideAllocator>;

Giver giver_of(const RecordedSite& site, const Insides& insides) {
  for (const NamedFrame& frame : site.frames) {
    const std::string function = frame.function.value_or("");
    if (is_any(function, {"malloc_trim", "__malloc_trim", "mi_collect", "mi_heap_collect", "mallctl", "je_mallctl",
                          "MallocExtension_ReleaseFreeMemory", "MallocExtension_ReleaseToSystem"})) {
      return Giver::kTrim;
    }
  }
  // If all functions of a stack are in the C library, the thread no longer runs the program: the C library is returning
  // the thread's stack.
  const bool in_library = !site.frames.empty() && std::all_of(site.frames.begin(), site.frames.end(), is_in_c_library);
  if (in_library) return Giver::kThread;
  for (const NamedFrame& frame : site.frames) {
    if (is_any(frame.function.value_or(""), {"pthread_join", "pthread_create", "__pthread_create", "pthread_exit",
                                             "start_thread", "__nptl_free_stacks", "advise_stack_range"}) &&
        is_in_c_library(frame)) {
      return &frame == &site.frames.front() || is_in_c_library(site.frames.front()) ? Giver::kThread : Giver::kProgram;
    }
    if (is_in_c_library(frame)) continue;
    const auto brings = [&](const InsideAllocator& each) { return frame.module && each.file == *frame.module; };
    if (std::none_of(insides.begin(), insides.end(), brings)) return Giver::kProgram;
    // A function without a name, in a stripped file, is probably the allocator's.
    const bool is_its = !frame.function || frame.function->find("mi_") != std::string::npos ||
                        starts_with_any(*frame.function, {"je_", "_rjem", "arena_", "extent_", "pages_", "pac_",
                                                          "ehooks_", "edata_", "tcmalloc", "TCMalloc"});
    return is_its ? Giver::kInside : Giver::kProgram;
  }
  return Giver::kProgram;
}

std::uint64_t bytes_returned_at(const RecordedSite& site) {
  return site.returned_bytes + site.sampled.returned_at_most_bytes.value_or(0);
}

/// Divides the bytes that were returned outside the allocator's functions among the program, its threads and its inner
/// allocators. The bytes at the sites give the proportions if they are at least half of all these bytes. Bytes that the
/// allocator returned at the program's request count as trims.
void divide_returns(const Record& record, const Insides& insides, std::uint64_t by_program, Evidence& evidence) {
  std::uint64_t by[4] = {};
  std::uint64_t seen = 0;
  std::uint64_t asked_for = record.totals.trimmed_bytes;
  for (const RecordedSite& site : record.sites) {
    const Giver giver = giver_of(site, insides);
    if (site.kind == SiteKind::kPurge && giver == Giver::kTrim) asked_for += bytes_returned_at(site);
    if (site.kind != SiteKind::kProgram) continue;
    by[static_cast<std::size_t>(giver)] += bytes_returned_at(site);
    seen += bytes_returned_at(site);
  }
  asked_for = std::min(asked_for, *evidence.returned_by_allocator);
  *evidence.returned_by_allocator -= asked_for;
  evidence.returned_by_trim = asked_for;
  if (by_program != 0 && seen < by_program / 2 + by_program % 2) {
    if (by_program > *evidence.returned_by_allocator) evidence.returned_by_allocator = std::nullopt;
    return;
  }
  const auto part = [&](Giver giver) -> std::uint64_t {
    if (seen == 0) return 0;
    const double share = static_cast<double>(by[static_cast<std::size_t>(giver)]) / static_cast<double>(seen);
    return static_cast<std::uint64_t>(share * static_cast<double>(by_program));
  };
  *evidence.returned_by_trim += part(Giver::kTrim);
  evidence.returned_of_threads = part(Giver::kThread);
  evidence.returned_by_program = part(Giver::kProgram);
  *evidence.returned_by_allocator += part(Giver::kInside);
}

void put_returns(const Record& record, const Insides& insides, Evidence& evidence) {
  std::uint64_t by_allocator = 0;
  std::uint64_t by_program = 0;
  for (const ReturnedBy& row : record.totals.returned.rows) {
    (row.by == kByProgram ? by_program : by_allocator) += row.bytes;
  }
  for (const RecordedSite& site : record.sites) {
    if (!record.outside || site.kind == SiteKind::kFault) continue;
    (site.kind == SiteKind::kProgram ? by_program : by_allocator) += bytes_returned_at(site);
  }
  if (by_allocator + by_program == 0) return;
  evidence.returned_by_allocator = by_allocator;
  divide_returns(record, insides, by_program, evidence);
}

/// Returns the allocator inside a program that returned the most memory. The result has no name if no such allocator
/// returned memory.
PresentAllocator returning_inside(const Record& record, const Insides& insides) {
  const RecordedSite* most = nullptr;
  for (const RecordedSite& site : record.sites) {
    if (site.kind != SiteKind::kProgram || giver_of(site, insides) != Giver::kInside) continue;
    if (most == nullptr || bytes_returned_at(site) > bytes_returned_at(*most)) most = &site;
  }
  if (most == nullptr) return {};
  const auto brings = [&](const InsideAllocator& each) {
    return std::any_of(most->frames.begin(), most->frames.end(),
                       [&](const NamedFrame& frame) { return frame.module && *frame.module == each.file; });
  };
  const auto found = std::find_if(insides.begin(), insides.end(), brings);
  return {found->allocator, found->file, "", found->variables};
}

/// Returns the files of programs, and of libraries that are not allocators.
std::vector<std::string> files_of(const Record& record) {
  std::set<std::string> files;
  for (const RecordedProcess& process : record.processes) files.insert(process.executable);
  for (const RecordedSite& site : record.sites) {
    for (const NamedFrame& frame : site.frames) {
      if (frame.module && allocator_name(*frame.module).empty()) files.insert(*frame.module);
    }
  }
  return {files.begin(), files.end()};
}

/// Whether most returned bytes belong to blocks at or above the raised mmap threshold, so that glibc maps each block
/// separately.
bool is_too_small(const Record& record, const Variables& env) {
  const auto threshold = env.find("MALLOC_MMAP_THRESHOLD_");
  if (threshold == env.end()) return false;
  std::uint64_t returned = 0;
  std::uint64_t larger = 0;
  for (const SizeRow& row : record.histogram) {
    returned += row.returned_bytes.value_or(0);
    if (row.from_bytes >= std::stoull(threshold->second)) larger += row.returned_bytes.value_or(0);
  }
  return larger > returned / 2;
}

/// Whether most kernel-zeroed bytes are in blocks that realloc made larger.
bool blocks_grow(const Record& record) {
  std::uint64_t in_realloc = 0;
  std::uint64_t all = 0;
  for (const RecordedSite& site : record.sites) {
    all += site.all_kernel_bytes();
    if (site.kind == SiteKind::kRealloc) in_realloc += site.all_kernel_bytes();
  }
  return 2 * in_realloc > all;
}

/// Whether the system call returned most of the memory that was returned.
bool is_returned_by(const Record& record, const std::optional<std::string>& mechanism) {
  std::uint64_t all = 0;
  std::uint64_t by = 0;
  for (const ReturnedBy& row : record.totals.returned.rows) {
    all += row.bytes;
    if (mechanism == word(row.mechanism)) by += row.bytes;
  }
  return by > all / 2;
}

/// Stores in `evidence` the allocator whose memory was returned to the kernel, and its first setting that can affect
/// this cause.
void put_setting(Record& record, Cause cause, const std::string& library, const Variables& now, Evidence& evidence) {
  const std::vector<std::string> files = files_of(record);
  PresentAllocator allocator = returning_inside(record, allocators_inside(files));
  const bool is_inside = !allocator.name.empty();
  if (!is_inside) allocator = present_allocator(library);
  if (allocator.name.empty()) return;
  evidence.allocator = allocator.name + (is_inside ? " in " + file_name(allocator.file) : "");
  if (evidence.held_peak) {
    evidence.memory_limit = std::min(trial_memory(*evidence.held_peak), read_memory_state().usable());
  }
  for (const std::string& setter : is_inside ? std::vector<std::string>{} : option_setters(allocator.name)) {
    const bool sets = std::any_of(files.begin(), files.end(),
                                  [&](const std::string& file) { return has_text(file, setter).value_or(false); });
    if (sets) evidence.sets_options = setter;
  }
  evidence.names_trim = std::any_of(files.begin(), files.end(), [&](const std::string& file) {
    return evidence.allocator == "glibc" && has_text(file, "malloc_trim").value_or(false);
  });
  for (const KnownRemedy& remedy : known_remedies(allocator.name)) {
    if (remedy.always || remedy.threads || remedy.huge_pages || remedy.huge_pages_off) continue;
    if (!is_for(remedy, cause) || is_returned_by(record, remedy.not_for)) continue;
    if (remedy.growing && !blocks_grow(record)) continue;
    if (!why_no_effect(remedy, allocator, now).empty()) continue;
    const Variables env = settings_of(remedy, allocator);
    record.tax.env = with_settings(now, env);
    record.tax.env_costs = remedy.costs;
    for (const auto& [key, value] : record.tax.env) {
      evidence.setting += fmt::format("{}{}={}", evidence.setting.empty() ? "" : " ", key, value);
    }
    evidence.setting_instead = replaced_by(now, env);
    evidence.setting_too_small = is_too_small(record, env);
    evidence.setting_unbounded = remedy.unbounded.value_or(false);
    return;
  }
}

/// Whether page faults after forks may cost more CPU time than the costliest cause of zeroing. Some of these faults
/// copied pages.
bool copies_cost_more(const Record& record, Cause cause) {
  const OtherFaults& other = record.tax.other_faults;
  const auto forked = [](const RecordedProcess& process) {
    return process.began == Began::kFork || process.quiet_children;
  };
  if (!other.noticed || std::none_of(record.processes.begin(), record.processes.end(), forked)) return false;
  return std::none_of(record.tax.rows.begin(), record.tax.rows.end(), [&](const TaxRow& row) {
    return row.cause == cause && row.at_least_cpu_ns >= other.estimated_cpu_ns;
  });
}

}  // namespace

Evidence evidence_of(const Record& record, Costly costly) {
  const Totals& totals = record.totals;
  Evidence evidence;
  evidence.costly = costly;
  evidence.fresh = count_of(totals.kernel.fresh_bytes);
  evidence.refilled = count_of(totals.kernel.refilled_bytes);
  evidence.huge = count_of(totals.kernel.huge_bytes);
  if (record.huge_pages) {
    evidence.huge_examined = record.huge_pages->examined_bytes();
    evidence.huge_written = less(record.huge_pages->examined_bytes(), record.huge_pages->unwritten_bytes());
  }
  evidence.aligned = totals.aligned_bytes;
  evidence.requested =
      added({count_of(totals.requested_bytes), count_of(totals.malloc_bytes), count_of(totals.realloc_bytes)});
  evidence.held_peak = count_of(totals.kernel.peak_bytes);
  evidence.live_at_least = evidence.live_at_most = evidence.held_elsewhere = 0;
  for (const RecordedProcess& process : record.processes) {
    const Evidence::Count exact = count_of(process.peak_live_bytes);
    const std::uint64_t at_least = exact.value_or(process.peak_live_at_least_bytes);
    *evidence.live_at_least += at_least;
    evidence.live_in_one = std::max(evidence.live_in_one.value_or(0), at_least);
    evidence.held_elsewhere = added({evidence.held_elsewhere, count_of(process.held_elsewhere_bytes)});
    evidence.live_at_most = added({evidence.live_at_most, exact ? exact : count_of(process.peak_live_at_most_bytes)});
  }
  const Zeroing& by_hand = totals.by_hand;
  if (by_hand.zeroed_bytes && by_hand.zero_faults) {
    // Assumes that each fault in a store populated a huge page if most fresh memory is in huge pages; otherwise, a
    // small page.
    const bool is_huge = evidence.huge.value_or(0) > evidence.fresh.value_or(0) / 2;
    evidence.by_hand = by_hand.timed_zeroed_bytes;
    evidence.by_hand_fresh =
        std::min(*evidence.by_hand, *by_hand.zero_faults * (is_huge ? huge_page_bytes() : page_bytes()));
    evidence.by_hand_aligned = totals.by_hand_aligned_bytes;
  }
  evidence.cleared_in_calloc = count_of(totals.zeroed_in_calloc_bytes);
  if (totals.zeroed_bytes && totals.zeroed_in_calloc_bytes) {
    evidence.cleared_elsewhere = *totals.zeroed_bytes - *totals.zeroed_in_calloc_bytes;
  }
  evidence.examined = totals.examined_zeroed_bytes;
  evidence.redundant = count_of(totals.redundant_zeroed_bytes);
  put_returns(record, allocators_inside(files_of(record)), evidence);
  return evidence;
}

void put_advice(Record& record, const std::string& library, const Variables& now) {
  if (!record.tax.advice_about) return;
  const Cause cause = *record.tax.advice_about;
  if (!record.outside && copies_cost_more(record, cause)) {
    record.tax.advice =
        other_faults_words("No cause of zeroing takes as much CPU time as other page faults may", record.tax);
    record.tax.find_out = FindOut::kFaults;
    return;
  }
  Evidence evidence = evidence_of(record, costly_of(cause));
  if (evidence.costly == Costly::kRefilled) put_setting(record, cause, library, now, evidence);
  // If some calls were not seen, calloc may have stored zeros that are counted as the program's own.
  const bool divided = evidence.costly != Costly::kByProgram || record.totals.calloc_calls.has_value();
  const AdviceRow* row = divided ? advice_row(evidence) : nullptr;
  record.tax.advice = advice_words(row, evidence);
  if (row == nullptr || std::string_view(row->name) != "setting") record.tax.env.clear();
  if (row != nullptr) record.tax.remedy = row->words(evidence);
  record.tax.advice_is_for_program = row != nullptr && row->of_program;
}

}  // namespace zerotax::record
