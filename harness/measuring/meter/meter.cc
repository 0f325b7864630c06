#include "meter/meter.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "meter/fork_writes.h"
#include "os/clock.h"
#include "os/faults.h"
#include "os/page.h"

namespace zerotax {
namespace {

/// Returns the number of pages in a fraction of a block, rounded up.
std::size_t pages_of(AddressRange block, double fraction) {
  const std::size_t pages = block.pages().bytes() / page_bytes();
  return fraction <= 0 ? 0 : static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(pages)));
}

}  // namespace

void* Meter::call_allocator(std::size_t bytes) const { return mallocs_ ? std::malloc(bytes) : std::calloc(bytes, 1); }

void Meter::touch(void* block, std::size_t bytes, double fraction) {
  const AddressRange range = range_of(block, bytes);
  const std::size_t pages = pages_of(range, fraction);
  const std::size_t page_size = page_bytes();
  for (std::size_t page = 0; page < pages; ++page) *byte_in_page(range, page, page_size) = 0xa5;
}

void Meter::read(void* block, std::size_t bytes, double fraction) {
  const AddressRange range = range_of(block, bytes);
  const std::size_t pages = pages_of(range, fraction);
  const std::size_t page_size = page_bytes();
  for (std::size_t page = 0; page < pages; ++page) static_cast<void>(*byte_in_page(range, page, page_size));
}

void Meter::end_receive(std::size_t bytes) { add_to(received_, static_cast<std::int64_t>(bytes)); }

std::int64_t Meter::take_received() {
  const std::int64_t received = received_;
  if (received != kNotMeasured) received_ = 0;
  return received;
}

void clear_operation(OpSample& op) {
  op = {};
  for (std::int64_t OpSample::*figure : kOpFigures) {
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
  void* block = call_allocator(bytes);
  const std::int64_t end = monotonic_ns();
  escape(block);
  add_to(op_->calloc_ns, end - start);
  if (faults >= 0) add_to(op_->calloc_faults, thread_minor_faults() - faults);
  return block;
}

template <typename Touch>
void TimingMeter::time_touch(const Touch& touch) {
  const std::int64_t faults = thread_minor_faults();
  const std::int64_t start = monotonic_ns();
  touch();
  const std::int64_t end = monotonic_ns();
  add_to(op_->touch_ns, end - start);
  if (faults >= 0) add_to(op_->touch_faults, thread_minor_faults() - faults);
}

void TimingMeter::touch(void* block, std::size_t bytes, double fraction) {
  time_touch([&] { Meter::touch(block, bytes, fraction); });
}

void TimingMeter::read(void* block, std::size_t bytes, double fraction) {
  time_touch([&] { Meter::read(block, bytes, fraction); });
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
  void* block = call_allocator(bytes);
  escape(block);
  return block;
}

void BareMeter::release(void* block) { std::free(block); }

namespace {

// The list is linked through the registrations, because registering runs in the measured process and must not allocate.
const CaseRegistration* first = nullptr;

}  // namespace

CaseRegistration::CaseRegistration(const Case& registered) : case_(registered), next_(first) { first = this; }

const Case* find_case(const char* name) {
  for (const CaseRegistration* entry = first; entry != nullptr; entry = entry->next_) {
    if (std::strcmp(entry->case_.name, name) == 0) return &entry->case_;
  }
  return nullptr;
}

void for_each_case(void (*visit)(const Case&)) {
  for (const CaseRegistration* entry = first; entry != nullptr; entry = entry->next_) {
    visit(entry->case_);
  }
}

}  // namespace zerotax
