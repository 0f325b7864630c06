#pragma once

#include <sys/types.h>

#include "snapshot/process/alternative.h"
#include "snapshot/process/checkpointers.h"

namespace snapshot {

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

 private:
  [[noreturn]] void be_child(const Job& job);
};

}  // namespace snapshot
