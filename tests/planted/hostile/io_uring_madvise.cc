// By requests to an io_uring, drops the pages of the kept block and has the kernel populate the pages again. Stores
// nothing.
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hostile.h"

namespace {

/// Returns false if there is no io_uring.
bool drop_by_ring(char* block, std::size_t bytes) {
  io_uring_params params{};
  const int ring = static_cast<int>(::syscall(SYS_io_uring_setup, 1, &params));
  if (ring < 0) return false;
  const std::size_t room = params.sq_off.array + params.sq_entries * sizeof(unsigned);
  auto* queue = static_cast<char*>(
      ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING));
  auto* entries = static_cast<io_uring_sqe*>(
      ::mmap(nullptr, sizeof(io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES));
  io_uring_sqe& entry = entries[0];
  entry.opcode = IORING_OP_MADVISE;
  entry.addr = reinterpret_cast<std::uint64_t>(block);
  entry.len = static_cast<unsigned>(bytes);
  entry.fadvise_advice = MADV_DONTNEED;
  reinterpret_cast<unsigned*>(queue + params.sq_off.array)[0] = 0;
  __atomic_store_n(reinterpret_cast<unsigned*>(queue + params.sq_off.tail), 1, __ATOMIC_RELEASE);
  const bool done = ::syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0) == 1;
  ::munmap(queue, room);
  ::munmap(entries, sizeof(io_uring_sqe));
  ::close(ring);
  return done;
}

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    if (!drop_by_ring(block, page_ceiling(size))) ::madvise(block, page_ceiling(size), MADV_DONTNEED);
    ::madvise(block, page_ceiling(size), 23);  // MADV_POPULATE_WRITE
  });
}
