#pragma once

#include "meter/meter.h"
#include "meter/zeroing_hook.h"

namespace zerotax {

/// Times that the clock around memset measured in one call.
struct MemsetTime {
  std::int64_t zero_ns;       ///< time in calls to memset that store zeros, without the clock's own part
  std::int64_t clock_ns;      ///< the clock's own part
  std::int64_t listening_ns;  ///< total time that hook and clock added to the call
  std::int64_t stores;        ///< number of calls to memset that store zeros
};

/// A clock around every call to memset that stores zeros. The constructor measures how long a reading of the clock
/// takes in this process.
class ZeroingClock final : private ZeroingHook::Listener {
 public:
  /// Hooks memset and its variants, and stores the number of slots in the sample block.
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
  double window_ns_ = 0;     ///< time between two readings with nothing in between
  double listening_ns_ = 0;  ///< time of the listener's two calls, as seen by the caller
};

/// Sums the times of zeroing in all calls to calloc, or to free, of an operation.
class ZeroingSum {
 public:
  void clear() { *this = {}; }
  /// `call_ns` is the call's time as its caller measures it, including the time that listening added.
  void add(const MemsetTime& found, std::int64_t call_ns);
  /// Writes the call's time without listening, and the time of zeroing, which never exceeds the call's time. Writes
  /// kNotMeasured and a reason if most of the measured time was the clock's own.
  void write(std::int64_t& call_ns, std::int64_t& zero_ns, char (&why)[kReasonBytes]) const;

 private:
  std::int64_t zero_ns_ = 0;
  std::int64_t clock_ns_ = 0;
  std::int64_t call_ns_ = kNotMeasured;
};

/// The zeroing pass. Measures every memset to zero inside calloc and inside free, and the calls to calloc and free
/// themselves, in nanoseconds.
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

/// The differential pass. Measures the time of a malloc, whose block is freed at once, and then of a calloc of the same
/// size. The difference counts as the time of zeroing, unless the measurements contradict this (examine_difference). As
/// long as calls to memset are few, the clock around memset also runs, so that both results can be compared call by
/// call.
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
