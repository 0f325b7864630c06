#pragma once

#include <cstddef>

#include "meter/sample_block.h"

namespace zerotax {

class ForkSteps;

/// The interface through which a case does its work. Each pass is a Meter, and a case does not know which pass it runs
/// in.
class Meter {
 public:
  Meter() = default;
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  virtual ~Meter() = default;

  /// Makes the measured call: calloc(bytes, 1), or malloc(bytes) for a case that uses malloc. Returns NULL if the
  /// allocator fails.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Writes one non-zero byte to each page of the first `fraction` of the block's pages (rounded up).
  virtual void touch(void* block, std::size_t bytes, double fraction);
  /// Reads one byte of each page of the first `fraction` of the block's pages. Reads count as touching, and their time
  /// as touch time.
  virtual void read(void* block, std::size_t bytes, double fraction);
  /// Call these two functions around writes to a block without touch(), such as the writes of a receive. These writes
  /// count as touching, and their time counts as touch time. `bytes` is the number of bytes received.
  virtual void begin_receive() {}
  virtual void end_receive(std::size_t bytes);
  /// Makes the measured fork, and then the first writes to the block (meter/fork_writes.h). Returns false if fail() was
  /// called.
  virtual bool fork_and_write(void* block, std::size_t bytes);
  /// Makes the measured free.
  virtual void release(void* block) = 0;

  /// Called before and after each operation of the case. An operation may allocate several blocks; its metrics are sums
  /// over these blocks.
  virtual void begin_operation(OpSample& /*op*/) {}
  virtual void end_operation() {}
  /// Called once, after all operations.
  virtual void finish() {}

  /// Makes allocate() call malloc from now on.
  void use_malloc() { mallocs_ = true; }

  /// Records why the operation cannot continue, for a cause other than the allocator. `why` must be a static text.
  void fail(const char* why) { failure_ = why; }
  [[nodiscard]] const char* failure() const { return failure_; }

  /// Returns the bytes received since the last call of this function, or kNotMeasured if nothing was ever received.
  std::int64_t take_received();

 protected:
  /// Calls calloc or malloc, and does nothing else.
  [[nodiscard]] void* call_allocator(std::size_t bytes) const;
  [[nodiscard]] bool mallocs() const { return mallocs_; }
  /// Calls zerotax::fork_and_write with these steps, and passes a failure to fail().
  bool fork_in_steps(void* block, std::size_t bytes, ForkSteps& steps, ForkSample& sample);

 private:
  const char* failure_ = nullptr;
  std::int64_t received_ = kNotMeasured;
  bool mallocs_ = false;
};

/// Sets all metrics of an operation to kNotMeasured.
void clear_operation(OpSample& op);

/// Adds to a metric of an operation that may not have been measured yet.
void add_to(std::int64_t& figure, std::int64_t more);

/// Measures times of calloc, touch and free, and their minor faults.
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
  /// Measures a touch, between two readings of clock and counter.
  template <typename Touch>
  void time_touch(const Touch& touch);

  OpSample* op_ = nullptr;
  std::int64_t receive_faults_ = 0;
  std::int64_t receive_start_ = 0;
};

/// Makes the calls without measuring.
class BareMeter : public Meter {
 public:
  void* allocate(std::size_t bytes) override;
  void release(void* block) override;
};

/// Keeps the compiler from removing an allocation or its contents.
inline void escape(void* pointer) { asm volatile("" : : "g"(pointer) : "memory"); }

/// A case. The operation of a case is work that programs repeat. The probe repeats the operation `ops` times in each
/// pass.
struct Case {
  const char* name;     ///< name as in --case
  const char* summary;  ///< one line for `zerotax list`
  /// Returns false if the allocator gave no memory, or after Meter::fail.
  bool (*operation)(Meter& meter, const Request& request);
  /// Prepares what the first operation needs, such as a connection. Runs on the thread of the operations, before any
  /// meter is made. Returns nullptr, or the reason for a failure as a static text. May allocate, but no large block,
  /// because the first large block of the process must belong to operation 1.
  const char* (*begin)(const Request& request) = nullptr;
  /// Runs after the last operation, if `begin` succeeded.
  void (*end)() = nullptr;
  /// Whether operations call Meter::end_receive. If so, bytes received are a metric of the point.
  bool receives = false;
  /// Whether operations call Meter::fork_and_write. If so, there is a faults pass, and the point has metrics of the
  /// fork.
  bool forks = false;
  /// Whether Meter::allocate calls malloc instead of calloc for this case.
  bool mallocs = false;
  /// Maximum memory that an operation needs, as a multiple of the block's size.
  double memory = 1;
};

/// Registers a case. A new case needs only one static object of this kind, in cases/<name>/case.cc.
class CaseRegistration {
 public:
  explicit CaseRegistration(const Case& registered);

 private:
  friend const Case* find_case(const char* name);
  friend void for_each_case(void (*visit)(const Case&));
  const Case& case_;
  const CaseRegistration* next_;
};

/// Returns the case with this name, or nullptr.
const Case* find_case(const char* name);
void for_each_case(void (*visit)(const Case&));

}  // namespace zerotax
