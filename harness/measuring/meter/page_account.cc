#include "meter/page_account.h"

#include <sys/auxv.h>
#include <sys/syscall.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "meter/meter.h"
#include "os/mappings.h"

namespace zerotax {

FilledPages::FilledPages(AddressRange block) {
  const AddressRange inner{page_ceiling(block.begin), page_floor(block.end)};
  if (inner.begin < inner.end) whole_ = inner;
}

void FilledPages::add(AddressRange part, std::size_t bytes, bool dirty) {
  const bool shared = part.bytes() < page_bytes();
  Bytes& filled = !shared ? inside_ : part.begin < whole_.begin ? head_ : tail_;
  filled.all += bytes;
  if (dirty) filled.dirty += bytes;
  if (shared) return;
  first_filled_ = first_filled_ || part.begin == whole_.begin;
  last_filled_ = last_filled_ || part.end == whole_.end;
}

FilledPages::Bytes FilledPages::total() const {
  Bytes sum = inside_;
  if (first_filled_) sum = {sum.all + head_.all, sum.dirty + head_.dirty};
  if (last_filled_) sum = {sum.all + tail_.all, sum.dirty + tail_.dirty};
  return sum;
}

bool FilledPages::is_doubtful() const { return has_no_page() && head_.all + tail_.all > 0; }

namespace {

/// Limit of mapped memory for reading the pagemap entry by entry, 8 bytes per page. Above this limit, the pass would
/// take minutes.
constexpr std::size_t kReadableBytes = std::size_t{8} << 30;

/// Populates the stack below this frame, because list_populated() later runs deeper in the stack, within a call.
[[gnu::noinline]] void populate_stack() {
  volatile char deep[std::size_t{32} << 10];
  for (std::size_t at = 0; at < sizeof deep; at += page_bytes()) deep[at] = 0;
}

/// Lists the populated pages of one mapping after another, for kernels that answer only page by page. `wanted` selects
/// the mappings.
template <typename Wanted>
bool list_mappings(const Pagemap& pagemap, RangeList& populated, Wanted wanted) {
  std::size_t mapped = 0;
  bool done = true;
  const bool read = for_each_mapping([&](const Mapping& mapping) {
    // [vsyscall] is beyond user space, and has no pagemap entry to read.
    if ((!mapping.readable && !mapping.writable) || mapping.range.begin >= user_space().end || !wanted(mapping)) return;
    if (pagemap.method() != Pagemap::Method::kScan) mapped += mapping.range.bytes();
    done = done && mapped <= kReadableBytes && pagemap.populated(mapping.range, populated);
  });
  return read && done;
}

std::int64_t OpSample::*mechanism_of(long number) {
  switch (number) {
    case SYS_munmap:
      return &OpSample::returned_by_munmap_bytes;
    case SYS_madvise:
      return &OpSample::returned_by_madvise_bytes;
    case SYS_brk:
      return &OpSample::returned_by_brk_bytes;
    default:
      return nullptr;  // Pages removed by mremap, or by mmap over an existing mapping, count only in the sum.
  }
}

constexpr std::int64_t OpSample::*kAccounts[]{&OpSample::kernel_zeroed_bytes,
                                              &OpSample::refilled_bytes,
                                              &OpSample::returned_bytes,
                                              &OpSample::returned_by_munmap_bytes,
                                              &OpSample::returned_by_madvise_bytes,
                                              &OpSample::returned_by_brk_bytes};

}  // namespace

AddressRange user_space() {
#if defined(__x86_64__)
  return {0, 0x7fff'ffff'f000};
#else
  // On arm64, user space has 2^39 to 2^48 bytes by default. The kernel puts the program's name at the top of the first
  // stack, near the end of user space, so the name's address shows this size.
  return {0, std::bit_ceil(static_cast<std::uintptr_t>(::getauxval(AT_EXECFN)))};
#endif
}

bool populated_pages(const Pagemap& pagemap, RangeList& populated) {
  if (pagemap.method() == Pagemap::Method::kScan) return pagemap.populated(user_space(), populated);
  return list_mappings(pagemap, populated, [](const Mapping& /*all*/) { return true; });
}

std::int64_t bytes_of(const RangeList& ranges) {
  std::size_t sum = 0;
  for (const AddressRange& range : ranges) sum += range.bytes();
  return static_cast<std::int64_t>(sum);
}

std::int64_t bytes_beyond(const RangeList& one, const RangeList& other) {
  std::size_t common = 0;
  const AddressRange* there = other.begin();
  for (const AddressRange& range : one) {
    while (there != other.end() && there->end <= range.begin) ++there;
    for (const AddressRange* each = there; each != other.end() && each->begin < range.end; ++each) {
      common += range.intersect(*each).bytes();
    }
  }
  return bytes_of(one) - static_cast<std::int64_t>(common);
}

void PageAccount::give_up(const char* why) {
  if (is_watched()) say(samples_.na_pages, why);
}

bool PageAccount::list_populated() {
  now_->clear();
  shared_now_ = 0;
  const bool done = list_mappings(pagemap_, *now_, [&](const Mapping& mapping) {
    // Pages of files, and copies of these pages, are not zeroed. A page of shared memory is zeroed for the first
    // process that populates it.
    if (mapping.zeroed_elsewhere()) shared_now_ += populated_bytes(mapping.range);
    return mapping.zero_filled();
  });
  if (done) return true;
  give_up(pagemap_.method() == Pagemap::Method::kScan
              ? "the populated pages of the process could not be listed, because no memory or descriptor is left"
              : "too much is mapped to read the pagemap page by page (PAGEMAP_SCAN of Linux 6.7 can list it)");
  return false;
}

std::int64_t PageAccount::populated_bytes(AddressRange range) const {
  std::int64_t bytes = 0;
  const auto add = [](void* sum, AddressRange pages) {
    *static_cast<std::int64_t*>(sum) += static_cast<std::int64_t>(pages.bytes());
  };
  pagemap_.for_each_populated(range, add, &bytes);
  return bytes;
}

void PageAccount::begin_operation(OpSample& op) {
  op_ = &op;
  unseen_ = shared_ = false;
  gone_.clear();
  if (!is_watched()) return;
  if (!listed_) {
    // The lists are memory of this process too, so the pages for the lists are populated now.
    going_list_.add({0, page_bytes()});
    populate_stack();
    if (!list_populated() || !list_populated()) return;
    std::swap(before_, now_);
    if (!list_populated()) return;
    std::swap(before_, now_);
    peak_ = bytes_of(*before_);
    shared_before_ = shared_now_;
    listed_ = true;
  }
  for (std::int64_t OpSample::*account : kAccounts) op.*account = 0;
  peak_before_ = peak_;
}

void PageAccount::before_call(const SystemCall& call, AddressRange going) {
  going_ = cut_ = going;
  // mremap leaves the beginning of the mapping in place.
  if (call.number == SYS_mremap) cut_.begin += page_ceiling(static_cast<std::uintptr_t>(call.arguments[2]));
  going_bytes_ = going_new_ = 0;
  mechanism_ = mechanism_of(call.number);
  if (!is_watched() || cut_.bytes() == 0) return;
  going_list_.clear();
  for_each_mapping([&](const Mapping& mapping) {
    const AddressRange common = mapping.range.intersect(cut_);
    if (common.bytes() == 0) return;
    if (mapping.zero_filled()) {
      pagemap_.populated(common, going_list_);
    } else if (mapping.zeroed_elsewhere() && populated_bytes(common) > 0) {
      shared_gone_ = true;
    }
  });
  for (const AddressRange& pages : going_list_) {
    going_bytes_ += static_cast<std::int64_t>(pages.bytes());
    for (std::uintptr_t page = pages.begin; page < pages.end; page += page_bytes()) {
      if (gone_.contains(page) || !before_->contains(page)) going_new_ += static_cast<std::int64_t>(page_bytes());
    }
  }
}

void PageAccount::after_call(bool failed, AddressRange moved) {
  if (failed) shared_gone_ = false;
  if (!is_watched() || failed || going_.bytes() == 0) return;
  if (moved.bytes() > 0) {
    // Pages that moved are neither new nor returned, but the lists will show them as new and as returned. The
    // operation's metrics are therefore n/a.
    if (moved.begin != going_.begin) unseen_ = true;
    if (moved.begin != going_.begin || cut_.bytes() == 0) return;
  }
  gone_.add(cut_);
  op_->kernel_zeroed_bytes += going_new_;
  gone_new_bytes_ += going_new_;
  op_->returned_bytes += going_new_;
  if (mechanism_ != nullptr) op_->*mechanism_ += going_bytes_;
}

void PageAccount::end_step(bool followed) {
  new_bytes_ = 0;
  const std::int64_t gone_new = std::exchange(gone_new_bytes_, 0);
  if (!is_watched() || !list_populated()) return;
  if (!followed || gone_.full()) unseen_ = true;
  if (shared_now_ != shared_before_ || shared_gone_) shared_ = true;
  shared_before_ = shared_now_;
  shared_gone_ = false;
  std::int64_t again = 0;  // pages that were removed and populated again within this step
  for (const AddressRange* pages = gone_.begin(); pages != gone_.end(); ++pages) {
    const auto counted = [&](std::uintptr_t page) {
      return std::any_of(gone_.begin(), pages,
                         [&](const AddressRange& one) { return page >= one.begin && page < one.end; });
    };
    for (const AddressRange& there : *now_) {
      const AddressRange common = there.intersect(*pages);
      for (std::uintptr_t page = common.begin; page < common.end; page += page_bytes()) {
        if (before_->contains(page) && !counted(page)) again += static_cast<std::int64_t>(page_bytes());
      }
    }
  }
  const std::int64_t new_bytes = bytes_beyond(*now_, *before_) + again;
  op_->kernel_zeroed_bytes += new_bytes;
  new_bytes_ = new_bytes + gone_new;
  op_->returned_bytes += bytes_beyond(*before_, *now_) + again;
  peak_ = std::max(peak_, bytes_of(*now_));
  std::swap(before_, now_);
  gone_.clear();
}

void PageAccount::end_operation() {
  if (!is_watched()) {
    for (std::int64_t OpSample::*account : kAccounts) op_->*account = kNotMeasured;
    return;
  }
  op_->refilled_bytes = std::max<std::int64_t>(op_->kernel_zeroed_bytes - (peak_ - peak_before_), 0);
  if (!unseen_ && !shared_) return;
  for (std::int64_t OpSample::*account : kAccounts) op_->*account = kNotMeasured;
  if (samples_.na_unseen_pages[0] == '\0') {
    say(samples_.na_unseen_pages,
        unseen_ ? "a call moved pages, or made system calls that were not followed"
                : "pages of shared memory were populated or removed, and it is unknown whether the kernel zeroed these "
                  "pages");
  }
}

}  // namespace zerotax
