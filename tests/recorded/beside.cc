// Causes costs other than zeroing. Usage: beside WAY.
// `memfd`, `shm`, `sysv`: writes 64 MiB of shared memory.
// `unmapped`: writes 64 MiB of shared memory, and unmaps it a moment later.
// `reads`: reads 64 MiB from calloc, and a second block, which the program wrote.
// `freed`: like `reads`, and frees both blocks.
// `pinned`: pins 16 MiB, which three forks copy. The status is 77 if pinning is not permitted.
// `exit`: writes 512 MiB, and leaves the memory to the kernel.
// `none`: no such cost.
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr std::size_t kBytes = std::size_t{64} << 20;

void* mapped(int file) {
  if (file < 0 || ftruncate(file, kBytes) != 0) std::exit(3);
  return mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

void* shared(const std::string& way) {
  if (way == "sysv") {
    const int id = shmget(IPC_PRIVATE, kBytes, IPC_CREAT | 0600);
    void* const memory = shmat(id, nullptr, 0);
    shmctl(id, IPC_RMID, nullptr);
    return memory;
  }
  if (way != "shm") return mapped(memfd_create("beside", 0));
  const std::string name = "/zerotax-beside-" + std::to_string(getpid());
  const int file = shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
  shm_unlink(name.c_str());
  return mapped(file);
}

int fork_with_pinned() {
  constexpr std::size_t kPinned = kBytes / 4;
  io_uring_params parameters{};
  const auto ring = static_cast<int>(syscall(SYS_io_uring_setup, 4, &parameters));
  void* const memory = mmap(nullptr, kPinned, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(memory, 1, kPinned);
  iovec range{memory, kPinned};
  if (ring < 0 || syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &range, 1) != 0) return 77;
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
  }
  return 0;
}

long read_all(const volatile char* block) {
  long sum = 0;
  for (std::size_t i = 0; i < kBytes; i += 4096) sum += block[i];
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "none";
  if (way == "reads" || way == "freed") {
    auto* const unwritten = static_cast<char*>(std::calloc(1, kBytes));
    auto* const written = static_cast<char*>(std::malloc(kBytes));
    std::memset(written, 1, kBytes);
    std::printf("%ld\n", read_all(unwritten) + read_all(written));
    if (way == "freed") {
      std::free(unwritten);
      std::free(written);
    }
  } else if (way == "pinned") {
    return fork_with_pinned();
  } else if (way == "exit") {
    std::memset(std::malloc(8 * kBytes), 1, 8 * kBytes);
  } else if (way != "none") {
    void* const memory = shared(way);
    if (memory == MAP_FAILED) return 3;
    std::memset(memory, 1, kBytes);
    if (way == "unmapped") {
      usleep(300'000);
      munmap(memory, kBytes);
    }
  }
  return 0;  // NOLINT(clang-analyzer-unix.Malloc): the blocks are kept to the end
}
