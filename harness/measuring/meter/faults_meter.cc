#include "meter/faults_meter.h"

#include <sched.h>

#include <algorithm>
#include <new>

#include "os/faults.h"
#include "os/held_memory.h"

namespace zerotax {
namespace {

void stay_on_this_cpu() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(std::max(::sched_getcpu(), 0), &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

}  // namespace

FaultsMeter::FaultsMeter(SampleBlock& samples) : samples_(samples) {
  stay_on_this_cpu();
  // The meter's own stack is populated, so its page has a frame number, if this process may read frame numbers.
  const auto here = pagemap_.entry(reinterpret_cast<std::uintptr_t>(&samples));
  samples.by_frame = here && here->frame() != 0 ? 1 : 0;
  if (pagemap_.method() == Pagemap::Method::kNone) {
    say(samples.na_classes, pagemap_.reason());
  } else if (!pagemap_.knows_zero_page()) {
    say(samples.na_classes,
        "only root can see the shared zero page on this kernel (PAGEMAP_SCAN needs Linux 6.7 or later)");
  }
  if (own_page_table_bytes() < 0) say(samples.na_page_tables, "/proc/self/status has no VmPTE");
}

bool FaultsMeter::fork_and_write(void* block, std::size_t bytes) {
  return fork_in_steps(block, bytes, *this, op_->fork);
}

void FaultsMeter::before_fork(const AddressRange& block) {
  populated_.clear();
  if (samples_.na_classes[0] != '\0' || !pagemap_.populated(block.pages(), populated_)) return;
  std::size_t bytes = 0;
  for (const AddressRange& pages : populated_) bytes += pages.bytes();
  op_->fork.populated_bytes = static_cast<std::int64_t>(bytes);
}

void FaultsMeter::child_begins() {
  const std::int64_t bytes = own_page_table_bytes();
  if (bytes >= 0) op_->fork.page_table_bytes = bytes;
  // The pagemap that was opened before the fork belongs to the parent. The new pagemap object is never destroyed,
  // because registering a destructor would write to the heap.
  alignas(Pagemap) static unsigned char storage[sizeof(Pagemap)];
  own_ = new (&storage[0]) Pagemap(pagemap_.method());
  thread_minor_faults();
}

void FaultsMeter::write(const AddressRange& block, std::size_t pages, WriteSample& sample) {
  populated_.clear();
  const std::uintptr_t first = page_floor(block.begin);
  if (samples_.na_classes[0] != '\0' || !own_->populated({first, first + pages * page_bytes()}, populated_)) {
    return ForkSteps::write(block, pages, sample);
  }
  WriteSample found{kNotMeasured, kNotMeasured, 0, 0, 0, 0};
  for (std::size_t page = 0; page < pages; ++page) {
    volatile unsigned char* byte = byte_in_page(block, page);
    const auto address = reinterpret_cast<std::uintptr_t>(byte);
    const PagemapEntry before = own_->entry(address).value_or(PagemapEntry(0));
    const std::int64_t faults = thread_minor_faults();
    *byte = 0x5a;
    const std::int64_t more = thread_minor_faults() - faults;
    if (more == 0) continue;
    found.other += more - 1;
    if (!populated_.contains(address)) {
      ++found.zero_fills;
    } else if (before.swapped()) {
      ++found.other;
    } else if (samples_.by_frame != 0) {
      const PagemapEntry after = own_->entry(address).value_or(before);
      ++(after.frame() != before.frame() ? found.copies : found.reuses);
    } else {
      ++(before.exclusive() ? found.reuses : found.copies);
    }
  }
  sample = found;
}

HeldMeter::HeldMeter(SampleBlock& samples) {
  if (!memory_.available()) say(samples.na_held, "/proc/self/smaps_rollup cannot be read (needs Linux 4.14 or later)");
}

void HeldMeter::release(void* block) {
  if (!memory_.available()) {
    BareMeter::release(block);
    return;
  }
  // At the release of its first block, the operation still holds all blocks. The largest reading is therefore the
  // memory held.
  const HeldMemory::Bytes held = memory_.read();
  op_->held_bytes = std::max(op_->held_bytes, held.all);
  op_->held_huge_bytes = std::max(op_->held_huge_bytes, held.huge);
  BareMeter::release(block);
  op_->held_after_free_bytes = memory_.read().all;
}

}  // namespace zerotax
