#include "meter/meter.h"

#include <cmath>
#include <cstdlib>
#include <initializer_list>

#include "meter/fork_writes.h"
#include "os/clock.h"
#include "os/faults.h"
#include "os/page.h"

namespace zerotax {

void Meter::touch(void* block, std::size_t bytes, double fraction) {
  if (fraction <= 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const AddressRange range{begin, begin + bytes};
  const auto pages = static_cast<double>(range.pages().bytes() / kPageBytes);
  const auto touched = static_cast<std::size_t>(std::ceil(fraction * pages));
  for (std::size_t page = 0; page < touched; ++page) *byte_in_page(range, page) = 0xa5;
}

void Meter::end_receive(std::size_t bytes) { add_to(received_, static_cast<std::int64_t>(bytes)); }

std::int64_t Meter::take_received() {
  const std::int64_t received = received_;
  if (received != kNotMeasured) received_ = 0;
  return received;
}

void clear_operation(OpSample& op) {
  op = {};
  for (std::int64_t OpSample::*figure :
       {&OpSample::calloc_ns, &OpSample::touch_ns, &OpSample::free_ns, &OpSample::malloc_ns, &OpSample::zero_ns,
        &OpSample::zeroed_bytes, &OpSample::redundant_zeroed_bytes, &OpSample::populated_bytes,
        &OpSample::touch_populated_bytes, &OpSample::zero_in_free_ns, &OpSample::zeroed_in_free_bytes,
        &OpSample::redundant_zeroed_in_free_bytes, &OpSample::calloc_faults, &OpSample::touch_faults,
        &OpSample::free_faults, &OpSample::received_bytes}) {
    op.*figure = kNotMeasured;
  }
  constexpr WriteSample kNoWrites{kNotMeasured, kNotMeasured, kNotMeasured, kNotMeasured, kNotMeasured, kNotMeasured};
  op.fork = {kNotMeasured, kNotMeasured, kNotMeasured, kNotMeasured, kNoWrites, kNoWrites};
}

void add_to(std::int64_t& figure, std::int64_t more) { figure = figure == kNotMeasured ? more : figure + more; }

void TimingMeter::begin_operation(OpSample& op) { op_ = &op; }

void* TimingMeter::allocate(std::size_t bytes) {
  const std::int64_t faults = thread_minor_faults();
  const std::int64_t start = monotonic_ns();
  void* block = std::calloc(bytes, 1);
  const std::int64_t end = monotonic_ns();
  escape(block);
  add_to(op_->calloc_ns, end - start);
  if (faults >= 0) add_to(op_->calloc_faults, thread_minor_faults() - faults);
  return block;
}

void TimingMeter::touch(void* block, std::size_t bytes, double fraction) {
  const std::int64_t faults = thread_minor_faults();
  const std::int64_t start = monotonic_ns();
  Meter::touch(block, bytes, fraction);
  const std::int64_t end = monotonic_ns();
  add_to(op_->touch_ns, end - start);
  if (faults >= 0) add_to(op_->touch_faults, thread_minor_faults() - faults);
}

void TimingMeter::begin_receive() {
  receive_faults_ = thread_minor_faults();
  receive_start_ = monotonic_ns();
}

void TimingMeter::end_receive(std::size_t bytes) {
  add_to(op_->touch_ns, monotonic_ns() - receive_start_);
  if (receive_faults_ >= 0) add_to(op_->touch_faults, thread_minor_faults() - receive_faults_);
  Meter::end_receive(bytes);
}

bool Meter::fork_and_write(void* block, std::size_t bytes) {
  ForkSteps steps;
  ForkSample unused{};
  return fork_in_steps(block, bytes, steps, unused);
}

bool Meter::fork_in_steps(void* block, std::size_t bytes, ForkSteps& steps, ForkSample& sample) {
  const char* why = zerotax::fork_and_write(block, bytes, steps, sample);
  if (why != nullptr) fail(why);
  return why == nullptr;
}

bool TimingMeter::fork_and_write(void* block, std::size_t bytes) {
  TimedForkSteps steps(op_->fork);
  return fork_in_steps(block, bytes, steps, op_->fork);
}

void TimingMeter::release(void* block) {
  const std::int64_t faults = thread_minor_faults();
  const std::int64_t start = monotonic_ns();
  std::free(block);
  const std::int64_t end = monotonic_ns();
  add_to(op_->free_ns, end - start);
  if (faults >= 0) add_to(op_->free_faults, thread_minor_faults() - faults);
}

void* BareMeter::allocate(std::size_t bytes) {
  void* block = std::calloc(bytes, 1);
  escape(block);
  return block;
}

void BareMeter::release(void* block) { std::free(block); }

}  // namespace zerotax
