#include "os/write_tracker.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <cerrno>

#include "os/kernel_version.h"
#include "os/mappings.h"

namespace zerotax {
namespace {

// From include/uapi/linux/userfaultfd.h of Linux 6.7; Debian 12's headers are older.
constexpr int kUserModeOnly = 1;
constexpr std::uint64_t kFeatureWpUnpopulated = 1 << 13;
constexpr std::uint64_t kFeatureWpAsync = 1 << 15;

}  // namespace

WriteTracker::WriteTracker() {
  fd_ = UniqueFd(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | kUserModeOnly)));
  if (!fd_) {
    reason_ = errno == EMFILE ? "no descriptor is left for userfaultfd (RLIMIT_NOFILE)"
                              : "userfaultfd is not permitted or not in this kernel";
    return;
  }
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = kFeatureWpAsync | kFeatureWpUnpopulated;
  if (::ioctl(fd_.get(), UFFDIO_API, &api) != 0) {
    reason_ = why_refused(6, 7, "this kernel has no asynchronous write protection (Linux 6.7)",
                          "userfaultfd's asynchronous write protection is denied in this process (by a seccomp "
                          "filter?), or was left out of this kernel");
    fd_.reset();
  }
}

void WriteTracker::watch(AddressRange range, const Pagemap& pagemap) {
  if (!available() || range.bytes() == 0) return;
  // Part of a freed block may have been unmapped meanwhile, and the rest be in several mappings.
  AddressRange mapped[kPieces];
  std::size_t count = 0;
  for_each_mapping([&](const Mapping& mapping) {
    const AddressRange common = mapping.range.intersect(range);
    if (common.bytes() == 0 || !mapping.zero_filled() || !mapping.writable) return;
    if (count < kPieces) mapped[count++] = common;
  });
  for (std::size_t i = 0; i < count; ++i) watch_mapped(mapped[i], pagemap);
}

void WriteTracker::watch_mapped(AddressRange range, const Pagemap& pagemap) {
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
  for (std::size_t i = 0; i < count_; ++i) {
    // Pages that are watched one after the other are one piece.
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
    if (!protect(range)) release(range);
    return;
  }
  watch(range, pagemap);
}

bool WriteTracker::is_written(const Pagemap& pagemap, AddressRange range) {
  bool found = false;
  const auto note = [](void* written, AddressRange /*pages*/) { *static_cast<bool*>(written) = true; };
  return pagemap.for_each_written(range, note, &found) && found;
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
  // Pieces are few but not in order, and a RangeList wants order.
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
  for_each_watched(range, [&](AddressRange piece) { pagemap.written(piece, written); });
}

void WriteTracker::stop() {
  for (std::size_t i = 0; i < count_; ++i) {
    if (pieces_[i].bytes() > 0) unregister(pieces_[i]);
  }
  count_ = 0;
}

void WriteTracker::unregister(AddressRange range) const {
  uffdio_range argument{range.begin, range.bytes()};
  if (::ioctl(fd_.get(), UFFDIO_UNREGISTER, &argument) == 0) return;
  // The allocator may have unmapped a part of it: the rest has to go piece by piece.
  for_each_mapping([&](const Mapping& mapping) {
    const AddressRange common = mapping.range.intersect(range);
    if (common.bytes() == 0 || !mapping.zero_filled()) return;
    uffdio_range piece{common.begin, common.bytes()};
    ::ioctl(fd_.get(), UFFDIO_UNREGISTER, &piece);
  });
}

}  // namespace zerotax
