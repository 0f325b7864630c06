#include "record/preload/file_pages.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>

#include "os/mappings.h"
#include "record/preload/arena.h"
#include "record/preload/examine.h"
#include "record/preload/kept_file.h"
#include "record/preload/process.h"
#include "record/preload/real.h"

namespace zerotax::record {
namespace {

struct Noted {
  std::atomic<std::uintptr_t> begin;  ///< 0: free
  std::atomic<std::uintptr_t> end;

  [[nodiscard]] AddressRange range() const { return {begin, end}; }
};

constexpr std::size_t kNoted = 256;
Noted noted[kNoted];
std::atomic<std::size_t> noted_used{0};
std::atomic<bool> is_full{false};  ///< whether a range was not remembered for lack of room, so that any mapping may
                                   ///< have file pages

constinit KeptFile maps("/proc/thread-self/maps");

/// Calls visit(mapping) for every mapping of the process.
template <typename Visit>
void for_each_own_mapping(Visit visit) {
  record::for_each_own_mapping([](void* context, const Mapping& mapping) { (*static_cast<Visit*>(context))(mapping); },
                               &visit);
}

bool may_have_copies(AddressRange range) {
  for (std::size_t i = 0; i < noted_used; ++i) {
    if (noted[i].range().intersect(range).bytes() != 0) return true;
  }
  return is_full;
}

bool is_private_file(const Mapping& mapping) { return mapping.inode != 0 && !mapping.shared; }

/// Adds the private pages of a private file mapping, which are copies of the file's pages. Huge pages in such a mapping
/// are pages of hugetlbfs, which the kernel zeroes: transparent huge pages occur only in memory without a file.
void add_pages(FilePages& sum, AddressRange range, bool hugetlb) {
  const auto found = anonymous_in(range);
  const std::uint64_t huge = hugetlb ? found.bytes : found.huge;
  sum.hugetlb += huge;
  sum.copied += found.bytes - huge;
}

FilePages file_pages_in(AddressRange range) {
  FilePages sum;
  for_each_own_mapping([&](const Mapping& mapping) {
    const AddressRange common = mapping.range.intersect(range);
    if (common.bytes() != 0 && is_private_file(mapping)) add_pages(sum, common, mapping.hugetlb);
  });
  return sum;
}

/// Returns the part of an anonymous range that is a loaded file's data without an initial value.
AddressRange data_in(AddressRange range) {
  dl_find_object object{};
  if (real.find_object == nullptr || real.find_object(reinterpret_cast<void*>(range.begin), &object) != 0) return {};
  return range.intersect({range.begin, page_ceiling(reinterpret_cast<std::uintptr_t>(object.dlfo_map_end))});
}

}  // namespace

void for_each_own_mapping(void (*visit)(void* context, const Mapping& mapping), void* context) {
  const int fd = maps.check();
  if (fd < 0 || !for_each_mapping(fd, visit, context)) note_gap(kNoHoldings);
}

bool is_in_image(std::uintptr_t address) { return data_in({address, address + 1}).bytes() != 0; }

void open_mappings() {
  maps.drop();
  maps.get();
}

void note_file_pages(AddressRange range) {
  for (std::size_t i = 0; i < kNoted; ++i) {
    std::uintptr_t expected = 0;
    if (!noted[i].begin.compare_exchange_strong(expected, range.begin)) continue;
    noted[i].end = range.end;
    std::size_t used = noted_used;
    while (used < i + 1 && !noted_used.compare_exchange_weak(used, i + 1)) {
    }
    return;
  }
  is_full = true;
}

bool has_noted_file_pages() { return noted_used != 0 || is_full; }

void forget_file_pages(AddressRange range) {
  for (std::size_t i = 0; i < noted_used; ++i) {
    const AddressRange one = noted[i].range();
    if (one.begin == 0 || one.begin < range.begin || one.end > range.end) continue;
    noted[i].end = 0;
    noted[i].begin = 0;
  }
}

void move_file_pages(AddressRange from, AddressRange to) {
  if (!may_have_copies(from)) return;
  forget_file_pages(from);
  note_file_pages(to);
}

Pagemap::Anonymous zeroed_in(AddressRange range) {
  Pagemap::Anonymous found = anonymous_in(range);
  if (found.bytes == 0 || !may_have_copies(range)) return found;
  const FilePages files = file_pages_in(range);
  process->holdings.returned_copies += files.copied;
  found.bytes -= files.copied < found.bytes ? files.copied : found.bytes;
  found.huge = std::max(found.huge, files.hugetlb);
  return found;
}

FilePages noted_file_pages() {
  if (is_full) return file_pages_in({0, UINTPTR_MAX});
  FilePages sum;
  for (std::size_t i = 0; i < noted_used; ++i) {
    if (noted[i].range().bytes() == 0) continue;
    const FilePages found = file_pages_in(noted[i].range());
    sum.copied += found.copied;
    sum.hugetlb += found.hugetlb;
  }
  return sum;
}

FilePages all_file_pages(bool& made_code) {
  FilePages sum;
  // Adjacent mappings are merged, because a library has five mappings, and examining one mapping takes a system call.
  AddressRange run{};
  for_each_own_mapping([&](const Mapping& mapping) {
    made_code = made_code || (mapping.made_code && mapping.range.bytes() >= kLargeBytes);
    if (!is_private_file(mapping)) return;
    if (mapping.hugetlb) return add_pages(sum, mapping.range, true);
    if (mapping.range.begin != run.end) {
      if (run.bytes() != 0) add_pages(sum, run, false);
      run.begin = mapping.range.begin;
    }
    run.end = mapping.range.end;
  });
  if (run.bytes() != 0) add_pages(sum, run, false);
  return sum;
}

ImagePages image_pages() {
  bool made_code = false;
  return {zeroed_image_bytes(), all_file_pages(made_code).copied};
}

std::uint64_t zeroed_image_bytes() {
  std::uint64_t sum = 0;
  for_each_own_mapping([&](const Mapping& mapping) {
    if (!mapping.zero_filled() || mapping.heap) return;
    const AddressRange data = mapping.stack ? mapping.range : data_in(mapping.range);
    if (data.bytes() != 0) sum += anonymous_in(data).bytes;
  });
  return sum;
}

std::uint64_t other_pages() {
  std::uint64_t sum = 0;
  for_each_own_mapping([&](const Mapping& mapping) {
    if (!mapping.zero_filled() || mapping.heap || mapping.stack) return;
    sum += anonymous_in(mapping.range).bytes - anonymous_in(data_in(mapping.range)).bytes;
  });
  return sum;
}

}  // namespace zerotax::record
