#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <thread>

#include "os/faults.h"
#include "snapshot/process/alternative.h"
#include "snapshot/process/copying.h"
#include "snapshot/process/run_block.h"

namespace zerotax::snapshot {

/// A thread that runs beside the writers and spares them page faults. The thread measures its own times and faults.
class Helper {
 public:
  Helper() = default;
  ~Helper() { join(); }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  /// `work` returns the number of bytes that it could not make writable.
  void start(std::function<std::uint64_t()> work);
  void join();

  /// Adds the helper's times and faults. Call join() first.
  void add_to(RunMetrics& metrics) const;

 private:
  std::thread thread_;
  pid_t tid_ = 0;
  ThreadUsage usage_;
  std::int64_t bulk_faults_ = 0;
  std::int64_t begin_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::uint64_t failed_bytes_ = 0;
};

/// An alternative in which a forked child holds the snapshot. The child's threads copy the snapshot, and the child
/// ends.
class ForkedChild : public Alternative {
 public:
  void begin(Job& job) override;
  void finish(Job& job) override;

 protected:
  /// Copies a batch, in the child.
  virtual void copy(const Job&, Batch);
  /// Called in the child after a batch was copied.
  virtual void after_batch(const Job&, Batch) {}
  /// Called in the child after all batches were copied.
  virtual void before_exit(const Job&) {}
  /// Unmaps a batch, in the child, and counts it. Returns whether the batch was unmapped.
  static bool unmap(const Job&, Batch);
  /// Verifies, in the child, a snapshot that only the child can see. Timing runs skip the verification, because it
  /// takes time.
  static void check_unseen(const Job&);

 private:
  [[noreturn]] void be_child(const Job& job);
};

/// Like fork, but after the child's end a helper thread makes the parent's pages writable again. The writers then need
/// no fault for each page.
class RemediedChild : public ForkedChild {
 public:
  void after_end(Job& job) override;
  [[nodiscard]] const Helper* helper() const override { return &helper_; }

 protected:
  /// Runs on the helper thread. Returns the number of bytes that remain unwritable.
  virtual std::uint64_t make_writable(const Job& job) = 0;

 private:
  Helper helper_;
};

}  // namespace zerotax::snapshot
