#include "meter/page_account.h"

#include <sys/syscall.h>

#include <algorithm>
#include <utility>

#include "meter/meter.h"
#include "os/mappings.h"

namespace zerotax {
namespace {

/// Reading the pagemap entry by entry costs 8 bytes a page: beyond this much mapped memory the pass would take minutes.
constexpr std::size_t kReadableBytes = std::size_t{8} << 30;

/// For a kernel that must be asked page by page.
bool read_whole_process(const Pagemap& pagemap, RangeList& populated) {
  std::size_t mapped = 0;
  bool done = true;
  for_each_mapping([&](const Mapping& mapping) {
    // [vsyscall] lies beyond user space, and has no pagemap entry to read.
    if ((!mapping.readable && !mapping.writable) || mapping.range.begin >= kUserSpace.end) return;
    mapped += mapping.range.bytes();
    done = done && mapped <= kReadableBytes && pagemap.populated(mapping.range, populated);
  });
  return done;
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
      return nullptr;  // mremap, or mmap over what was there: in the sum alone
  }
}

constexpr std::int64_t OpSample::*kAccounts[]{&OpSample::kernel_zeroed_bytes,
                                              &OpSample::refilled_bytes,
                                              &OpSample::returned_bytes,
                                              &OpSample::returned_by_munmap_bytes,
                                              &OpSample::returned_by_madvise_bytes,
                                              &OpSample::returned_by_brk_bytes};

}  // namespace

bool populated_pages(const Pagemap& pagemap, RangeList& populated) {
  return pagemap.method() == Pagemap::Method::kScan ? pagemap.populated(kUserSpace, populated)
                                                    : read_whole_process(pagemap, populated);
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
  if (populated_pages(pagemap_, *now_)) return true;
  give_up("too much is mapped to read the pagemap page by page (Linux 6.7 can scan it)");
  return false;
}

void PageAccount::begin_operation(OpSample& op) {
  op_ = &op;
  unseen_ = false;
  gone_.clear();
  if (!is_watched()) return;
  if (!listed_) {
    // The lists are memory of this process too: what they need is populated now.
    going_list_.add({0, kPageBytes});
    if (!list_populated() || !list_populated()) return;
    std::swap(before_, now_);
    if (!list_populated()) return;
    std::swap(before_, now_);
    peak_ = bytes_of(*before_);
    listed_ = true;
  }
  for (std::int64_t OpSample::*account : kAccounts) op.*account = 0;
  peak_before_ = peak_;
}

void PageAccount::before_call(const SystemCall& call, AddressRange going) {
  going_ = going;
  going_bytes_ = going_new_ = 0;
  mechanism_ = mechanism_of(call.number);
  if (!is_watched() || going.bytes() == 0) return;
  going_list_.clear();
  pagemap_.populated(going, going_list_);
  for (const AddressRange& pages : going_list_) {
    going_bytes_ += static_cast<std::int64_t>(pages.bytes());
    for (std::uintptr_t page = pages.begin; page < pages.end; page += kPageBytes) {
      if (gone_.contains(page) || !before_->contains(page)) going_new_ += static_cast<std::int64_t>(kPageBytes);
    }
  }
}

void PageAccount::after_call(bool failed, AddressRange moved) {
  if (!is_watched() || failed || going_.bytes() == 0) return;
  if (moved.bytes() > 0) {
    // What was populated in pages that moved is neither new nor returned, though the lists will look like it.
    if (moved.begin != going_.begin) unseen_ = true;
    return;
  }
  gone_.add(going_);
  op_->kernel_zeroed_bytes += going_new_;
  op_->returned_bytes += going_new_;
  if (mechanism_ != nullptr) op_->*mechanism_ += going_bytes_;
}

void PageAccount::end_step(bool followed) {
  if (!is_watched() || !list_populated()) return;
  if (!followed || gone_.full()) unseen_ = true;
  std::int64_t again = 0;  // pages that went and came back within this step
  for (const AddressRange* pages = gone_.begin(); pages != gone_.end(); ++pages) {
    const auto counted = [&](std::uintptr_t page) {
      return std::any_of(gone_.begin(), pages,
                         [&](const AddressRange& one) { return page >= one.begin && page < one.end; });
    };
    for (const AddressRange& there : *now_) {
      const AddressRange common = there.intersect(*pages);
      for (std::uintptr_t page = common.begin; page < common.end; page += kPageBytes) {
        if (before_->contains(page) && !counted(page)) again += static_cast<std::int64_t>(kPageBytes);
      }
    }
  }
  op_->kernel_zeroed_bytes += bytes_beyond(*now_, *before_) + again;
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
  if (!unseen_) return;
  for (std::int64_t OpSample::*account : kAccounts) op_->*account = kNotMeasured;
  if (samples_.na_unseen_pages[0] == '\0') {
    say(samples_.na_unseen_pages, "a call moved pages, or made system calls that were not followed");
  }
}

}  // namespace zerotax
