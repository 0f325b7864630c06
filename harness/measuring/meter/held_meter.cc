#include "meter/held_meter.h"

#include <algorithm>

namespace zerotax {

HeldMeter::HeldMeter(SampleBlock& samples) {
  if (!memory_.available()) say(samples.na_held, "/proc/self/smaps_rollup cannot be read (Linux 4.14)");
}

void HeldMeter::release(void* block) {
  if (!memory_.available()) {
    BareMeter::release(block);
    return;
  }
  // Of several blocks the first to go is freed while all are held.
  const HeldMemory::Bytes held = memory_.read();
  op_->held_bytes = std::max(op_->held_bytes, held.all);
  op_->held_huge_bytes = std::max(op_->held_huge_bytes, held.huge);
  BareMeter::release(block);
  op_->held_after_free_bytes = memory_.read().all;
}

}  // namespace zerotax
