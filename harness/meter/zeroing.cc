#include "meter/zeroing.h"

#include <cstdlib>

#include "os/clock.h"

namespace zerotax {

ZeroingMeter::ZeroingMeter(Record& record) { record.got_slots = static_cast<std::uint32_t>(ZeroingHook::install()); }

void* ZeroingMeter::allocate(std::size_t bytes) {
  op_->zero_ns = 0;
  ZeroingHook::listen(this);
  void* block = std::calloc(bytes, 1);
  ZeroingHook::listen(nullptr);
  escape(block);
  return block;
}

void ZeroingMeter::release(void* block) { std::free(block); }

void ZeroingMeter::before_zeroing(void* /*target*/, std::size_t /*bytes*/) { started_ = monotonic_ns(); }

void ZeroingMeter::after_zeroing(void* /*target*/, std::size_t /*bytes*/) { op_->zero_ns += monotonic_ns() - started_; }

}  // namespace zerotax
