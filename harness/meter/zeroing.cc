#include "meter/zeroing.h"

#include <cstdlib>

#include "os/clock.h"

namespace zerotax {

ZeroingClock::ZeroingClock(Record& record) { record.got_slots = static_cast<std::uint32_t>(ZeroingHook::install()); }

void* ZeroingClock::timed_calloc(std::size_t bytes, OpRecord& op) {
  sum_ = 0;
  ZeroingHook::listen(this);
  void* block = std::calloc(bytes, 1);
  ZeroingHook::listen(nullptr);
  escape(block);
  add_to(op.zero_ns, sum_);
  return block;
}

void ZeroingClock::before_zeroing(void* /*target*/, std::size_t /*bytes*/) { started_ = monotonic_ns(); }

void ZeroingClock::after_zeroing(void* /*target*/, std::size_t /*bytes*/) { sum_ += monotonic_ns() - started_; }

void* ZeroingMeter::allocate(std::size_t bytes) { return clock_.timed_calloc(bytes, *op_); }

void ZeroingMeter::release(void* block) { std::free(block); }

void* DifferentialMeter::allocate(std::size_t bytes) {
  const std::int64_t before_malloc = monotonic_ns();
  void* plain = std::malloc(bytes);
  const std::int64_t after_malloc = monotonic_ns();
  escape(plain);
  std::free(plain);
  const std::int64_t before_calloc = monotonic_ns();
  void* block = clock_.timed_calloc(bytes, *op_);
  add_to(op_->calloc_ns, monotonic_ns() - before_calloc);
  add_to(op_->malloc_ns, after_malloc - before_malloc);
  return block;
}

void DifferentialMeter::release(void* block) { std::free(block); }

}  // namespace zerotax
