#pragma once

#include "meter/fork_writes.h"
#include "meter/meter.h"
#include "os/held_memory.h"
#include "os/pagemap.h"
#include "os/range_list.h"

namespace zerotax {

/// The faults pass of a case that forks. Classifies each fault of the first writes, by reading the pagemap at each
/// write (docs/method.md, "Fork"). All processes stay on one CPU. Otherwise, a page that another CPU's LRU batch still
/// references would be copied even if no process shares the page.
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
  const Pagemap* own_ = &pagemap_;  ///< pagemap of the current process
  RangeList populated_;
};

/// The held pass. Measures the memory that the process holds after touching, and after free. The times of this pass are
/// meaningless.
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
