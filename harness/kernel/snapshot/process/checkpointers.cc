#include "snapshot/process/checkpointers.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "os/clock.h"

namespace snapshot {

void wait_until(const std::function<bool()>& is_so) {
  while (!is_so()) std::this_thread::sleep_for(std::chrono::microseconds(200));
}

void copy_bytes(const Job& job, Batch part) { std::memcpy(job.copy + part.offset, job.at(part.offset), part.bytes); }

Checkpointers::Checkpointers(const Job& job, Take take) : job_(job), take_(std::move(take)) {
  for (unsigned i = 0; i < job_.parameters.checkpointers; ++i) threads_.emplace_back([this, i] { work(i); });
}

void Checkpointers::join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Checkpointers::work(unsigned first) {
  const Parameters& parameters = job_.parameters;
  const std::uint64_t batches = parameters.batches();
  for (std::uint64_t i = first; i < batches; i += parameters.checkpointers) {
    if (i >= parameters.held_batches()) wait_until([&] { return job_.control->writers_running == 0; });
    const std::uint64_t offset = i * parameters.batch_bytes;
    take_({offset, std::min(parameters.batch_bytes, parameters.array_bytes - offset)});
    if (++job_.control->batches_done == batches) job_.control->complete_ns = zerotax::monotonic_ns();
  }
}

}  // namespace snapshot
