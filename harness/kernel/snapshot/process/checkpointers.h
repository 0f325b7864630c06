#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "snapshot/process/control.h"

namespace snapshot {

/// A part of the array, in bytes from its beginning.
struct Batch {
  std::uint64_t offset;
  std::uint64_t bytes;
};

/// Copies a part of the array, unchanged.
void copy_bytes(const Job& job, Batch part);

/// The threads that make the snapshot, batch by batch, the first of N taking the batches 0, N, 2 N and so on. Counts
/// the batches, keeps the hold, and reports when all are done.
class Checkpointers {
 public:
  using Take = std::function<void(Batch)>;
  /// `take` copies one batch, and does what is to be done with it afterwards.
  Checkpointers(const Job& job, Take take);
  ~Checkpointers() { join(); }
  Checkpointers(const Checkpointers&) = delete;
  Checkpointers& operator=(const Checkpointers&) = delete;
  void join();

 private:
  void work(unsigned first);

  const Job& job_;
  Take take_;
  std::vector<std::thread> threads_;
};

/// Waits, with almost no CPU time, until the function returns true.
void wait_until(const std::function<bool()>& is_so);

}  // namespace snapshot
