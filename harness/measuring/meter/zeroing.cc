#include "meter/zeroing.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "meter/difference.h"
#include "os/clock.h"

namespace zerotax {
namespace {

/// With more memsets than this in a calloc, listening to each would be a good part of the call.
constexpr std::int64_t kFewStores = 16;

/// The middle one of an odd number of values.
template <std::size_t N>
double median(double (&values)[N]) {
  std::nth_element(&values[0], &values[N / 2], &values[N]);
  return values[N / 2];
}

}  // namespace

ZeroingClock::ZeroingClock(SampleBlock& samples) {
  samples.got_slots = static_cast<std::uint32_t>(ZeroingHook::install());
  calibrate();
}

void ZeroingClock::calibrate() {
  constexpr int kRounds = 101;
  constexpr int kPairs = 16;
  double windows[kRounds];
  double whole[kRounds];
  // Through the interface, as the hook calls it.
  auto* volatile hidden = static_cast<ZeroingHook::Listener*>(this);
  for (int round = 0; round < kRounds; ++round) {
    sum_ = 0;
    const std::int64_t start = monotonic_ns();
    for (int pair = 0; pair < kPairs; ++pair) {
      ZeroingHook::Listener* listener = hidden;
      listener->before_zeroing(nullptr, 0);
      listener->after_zeroing(nullptr, 0);
    }
    const std::int64_t took = monotonic_ns() - start;
    windows[round] = static_cast<double>(sum_) / kPairs;
    // Less the last reading.
    whole[round] = (static_cast<double>(took) - windows[round]) / kPairs;
  }
  window_ns_ = median(windows);
  listening_ns_ = std::max(median(whole), window_ns_);
}

void ZeroingClock::start() {
  sum_ = 0;
  stores_ = 0;
  ZeroingHook::listen(this);
}

MemsetTime ZeroingClock::stop() {
  ZeroingHook::listen(nullptr);
  const auto stores = static_cast<double>(stores_);
  const std::int64_t clock = std::min(static_cast<std::int64_t>(std::ceil(stores * window_ns_)), sum_);
  return {sum_ - clock, clock, static_cast<std::int64_t>(stores * listening_ns_), stores_};
}

void ZeroingClock::before_zeroing(void* /*target*/, std::size_t /*bytes*/) { started_ = monotonic_ns(); }

void ZeroingClock::after_zeroing(void* /*target*/, std::size_t /*bytes*/) {
  sum_ += monotonic_ns() - started_;
  ++stores_;
}

void ZeroingSum::add(const MemsetTime& found, std::int64_t call_ns) {
  zero_ns_ += found.zero_ns;
  clock_ns_ += found.clock_ns;
  add_to(call_ns_, std::max(call_ns - found.listening_ns, found.zero_ns));
}

void ZeroingSum::write(std::int64_t& call_ns, std::int64_t& zero_ns, char (&why)[kReasonBytes]) const {
  if (call_ns_ == kNotMeasured) return;
  call_ns = call_ns_;
  if (clock_ns_ > zero_ns_) {
    say(why, "the memsets are too short to time: most of what a clock around each measures is the clock's own time");
    return;
  }
  zero_ns = zero_ns_;
}

void ZeroingMeter::begin_operation(OpSample& op) {
  op_ = &op;
  in_calloc_.clear();
  in_free_.clear();
}

void* ZeroingMeter::allocate(std::size_t bytes) {
  clock_.start();
  const std::int64_t before = monotonic_ns();
  void* block = call_allocator(bytes);
  const std::int64_t after = monotonic_ns();
  in_calloc_.add(clock_.stop(), after - before);
  escape(block);
  return block;
}

void ZeroingMeter::release(void* block) {
  clock_.start();
  const std::int64_t before = monotonic_ns();
  std::free(block);
  const std::int64_t after = monotonic_ns();
  in_free_.add(clock_.stop(), after - before);
}

void ZeroingMeter::end_operation() {
  in_calloc_.write(op_->calloc_ns, op_->zero_ns, samples_.na_zero_ns);
  in_free_.write(op_->free_ns, op_->zero_in_free_ns, samples_.na_zero_in_free_ns);
}

void DifferentialMeter::begin_operation(OpSample& op) {
  op_ = &op;
  in_calloc_.clear();
}

void* DifferentialMeter::allocate(std::size_t bytes) {
  const std::int64_t before_malloc = monotonic_ns();
  void* plain = std::malloc(bytes);
  const std::int64_t after_malloc = monotonic_ns();
  escape(plain);
  std::free(plain);
  if (listening_) clock_.start();
  const std::int64_t before_calloc = monotonic_ns();
  void* block = std::calloc(bytes, 1);
  const std::int64_t after_calloc = monotonic_ns();
  escape(block);
  const MemsetTime found = listening_ ? clock_.stop() : MemsetTime{};
  in_calloc_.add(found, after_calloc - before_calloc);
  add_to(op_->malloc_ns, after_malloc - before_malloc);
  if (found.stores > kFewStores) listening_ = false;
  return block;
}

void DifferentialMeter::release(void* block) { std::free(block); }

void DifferentialMeter::end_operation() {
  // The sample block's reason is for the difference.
  char unused[kReasonBytes];
  in_calloc_.write(op_->calloc_ns, op_->zero_ns, unused);
  if (!listening_) op_->zero_ns = kNotMeasured;
}

void DifferentialMeter::finish() { examine_difference(samples_); }

}  // namespace zerotax
