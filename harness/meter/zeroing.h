#pragma once

#include "meter/meter.h"
#include "meter/zeroing_hook.h"

namespace zerotax {

/// A clock around every memset to zero, summed up in OpRecord::zero_ns.
class ZeroingClock final : private ZeroingHook::Listener {
 public:
  /// Hooks memset and its kin, and says in the record how many slots there were.
  explicit ZeroingClock(Record& record);

  /// Calls calloc(bytes, 1) with the clock on; `op.zero_ns` is what it found.
  void* timed_calloc(std::size_t bytes, OpRecord& op);

 private:
  void before_zeroing(void* target, std::size_t bytes) override;
  void after_zeroing(void* target, std::size_t bytes) override;

  std::int64_t started_ = 0;
  std::int64_t sum_ = 0;
};

/// The zeroing pass: nanoseconds of every memset to zero inside calloc.
class ZeroingMeter final : public Meter {
 public:
  explicit ZeroingMeter(Record& record) : clock_(record) {}

  void* allocate(std::size_t bytes) override;
  void release(void* block) override;
  void begin_operation(OpRecord& op) override { op_ = &op; }

 private:
  ZeroingClock clock_;
  OpRecord* op_ = nullptr;
};

/// The differential pass: malloc of the same size, freed at once, then calloc, each between two clocks. Their
/// difference is what zeroing costs, by whatever instructions; the clock around memset runs too, so that the two can be
/// compared call by call.
class DifferentialMeter final : public Meter {
 public:
  explicit DifferentialMeter(Record& record) : clock_(record) {}

  void* allocate(std::size_t bytes) override;
  void release(void* block) override;
  void begin_operation(OpRecord& op) override { op_ = &op; }

 private:
  ZeroingClock clock_;
  OpRecord* op_ = nullptr;
};

}  // namespace zerotax
