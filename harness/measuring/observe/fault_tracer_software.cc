// The tracer's work where tracepoints are unavailable.

#include <cstdlib>
#include <optional>
#include <unordered_set>

#include "observe/fault_tracer.h"
#include "os/clock.h"
#include "os/page.h"
#include "os/text_of.h"

namespace zerotax {
namespace {

/// Larger mappings are reserved, not used; only what faults show about them is known.
constexpr std::uint64_t kLargestLook = std::uint64_t{64} << 30;

}  // namespace

FaultClass FaultTracer::guess(const Fault& fault, const Region* region) {
  if (region == nullptr || region->hugetlb || region->name == "[vvar]") return FaultClass::kOther;
  const std::uint64_t page = fault.address / page_bytes();
  // The kernel handles no fault in an inaccessible mapping: mremap moved another mapping onto this one, unreported.
  if (!region->readable && !region->writable && !region->executable) return FaultClass::kOther;
  if (!region->of_file()) {
    // A page that came here with its mapping may be a shared one.
    const bool moved = region->unreported && processes_.at(fault.pid).shares;
    if (moved && sharing_.found(fault.pid, page, fault.begin_ns, false, 0)) return FaultClass::kOther;
    const FaultClass kind = sharing_.anonymous_fault(fault.pid, page, fault.begin_ns);
    if (kind == FaultClass::kZeroFill) look_for_huge_page(fault.pid, page, fault.begin_ns, *region);
    return kind;
  }
  const auto now = pagemaps_.entry(fault.pid, page);
  const auto is_copy = now && now->populated() ? std::optional(!now->of_file()) : std::nullopt;
  if (region->shared || !region->writable) return is_copy.value_or(false) ? FaultClass::kOther : FaultClass::kFile;
  return sharing_.file_fault(fault.pid, page, fault.begin_ns, is_copy);
}

/// Counts the fault as every class that it may have been, because only its address is known.
void FaultTracer::bound(const Process& process, const Region* region, FaultClass kind) {
  if (kind == FaultClass::kFile && (region->shared || !region->writable)) return;
  ++possible_.zero_fills;
  // The kernel copies a page that a process never shared only if it had merged that page with others.
  const bool own = region != nullptr && !region->of_file() && kind != FaultClass::kOther && kind != FaultClass::kCopy;
  ++(own && !process.shares ? possible_.copies_if_merged : possible_.copies);
}

/// Whether KSM merges pages (Documentation/admin-guide/mm/ksm.rst), or has merged some.
bool FaultTracer::merges_pages() {
  return std::strtoull(text_of("/sys/kernel/mm/ksm/run").c_str(), nullptr, 10) == 1 ||
         std::strtoull(text_of("/sys/kernel/mm/ksm/pages_shared").c_str(), nullptr, 10) > 0;
}

/// A huge page is one fault, and nothing says so. It was one if all its pages are there now, and the process had no
/// fault on another of them before it forked next (from then on each may have one of its own).
void FaultTracer::look_for_huge_page(pid_t pid, std::uint64_t page, std::uint64_t time_ns, const Region& region) {
  const std::uint64_t huge_pages = huge_page_bytes() / page_bytes();
  const std::uint64_t first = page / huge_pages * huge_pages;
  const AddressRange all{first * page_bytes(), (first + huge_pages) * page_bytes()};
  if (all.begin < region.begin || all.end > region.end || !looked_for_huge_[pid].insert(first).second) return;
  std::size_t there = 0;
  pagemaps_.for_each(pid, all, [&](std::uint64_t, PagemapEntry entry) { there += entry.of_file() ? 0 : 1; });
  if (there < huge_pages) return;
  for (const FaultEvent& event : pending_) {
    if (event.time_ns <= time_ns) continue;
    if (event.kind == FaultEvent::Kind::kFork && event.parent == pid) break;
    const bool within = event.address >= all.begin && event.address < all.end;
    if (event.kind == FaultEvent::Kind::kFault && event.pid == pid && within) return;
  }
  sharing_.found_huge(pid, first, huge_pages, time_ns);
}

/// Finds the private pages that a process has though no fault reported them, and those that it gave back. For a
/// process that has just been `joined` the kernel says which are shared: with its parent, or one that is not watched.
void FaultTracer::look(pid_t pid, Look how) {
  const auto now = static_cast<std::uint64_t>(monotonic_ns());
  // Those whose fault is reported, but not yet counted, are added by that.
  std::unordered_set<std::uint64_t> to_come;
  for (const FaultEvent& event : pending_) {
    if (event.kind == FaultEvent::Kind::kFault && event.pid == pid && event.time_ns >= applied_ns_) {
      to_come.insert(event.address / page_bytes());
    }
  }
  std::unordered_set<std::uint64_t> populated;
  bool complete = true;
  std::vector<std::pair<std::uint64_t, bool>> pages;
  for (const auto& [begin, region] : processes_.at(pid).space.regions()) {
    if (region.shared || !region.writable) continue;
    if (region.end - region.begin > kLargestLook) {
      complete = false;
      continue;
    }
    complete = pagemaps_.for_each(pid, {region.begin, region.end}, [&](std::uint64_t page, PagemapEntry entry) {
      if (entry.of_file()) return;
      populated.insert(page);
      if (!to_come.contains(page)) pages.emplace_back(page, how != Look::kKnown && !entry.exclusive());
    }) && complete;
  }
  if (complete) sharing_.keep_only(pid, populated);
  looked_for_huge_.erase(pid);
  const pid_t parent = processes_.at(pid).told.parent;
  const bool anew = how == Look::kAnew || how == Look::kAnewAfterFork;
  for (const auto& [page, shared] : pages) {
    if (anew) {
      sharing_.found_anew(pid, page, now, shared, parent, how == Look::kAnewAfterFork);
    } else {
      sharing_.found(pid, page, now, shared, parent);
    }
  }
}

}  // namespace zerotax
