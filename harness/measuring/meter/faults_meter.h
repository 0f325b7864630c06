#pragma once

#include "meter/fork_writes.h"
#include "meter/meter.h"
#include "os/held_memory.h"
#include "os/pagemap.h"
#include "os/range_list.h"

namespace zerotax {

/// The faults pass of a case that forks: the class of each fault of the first writes, found write by write in the
/// pagemap. docs/method.md, "Fork". Everything stays on one CPU, for a page whose last reference lies in another CPU's
/// list is copied though nobody shares it.
class FaultsMeter final : public BareMeter, private ForkSteps {
 public:
  explicit FaultsMeter(SampleBlock& samples);

  bool fork_and_write(void* block, std::size_t bytes) override;
  void begin_operation(OpSample& op) override { op_ = &op; }

 private:
  void before_fork(const AddressRange& block) override;
  void child_begins() override;
  void write(const AddressRange& block, std::size_t pages, WriteSample& sample) override;

  SampleBlock& samples_;
  OpSample* op_ = nullptr;
  Pagemap pagemap_;
  const Pagemap* own_ = &pagemap_;  ///< of the process that we are in
  RangeList populated_;
};

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
