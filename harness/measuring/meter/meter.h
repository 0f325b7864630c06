#pragma once

#include <cstddef>

#include "meter/sample_block.h"

namespace zerotax {

class ForkSteps;

/// What a case does its work through. A pass is a Meter; a case does not know which.
class Meter {
 public:
  Meter() = default;
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  virtual ~Meter() = default;

  /// The measured calloc(bytes, 1), or malloc(bytes) for a case that says so. NULL if the allocator gave none.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Writes one non-zero byte to each page of the first `fraction` of the block's pages (rounded up).
  virtual void touch(void* block, std::size_t bytes, double fraction);
  /// Reads one byte of each page of the first `fraction` of the block's pages: counted and timed as touching.
  virtual void read(void* block, std::size_t bytes, double fraction);
  /// Around writes to a block other than touch(), such as those of a receive. They are timed and counted as touching;
  /// `bytes`: how many were received.
  virtual void begin_receive() {}
  virtual void end_receive(std::size_t bytes);
  /// The measured fork, and the first writes to the block after it (meter/fork_writes.h). Returns false after fail().
  virtual bool fork_and_write(void* block, std::size_t bytes);
  /// The measured free.
  virtual void release(void* block) = 0;

  /// Called before and after each operation of the case, which may allocate several blocks: figures are their sums.
  virtual void begin_operation(OpSample& /*op*/) {}
  virtual void end_operation() {}
  /// Called once, when every operation was made.
  virtual void finish() {}

  /// From now on, allocate() is malloc.
  void use_malloc() { mallocs_ = true; }

  /// Why the operation cannot continue, for a cause other than the allocator: a text that stays.
  void fail(const char* why) { failure_ = why; }
  [[nodiscard]] const char* failure() const { return failure_; }

  /// Bytes received since the last call of this, or kNotMeasured if nothing was ever received.
  std::int64_t take_received();

 protected:
  /// calloc or malloc, and nothing else.
  [[nodiscard]] void* call_allocator(std::size_t bytes) const;
  [[nodiscard]] bool mallocs() const { return mallocs_; }
  /// zerotax::fork_and_write with these steps, its failure passed to fail().
  bool fork_in_steps(void* block, std::size_t bytes, ForkSteps& steps, ForkSample& sample);

 private:
  const char* failure_ = nullptr;
  std::int64_t received_ = kNotMeasured;
  bool mallocs_ = false;
};

/// Sets every figure of an operation to kNotMeasured.
void clear_operation(OpSample& op);

/// Adds to a figure of an operation that may not have been measured yet.
void add_to(std::int64_t& figure, std::int64_t more);

/// Clocks around calloc, touch and free, and minor faults between them.
class TimingMeter : public Meter {
 public:
  void* allocate(std::size_t bytes) override;
  void touch(void* block, std::size_t bytes, double fraction) override;
  void read(void* block, std::size_t bytes, double fraction) override;
  void begin_receive() override;
  void end_receive(std::size_t bytes) override;
  bool fork_and_write(void* block, std::size_t bytes) override;
  void release(void* block) override;
  void begin_operation(OpSample& op) override;

 private:
  /// Between two clocks and counters.
  template <typename Touch>
  void time_touch(const Touch& touch);

  OpSample* op_ = nullptr;
  std::int64_t receive_faults_ = 0;
  std::int64_t receive_start_ = 0;
};

/// Nothing but the calls.
class BareMeter : public Meter {
 public:
  void* allocate(std::size_t bytes) override;
  void release(void* block) override;
};

/// Keeps the compiler from removing an allocation or its contents.
inline void escape(void* pointer) { asm volatile("" : : "g"(pointer) : "memory"); }

/// One operation of a case is what a program repeats; the probe repeats it `ops` times in each pass.
struct Case {
  const char* name;     ///< as in --case
  const char* summary;  ///< one line for `zerotax list`
  /// Returns false when the allocator gave no memory, or after Meter::fail.
  bool (*operation)(Meter& meter, const Request& request);
  /// What must be there before the first operation, as a connection: on the thread of the operations, before any meter
  /// is made. Returns nullptr, or why it failed: a text that stays. May allocate, but no large block: the first one of
  /// the process is operation 1.
  const char* (*begin)(const Request& request) = nullptr;
  /// After the last operation, if `begin` succeeded.
  void (*end)() = nullptr;
  /// Whether operations call Meter::end_receive: then bytes received are a metric of the point.
  bool receives = false;
  /// Whether operations call Meter::fork_and_write: then there is a faults pass, and the fork has metrics of the point.
  bool forks = false;
  /// Whether Meter::allocate is malloc for this case, and not calloc.
  bool mallocs = false;
  /// How many times the block's size an operation needs of memory at most.
  double memory = 1;
};

/// Registers a case: one static object of this kind in cases/<name>/case.cc is all that a new case needs.
class CaseRegistration {
 public:
  explicit CaseRegistration(const Case& registered);

 private:
  friend const Case* find_case(const char* name);
  friend void for_each_case(void (*visit)(const Case&));
  const Case& case_;
  const CaseRegistration* next_;
};

/// The case of this name, or nullptr.
const Case* find_case(const char* name);
void for_each_case(void (*visit)(const Case&));

}  // namespace zerotax
