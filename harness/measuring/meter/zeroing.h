#pragma once

#include "meter/meter.h"
#include "meter/zeroing_hook.h"

namespace zerotax {

/// What the clock around memset measured in one call.
struct MemsetTime {
  std::int64_t zero_ns;       ///< in memsets to zero, the clock's own part taken away
  std::int64_t clock_ns;      ///< that part
  std::int64_t listening_ns;  ///< what hook and clock added to the call altogether
  std::int64_t stores;        ///< memsets to zero
};

/// A clock around every memset to zero. Its construction measures, in the same process, what reading the clock costs.
class ZeroingClock final : private ZeroingHook::Listener {
 public:
  /// Hooks memset and its kin, and counts in the sample block how many slots there were.
  explicit ZeroingClock(SampleBlock& samples);

  void start();
  MemsetTime stop();

 private:
  void before_zeroing(void* target, std::size_t bytes) override;
  void after_zeroing(void* target, std::size_t bytes) override;
  void calibrate();

  std::int64_t started_ = 0;
  std::int64_t sum_ = 0;
  std::int64_t stores_ = 0;
  double window_ns_ = 0;     ///< between the two readings around nothing
  double listening_ns_ = 0;  ///< for a store of nothing, from outside
};

/// The times of zeroing in all calls of one kind, calloc or free, of an operation.
class ZeroingSum {
 public:
  void clear() { *this = {}; }
  /// `call_ns`: the call from outside, all of what listening added included.
  void add(const MemsetTime& found, std::int64_t call_ns);
  /// The call's time without what listening added, and in it that of zeroing: never more, and kNotMeasured with a
  /// reason if most of what the clock saw was the clock.
  void write(std::int64_t& call_ns, std::int64_t& zero_ns, char (&why)[kReasonBytes]) const;

 private:
  std::int64_t zero_ns_ = 0;
  std::int64_t clock_ns_ = 0;
  std::int64_t call_ns_ = kNotMeasured;
};

/// The zeroing pass: nanoseconds of every memset to zero inside calloc and inside free, and of the calls they were in.
class ZeroingMeter final : public Meter {
 public:
  explicit ZeroingMeter(SampleBlock& samples) : clock_(samples), samples_(samples) {}

  void* allocate(std::size_t bytes) override;
  void release(void* block) override;
  void begin_operation(OpSample& op) override;
  void end_operation() override;

 private:
  ZeroingClock clock_;
  SampleBlock& samples_;
  OpSample* op_ = nullptr;
  ZeroingSum in_calloc_;
  ZeroingSum in_free_;
};

/// The differential pass: malloc of the same size, freed at once, then calloc, each between two clocks. Their
/// difference is what zeroing costs, by whatever instructions, if what is measured finds nothing against it. The
/// clock around memset runs too while memsets are few, so that the two can be compared call by call.
class DifferentialMeter final : public Meter {
 public:
  explicit DifferentialMeter(SampleBlock& samples) : clock_(samples), samples_(samples) {}

  void* allocate(std::size_t bytes) override;
  void release(void* block) override;
  void begin_operation(OpSample& op) override;
  void end_operation() override;
  void finish() override;

 private:
  ZeroingClock clock_;
  SampleBlock& samples_;
  OpSample* op_ = nullptr;
  ZeroingSum in_calloc_;
  bool listening_ = true;
};

}  // namespace zerotax
