#include "os/write_tracker.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "os/kernel_version.h"
#include "os/mappings.h"
#include "os/pagemap.h"
#include "os/test_hook.h"

namespace zerotax {
namespace {

// Declared here because Debian 12's headers are older. Source: include/uapi/linux/userfaultfd.h of Linux 6.7.
constexpr int kUserModeOnly = 1;
constexpr std::uint64_t kFeatureWpUnpopulated = 1 << 13;
constexpr std::uint64_t kFeatureWpAsync = 1 << 15;

void add_to(void* list, AddressRange pages) { static_cast<RangeList*>(list)->add(pages); }

bool clear_bits(int clear_refs) { return ::write(clear_refs, "4", 1) == 1; }

/// Whether this kernel has soft-dirty bits. A kernel without soft-dirty bits reports 0 for every page, and accepts
/// every request to clear the bits.
bool keeps_soft_dirty(int clear_refs) {
  void* page = ::mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  const UniqueFd pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  const auto is_dirty = [&] {
    *static_cast<volatile char*>(page) = 1;
    std::uint64_t bits = 0;
    const auto offset = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(page) / page_bytes() * sizeof bits);
    return ::pread(pagemap.get(), &bits, sizeof bits, offset) == sizeof bits && PagemapEntry(bits).soft_dirty();
  };
  const bool kept = is_dirty() && clear_bits(clear_refs) && is_dirty();
  ::munmap(page, page_bytes());
  return kept;
}

/// Adds the pages that are in either list, but not in `without`, in ascending order.
void add_both(const RangeList& one, const RangeList& other, AddressRange without, RangeList& sum) {
  const AddressRange* left = one.begin();
  const AddressRange* right = other.begin();
  std::uintptr_t done = 0;
  while (left != one.end() || right != other.end()) {
    const bool takes_left = right == other.end() || (left != one.end() && left->begin < right->begin);
    const AddressRange next = takes_left ? *left++ : *right++;
    const AddressRange rest{std::max(next.begin, done), next.end};
    if (rest.end <= rest.begin) continue;
    done = rest.end;
    const AddressRange common = rest.intersect(without);
    if (common.bytes() == 0) {
      sum.add(rest);
    } else {
      sum.add({rest.begin, common.begin});
      sum.add({common.end, rest.end});
    }
  }
}

}  // namespace

WriteTracker::WriteTracker() {
  const char* wanted = test_hook("ZEROTAX_WRITE_TRACKING");
  if (wanted != nullptr && std::strcmp(wanted, "none") == 0) {
    reason_ = "switched off by ZEROTAX_WRITE_TRACKING=none";
    return;
  }
  if (wanted == nullptr || std::strcmp(wanted, "soft-dirty") != 0) reason_ = open_asynchronous();
  if (available()) return;
  const char* otherwise = open_soft_dirty();
  if (available() || reason_[0] == '\0') reason_ = available() ? "" : otherwise;
}

const char* WriteTracker::name() const {
  switch (method_) {
    case Method::kAsynchronous:
      return "userfaultfd, asynchronous";
    case Method::kSoftDirty:
      return "soft-dirty bits";
    case Method::kNone:
      break;
  }
  return reason_;
}

const char* WriteTracker::open_asynchronous() {
  UniqueFd fd(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | kUserModeOnly)));
  if (!fd) {
    if (errno == EMFILE) return "no descriptor is left for userfaultfd (RLIMIT_NOFILE)";
    // The kernel itself requires no privilege for faults in user mode alone.
    return errno == EPERM ? "userfaultfd is denied by a seccomp filter, as in a container (docker run --security-opt "
                            "seccomp=unconfined permits it)"
                          : "userfaultfd is not permitted, or missing from this kernel";
  }
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = kFeatureWpAsync | kFeatureWpUnpopulated;
  if (::ioctl(fd.get(), UFFDIO_API, &api) != 0) {
    return why_refused(6, 7, "this kernel has no asynchronous write protection (needs Linux 6.7 or later)",
                       "userfaultfd's asynchronous write protection is denied in this process (by a seccomp "
                       "filter?), or is missing from this kernel");
  }
  fd_ = std::move(fd);
  method_ = Method::kAsynchronous;
  return "";
}

const char* WriteTracker::open_soft_dirty() {
  UniqueFd fd(::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
  if (!fd) return "/proc/self/clear_refs cannot be opened";
  if (!keeps_soft_dirty(fd.get())) return "this kernel keeps no soft-dirty bits (CONFIG_MEM_SOFT_DIRTY)";
  fd_ = std::move(fd);
  method_ = Method::kSoftDirty;
  soft_dirty_.emplace();
  return "";
}

void WriteTracker::watch(AddressRange range, const Pagemap& pagemap) {
  if (!available() || range.bytes() == 0) return;
  // A part of the range may be unmapped, and the rest may consist of several mappings.
  AddressRange mapped[kPieces];
  std::size_t count = 0;
  for_each_mapping([&](const Mapping& mapping) {
    const AddressRange common = mapping.range.intersect(range);
    if (common.bytes() == 0 || !mapping.zero_filled() || !mapping.writable) return;
    if (count < kPieces) mapped[count++] = common;
  });
  for (std::size_t i = 0; i < count; ++i) watch_mapped(mapped[i], pagemap);
}

bool WriteTracker::forget_writes(AddressRange range, const Pagemap& pagemap) {
  const std::size_t next = 1 - soft_dirty_->current;
  RangeList& before = soft_dirty_->remembered[soft_dirty_->current];
  RangeList& after = soft_dirty_->remembered[next];
  after.clear();
  RangeList& now = soft_dirty_->scratch;
  now.clear();
  for_each_watched({0, ~std::uintptr_t{0}},
                   [&](AddressRange piece) { pagemap.for_each_soft_dirty(piece, add_to, &now); });
  add_both(before, now, range, after);
  if (!now.complete() || !after.complete()) return false;
  soft_dirty_->current = next;
  // Clears bits only if a page is dirty. When many ranges are watched in a row, this is usually true only for the first
  // range.
  bool dirty = now.size() > 0;
  const auto note = [](void* any, AddressRange /*pages*/) { *static_cast<bool*>(any) = true; };
  if (!dirty && !pagemap.for_each_soft_dirty(range, note, &dirty)) return false;
  return !dirty || clear_bits(fd_.get());
}

void WriteTracker::watch_mapped(AddressRange range, const Pagemap& pagemap) {
  if (method_ == Method::kSoftDirty) {
    if (::madvise(reinterpret_cast<void*>(range.begin), range.bytes(), MADV_RANDOM) == 0 &&
        forget_writes(range, pagemap)) {
      add_piece(range);
    } else {
      unregister(range);
    }
    return;
  }
  uffdio_register registration{};
  registration.range = {range.begin, range.bytes()};
  registration.mode = UFFDIO_REGISTER_MODE_WP;
  if (::ioctl(fd_.get(), UFFDIO_REGISTER, &registration) != 0) return;
  struct Protection {
    const WriteTracker* tracker;
    bool done;
  } protection{this, true};
  const auto protect_pages = [](void* context, AddressRange pages) {
    auto& all = *static_cast<Protection*>(context);
    all.done = all.tracker->protect(pages) && all.done;
  };
  if (!pagemap.for_each_populated(range, protect_pages, &protection) || !protection.done) {
    unregister(range);
    return;
  }
  add_piece(range);
}

void WriteTracker::add_piece(AddressRange range) {
  for (std::size_t i = 0; i < count_; ++i) {
    // Adjacent ranges that are watched one after the other become one piece.
    if (pieces_[i].bytes() == 0 || (pieces_[i].end != range.begin && pieces_[i].begin != range.end)) continue;
    pieces_[i] = {pieces_[i].begin < range.begin ? pieces_[i].begin : range.begin,
                  pieces_[i].end > range.end ? pieces_[i].end : range.end};
    return;
  }
  if (count_ == kPieces) return unregister(range);
  pieces_[count_++] = range;
}

void WriteTracker::watch_again(AddressRange range, const Pagemap& pagemap) {
  for (std::size_t i = 0; i < count_; ++i) {
    if (pieces_[i].intersect(range).bytes() != range.bytes()) continue;
    const bool again = method_ == Method::kSoftDirty ? forget_writes(range, pagemap) : protect(range);
    if (!again) release(range);
    return;
  }
  watch(range, pagemap);
}

bool WriteTracker::is_written(const Pagemap& pagemap, AddressRange range) const {
  bool found = false;
  const auto note = [](void* written, AddressRange /*pages*/) { *static_cast<bool*>(written) = true; };
  if (method_ != Method::kSoftDirty) return pagemap.for_each_written(range, note, &found) && found;
  for (const AddressRange& pages : soft_dirty_->remembered[soft_dirty_->current]) {
    if (pages.intersect(range).bytes() > 0) return true;
  }
  return pagemap.for_each_soft_dirty(range, note, &found) && found;
}

bool WriteTracker::is_watched(AddressRange range) const {
  for (std::size_t i = 0; i < count_; ++i) {
    if (pieces_[i].intersect(range).bytes() == range.bytes()) return true;
  }
  return false;
}

bool WriteTracker::protect(AddressRange range) const {
  uffdio_writeprotect protection{};
  protection.range = {range.begin, range.bytes()};
  protection.mode = UFFDIO_WRITEPROTECT_MODE_WP;
  return ::ioctl(fd_.get(), UFFDIO_WRITEPROTECT, &protection) == 0;
}

void WriteTracker::release(AddressRange range) {
  const std::size_t before = count_;
  for (std::size_t i = 0; i < before; ++i) {
    const AddressRange common = pieces_[i].intersect(range);
    if (common.bytes() == 0) continue;
    unregister(common);
    const AddressRange tail{common.end, pieces_[i].end};
    pieces_[i].end = common.begin;
    if (tail.bytes() == 0) continue;
    if (count_ < kPieces) {
      pieces_[count_++] = tail;
    } else {
      unregister(tail);
    }
  }
}

template <typename Visit>
void WriteTracker::for_each_watched(AddressRange range, Visit visit) const {
  // There are few pieces, but they are unsorted, and a RangeList must be sorted.
  for (std::uintptr_t from = range.begin; from < range.end;) {
    AddressRange next{range.end, range.end};
    for (std::size_t i = 0; i < count_; ++i) {
      const AddressRange common = pieces_[i].intersect({from, range.end});
      if (common.bytes() > 0 && common.begin < next.begin) next = common;
    }
    if (next.bytes() == 0) return;
    visit(next);
    from = next.end;
  }
}

void WriteTracker::watched(AddressRange range, RangeList& watched) const {
  for_each_watched(range, [&](AddressRange piece) { watched.add(piece); });
}

void WriteTracker::written(const Pagemap& pagemap, AddressRange range, RangeList& written) const {
  if (method_ != Method::kSoftDirty) {
    for_each_watched(range, [&](AddressRange piece) { pagemap.written(piece, written); });
    return;
  }
  soft_dirty_->scratch.clear();
  RangeList& before = soft_dirty_->scratch;
  for_each_watched(range, [&](AddressRange piece) {
    for (const AddressRange& pages : soft_dirty_->remembered[soft_dirty_->current]) before.add(pages.intersect(piece));
  });
  RangeList& now = soft_dirty_->other_scratch;
  now.clear();
  for_each_watched(range, [&](AddressRange piece) { pagemap.for_each_soft_dirty(piece, add_to, &now); });
  add_both(before, now, {}, written);
}

void WriteTracker::stop() {
  for (std::size_t i = 0; i < count_; ++i) {
    if (pieces_[i].bytes() > 0) unregister(pieces_[i]);
  }
  count_ = 0;
  if (soft_dirty_) soft_dirty_->remembered[soft_dirty_->current].clear();
}

void WriteTracker::unregister(AddressRange range) const {
  // madvise skips pages that are no longer mapped.
  if (method_ == Method::kSoftDirty) {
    ::madvise(reinterpret_cast<void*>(range.begin), range.bytes(), MADV_NORMAL);
    return;
  }
  uffdio_range argument{range.begin, range.bytes()};
  if (::ioctl(fd_.get(), UFFDIO_UNREGISTER, &argument) == 0) return;
  // The allocator may have unmapped a part of the range, so the rest is unregistered piece by piece.
  for_each_mapping([&](const Mapping& mapping) {
    const AddressRange common = mapping.range.intersect(range);
    if (common.bytes() == 0 || !mapping.zero_filled()) return;
    uffdio_range piece{common.begin, common.bytes()};
    ::ioctl(fd_.get(), UFFDIO_UNREGISTER, &piece);
  });
}

}  // namespace zerotax
