#pragma once

#include "meter/meter.h"
#include "meter/zeroing_hook.h"

namespace zerotax {

/// The zeroing pass: nanoseconds and bytes of every memset to zero inside calloc, by a clock around each.
class ZeroingMeter final : public Meter, private ZeroingHook::Listener {
 public:
  explicit ZeroingMeter(Record& record);

  void* allocate(std::size_t bytes) override;
  void release(void* block) override;
  void begin_operation(OpRecord& op) override { op_ = &op; }

 private:
  void before_zeroing(void* target, std::size_t bytes) override;
  void after_zeroing(void* target, std::size_t bytes) override;

  OpRecord* op_ = nullptr;
  std::int64_t started_ = 0;
};

}  // namespace zerotax
