#pragma once

#include "meter/meter.h"
#include "os/held_memory.h"

namespace zerotax {

/// The held pass: the memory that the process holds at the end of the touching, and after free. No time means anything.
class HeldMeter final : public BareMeter {
 public:
  explicit HeldMeter(SampleBlock& samples);

  void release(void* block) override;
  void begin_operation(OpSample& op) override { op_ = &op; }

 private:
  OpSample* op_ = nullptr;
  HeldMemory memory_;
};

}  // namespace zerotax
