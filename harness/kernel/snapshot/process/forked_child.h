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

/// A thread beside the writers that does what would otherwise cost them page faults, and what that took.
class Helper {
 public:
  Helper() = default;
  ~Helper() { join(); }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  /// `work` returns the bytes that it could not do anything for.
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

/// The snapshot is what a forked child sees; its threads copy it, and it ends.
class ForkedChild : public Alternative {
 public:
  void begin(Job& job) override;
  void finish(Job& job) override;

 protected:
  /// In the child: copies a batch.
  virtual void copy(const Job&, Batch);
  /// What the child does with a batch that it has copied.
  virtual void after_batch(const Job&, Batch) {}
  /// What the child does when it has copied all.
  virtual void before_exit(const Job&) {}
  /// In the child: unmaps a batch, and counts it. Returns whether it was unmapped.
  static bool unmap(const Job&, Batch);
  /// In the child: verifies a snapshot that only the child can see. Runs that measure times skip it, as it takes time.
  static void check_unseen(const Job&);

 private:
  [[noreturn]] void be_child(const Job& job);
};

/// As fork; and when the child has ended, a helper thread makes the parent's pages writable again, so that the writers
/// need not do it by a fault each.
class RemediedChild : public ForkedChild {
 public:
  void after_end(Job& job) override;
  [[nodiscard]] const Helper* helper() const override { return &helper_; }

 protected:
  /// On the helper thread. Returns the bytes that it could not do anything for.
  virtual std::uint64_t make_writable(const Job& job) = 0;

 private:
  Helper helper_;
};

}  // namespace zerotax::snapshot
