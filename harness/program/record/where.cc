#include "record/where.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/lines.h"
#include "base/names.h"
#include "base/size.h"
#include "base/units.h"
#include "record/remedies.h"
#include "record/tax.h"

namespace zerotax::record {
namespace {

bool is_of_an_allocator(const NamedFrame& frame) {
  if (!frame.module) return false;
  const std::string file = file_name(*frame.module);
  return !allocator_name(file).empty() || file.starts_with("libstdc++") || file.starts_with("ld-linux");
}

/// Names a function in short form: "(anonymous namespace)::clear(unsigned long)" in line 3 of a.cc becomes "clear
/// (a.cc:3)".
std::string function_words(NamedFrame frame) {
  std::string name = frame.function.value_or("");
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  if (name.starts_with(kAnonymous)) name.erase(0, kAnonymous.size());
  std::size_t begin = name.size();
  int depth = 0;
  while (name.ends_with(')') && begin > 0) {
    const char letter = name[--begin];
    depth += letter == ')' ? 1 : letter == '(' ? -1 : 0;
    if (depth == 0) break;
  }
  if (begin > 0) name.resize(begin);
  if (frame.function) frame.function = name;
  return short_text(frame_label(frame, false));
}

/// Names a function without a name by its file: "python3.11", or "_multiarray_umath" for
/// _multiarray_umath.cpython-311-….so. Adds the nearest caller in that file that has a name.
std::string file_words(const std::vector<NamedFrame>& frames, std::vector<NamedFrame>::const_iterator frame) {
  const std::string file = file_name(*frame->module);
  const auto named = std::find_if(frame, frames.end(), [](const NamedFrame& each) { return each.function; });
  const bool is_of_file = named != frames.end() && named->module && *named->module == *frame->module;
  return short_text(file.substr(0, file.find(".cpython-"))) +
         (is_of_file ? fmt::format(" (called by {})", short_text(frame_label(*named, true))) : "");
}

/// Names the function that zeroed or returned memory.
std::string place_of(const RecordedSite& site) { return place_words(site.frames); }

/// Names the function that acted at a site, as in "free() in main (a.c:3)". `is_there`: the sentence has just named the
/// place.
std::string actor_of(const RecordedSite& site, bool is_there = false) {
  constexpr const char* kWords[] = {
      "calloc()", "realloc()", "memset() after malloc()", "malloc()", "free()", "The allocator", "", "memset()", ""};
  const std::string call = kWords[static_cast<std::size_t>(site.kind)];
  if (is_there) return call.empty() ? "the same function" : call + " there";
  return (call.empty() ? "" : call + " in ") + place_of(site);
}

/// Returns "~" if the number of calls at the site is an estimate from samples, otherwise "".
const char* estimate_sign(const RecordedSite& site) {
  const LowHigh& interval = site.sampled.returned_interval_bytes;
  return site.sampled.calls || (interval && interval->front() != interval->back()) ? "~" : "";
}

std::string calls_words(const RecordedSite& site) {
  const std::uint64_t calls = site.calls + site.sampled.calls.value_or(0) + site.sampled.return_calls.value_or(0);
  return calls == 0 ? "" : fmt::format(" in {}{}", estimate_sign(site), format_counted(calls, "call"));
}

/// Formats the bytes of a site, as in "12 MiB of the 803 MiB" if its cause has more bytes than the site.
std::string part_words(bool is_estimated, std::uint64_t bytes, const Count& all) {
  const std::string part = (is_estimated ? "~" : "") + format_size(bytes);
  return all && *all > bytes + bytes / 50 ? fmt::format("{} of the {}", part, format_size(*all)) : part;
}

/// Bytes or time of a site that belong to a cause.
using Weight = std::uint64_t (*)(const RecordedSite& site);

std::uint64_t fresh_bytes(const RecordedSite& site) { return less(site.all_kernel_bytes(), site.refilled_bytes); }
std::uint64_t refilled_bytes(const RecordedSite& site) { return site.refilled_bytes; }
std::uint64_t returned_bytes(const RecordedSite& site) {
  return site.returned_bytes + site.sampled.returned_at_most_bytes.value_or(0);
}
std::uint64_t store_ns(const RecordedSite& site) { return site.sampled.zero_cpu_ns.value_or(0); }
template <bool (*IsOf)(SiteKind)>
std::uint64_t stored_bytes(const RecordedSite& site) {
  return IsOf(site.kind) ? site.all_zeroed_bytes() : 0;
}
bool is_allocation(SiteKind kind) {
  return kind == SiteKind::kCalloc || kind == SiteKind::kRealloc || kind == SiteKind::kOther;
}
bool is_free(SiteKind kind) { return kind == SiteKind::kFree || kind == SiteKind::kPurge; }
bool is_by_hand(SiteKind kind) { return kind == SiteKind::kByHand; }
bool is_by_program(SiteKind kind) { return kind == SiteKind::kCleared; }

const RecordedSite* worst(const Record& record, Weight weight) {
  const auto less_weight = [&](const RecordedSite& a, const RecordedSite& b) { return weight(a) < weight(b); };
  const auto found = std::max_element(record.sites.begin(), record.sites.end(), less_weight);
  return found == record.sites.end() || weight(*found) == 0 ? nullptr : &*found;
}

std::string returned_words(const Record& record, const RecordedSite& site) {
  const std::uint64_t at_most = site.sampled.returned_at_most_bytes.value_or(0);
  const std::string who = actor_of(site);
  if (at_most != 0) {
    return fmt::format("{} asked the kernel to take back {}{}{}", who, estimate_sign(site), format_size(at_most),
                       calls_words(site));
  }
  const auto* const mechanism = std::max_element(std::begin(site.returned_by.by), std::end(site.returned_by.by));
  const auto index = static_cast<std::size_t>(mechanism - std::begin(site.returned_by.by));
  return fmt::format("{} returned {} by {}{}", who,
                     part_words(false, site.returned_bytes, record.totals.kernel.returned_bytes),
                     word(static_cast<Mechanism>(index)), calls_words(site));
}

/// Names the site that received the most kernel-zeroed memory. For memory that had been returned, names the site that
/// returned the most first. In that case, the receiving site is omitted if it received less than half of the bytes.
std::string kernel_words(const Record& record, const TaxRow& row, Weight weight) {
  const RecordedSite* const receiver = worst(record, weight);
  const RecordedSite* const giver = row.cause == Cause::kFresh ? nullptr : worst(record, returned_bytes);
  std::string words = giver == nullptr ? "" : returned_words(record, *giver);
  if (receiver == nullptr || (giver != nullptr && weight(*receiver) < row.bytes.value_or(0) / 2)) return words;
  const bool is_there = giver != nullptr && place_of(*receiver) == place_of(*giver);
  return words + fmt::format("{}{} had {} zeroed {}{}", words.empty() ? "" : ", and ", actor_of(*receiver, is_there),
                             part_words(receiver->sampled.kernel_zeroed_bytes != 0, weight(*receiver), row.bytes),
                             row.cause == Cause::kFresh ? "by the kernel" : "again", calls_words(*receiver));
}

std::string store_words(const Record& record, const TaxRow& row, Weight weight) {
  const RecordedSite* const site = worst(record, weight);
  if (site == nullptr) return "";
  const std::string who = actor_of(*site);
  if (row.cause == Cause::kStores) {
    return fmt::format("{} had zeros stored for ~{} of CPU time", who, format_ns(as_double(store_ns(*site))));
  }
  const std::uint64_t redundant = site->redundant_zeroed_bytes + site->sampled.redundant_zeroed_bytes;
  return fmt::format("{} cleared {}{}{}", who, part_words(site->sampled.zeroed_bytes != 0, weight(*site), {}),
                     calls_words(*site),
                     redundant == 0 ? "" : fmt::format("; {} were zero already", format_size(redundant)));
}

/// Names the worst site of a cause.
std::string site_words(const Record& record, const TaxRow& row) {
  switch (row.cause) {
    case Cause::kFresh:
      return kernel_words(record, row, fresh_bytes);
    case Cause::kRefilled:
    case Cause::kReturning:
      return kernel_words(record, row, refilled_bytes);
    case Cause::kUnseen:
      return "";
    case Cause::kRedundant:
    case Cause::kNeeded:
    case Cause::kUnexamined:
      return store_words(record, row, stored_bytes<is_allocation>);
    case Cause::kInFree:
      return store_words(record, row, stored_bytes<is_free>);
    case Cause::kByHand:
      return store_words(record, row, stored_bytes<is_by_hand>);
    case Cause::kByProgram:
      return store_words(record, row, stored_bytes<is_by_program>);
    case Cause::kStores:
      return store_words(record, row, store_ns);
  }
  return "";
}

/// Bytes zeroed for a process and by the process. For a process recorded from outside, its page faults.
std::uint64_t weight_of(const RecordedProcess& process, bool is_outside) {
  if (is_outside) return process.kernel.minor_faults.value_or(0);
  const Metrics& figures = process.figures;
  return process.kernel.zeroed_bytes.value_or(process.kernel.zeroed_at_least_bytes) + figures.zeroed_bytes.value_or(0) +
         figures.by_hand.zeroed_bytes.value_or(0) + figures.by_program.zeroed_bytes.value_or(0);
}

}  // namespace

std::string place_words(const std::vector<NamedFrame>& frames) {
  auto frame = std::find_if_not(frames.begin(), frames.end(), is_of_an_allocator);
  if (frame == frames.end()) frame = frames.begin();
  if (frame == frames.end()) return "an unknown function";
  const bool has_name = frame->function || !frame->module;
  std::string words = has_name ? function_words(*frame) : file_words(frames, frame);
  const auto script = std::find_if(frame, frames.end(), [](const NamedFrame& each) { return each.is_script(); });
  if (script != frame && script != frames.end()) words += ", for " + short_text(frame_label(*script, false));
  return words;
}

std::string short_text(const std::string& text) {
  constexpr std::size_t kLongest = 48;
  return first_characters(one_line(text), kLongest);
}

std::size_t number_of_processes(const Record& record) {
  std::set<std::int32_t> pids;
  for (const RecordedProcess& process : record.processes) pids.insert(process.pid);
  return pids.size() + (record.outside ? record.lost_processes : 0);
}

const RecordedProcess* worst_process(const Record& record) {
  if (number_of_processes(record) < 2) return nullptr;
  const auto weight = [&](const RecordedProcess& process) { return weight_of(process, record.outside.has_value()); };
  const auto most = std::max_element(record.processes.begin(), record.processes.end(),
                                     [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
  return most == record.processes.end() || weight(*most) == 0 ? nullptr : &*most;
}

namespace {

std::string process_words(const Record& record) {
  const RecordedProcess* const most = worst_process(record);
  if (most == nullptr) return "";
  const bool is_outside = record.outside.has_value();
  std::uint64_t all = 0;
  for (const RecordedProcess& process : record.processes) all += weight_of(process, is_outside);
  const auto number = [&](std::uint64_t value) { return is_outside ? format_count(value) : format_size(value); };
  return fmt::format("{} (PID {}) had most {}: {} of {}", short_text(file_name(most->executable)), most->pid,
                     is_outside ? "page faults" : "bytes zeroed", number(weight_of(*most, is_outside)), number(all));
}

}  // namespace

std::string site_sentence(const Record& record, const std::vector<const TaxRow*>& rows) {
  for (const TaxRow* row : rows) {
    if (const std::string words = site_words(record, *row); !words.empty()) return words + ".";
  }
  return "";
}

std::string where_words(const Record& record, const std::vector<const TaxRow*>& rows) {
  std::string text = site_sentence(record, rows);
  if (const std::string process = process_words(record); !process.empty()) {
    text += (text.empty() ? "" : " ") + process + ".";
  }
  return text;
}

}  // namespace zerotax::record
