#include "snapshot/process/copying.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "os/clock.h"
#include "os/faults.h"
#include "os/page.h"

namespace zerotax::snapshot {
namespace {

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, include/uapi/asm-generic/mman-common.h

thread_local std::int64_t populated_faults = 0;

}  // namespace

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
    if (++job_.control->batches_done == batches) job_.control->complete_ns = monotonic_ns();
  }
}

bool populate_for_writing(void* begin, std::uint64_t bytes) {
  const std::int64_t before = thread_usage().minor_faults;
  const bool done = ::madvise(begin, bytes, kPopulateWrite) == 0;
  populated_faults += thread_usage().minor_faults - before;
  return done;
}

std::int64_t faults_of_populating() { return populated_faults; }

std::string why_not_on_memory(std::size_t bytes, const std::string& what, const std::function<bool(void*)>& works) {
  void* pages = ::mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return std::string("mmap: ") + std::strerror(errno);
  const auto begin = (reinterpret_cast<std::uintptr_t>(pages) + bytes - 1) & ~(bytes - 1);
  std::string why;
  if (!works(reinterpret_cast<void*>(begin))) {  // NOLINT(performance-no-int-to-ptr)
    why = what + ": " + std::strerror(errno);
  }
  ::munmap(pages, 2 * bytes);
  return why;
}

std::string why_no_populating() {
  return why_not_on_memory(page_bytes(), "this kernel has no MADV_POPULATE_WRITE (needs Linux 5.14 or later)",
                           [](void* page) { return populate_for_writing(page, page_bytes()); });
}

}  // namespace zerotax::snapshot
