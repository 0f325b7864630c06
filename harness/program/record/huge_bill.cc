#include "record/huge_bill.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/size.h"
#include "base/units.h"
#include "os/page.h"

namespace zerotax::record {
namespace {

std::uint64_t sum_of_rows(const HugeBill& bill, std::uint64_t HugeRow::*bytes) {
  std::uint64_t sum = 0;
  for (const HugeRow& row : bill.rows) sum += row.*bytes;
  return sum;
}

}  // namespace

std::uint64_t HugeBill::bytes() const { return sum_of_rows(*this, &HugeRow::bytes); }
std::uint64_t HugeBill::examined_bytes() const { return sum_of_rows(*this, &HugeRow::examined_bytes); }
std::uint64_t HugeBill::unwritten_bytes() const { return sum_of_rows(*this, &HugeRow::unwritten_bytes); }

std::optional<HugeBill> huge_bill(const std::vector<const ProcessSlot*>& processes) {
  HugeBill bill;
  for (std::size_t kind = 0; kind < kHugeKinds; ++kind) {
    HugeRow row;
    row.in = static_cast<HugeKind>(kind);
    for (const ProcessSlot* slot : processes) {
      for (const auto* use : {&slot->holdings.huge_returned[kind], &slot->holdings.huge_held[kind]}) {
        row.bytes += use->bytes;
        row.examined_bytes += use->examined_bytes;
        row.unwritten_bytes += use->unwritten_bytes;
      }
    }
    if (row.bytes != 0) bill.rows.push_back(row);
  }
  if (bill.rows.empty()) return std::nullopt;
  const std::uint64_t written = less(bill.examined_bytes(), bill.unwritten_bytes());
  bill.unwritten_at_most_bytes = less(bill.bytes(), written);
  bill.more_faults_at_least = less(written / page_bytes(), bill.bytes() / huge_page_bytes());
  return bill;
}

std::string huge_words(const HugeBill& bill) {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;
  const std::uint64_t unwritten = bill.unwritten_bytes();
  if (unwritten < kLeast || unwritten < bill.examined_bytes() / 2) return "";
  constexpr const char* kIn[] = {"in memory of the allocator", "in stacks", "in mappings or data of the program"};
  std::vector<std::string> parts;
  for (const HugeRow& row : bill.rows) {
    if (row.unwritten_bytes >= kLeast) {
      parts.push_back(fmt::format("{} {}", format_size(row.unwritten_bytes), kIn[static_cast<std::size_t>(row.in)]));
    }
  }
  const std::uint64_t more = less(bill.bytes(), bill.examined_bytes());
  std::string text = fmt::format(
      "Up to {} of {} in huge pages were never written: {}.{} Without huge pages, the kernel would zero up to {} less, "
      "with at least {}.",
      format_size(unwritten), format_size(bill.examined_bytes()), fmt::join(parts, ", "),
      more == 0 ? "" : fmt::format(" {} more in huge pages were not examined.", format_size(more)),
      format_size(bill.unwritten_at_most_bytes), format_counted(bill.more_faults_at_least, "more page fault"));
  if (const std::uint64_t stalls = bill.compaction_stalls.value_or(0); stalls != 0) {
    text += fmt::format(" Threads of this machine waited {} for the kernel to compact memory.",
                        format_counted(stalls, "time"));
    if (bill.memory_waits_ns) {
      text += fmt::format(" For {} of the run, at least one thread waited for memory.",
                          format_ns(as_double(*bill.memory_waits_ns)));
    }
  }
  return text;
}

}  // namespace zerotax::record
