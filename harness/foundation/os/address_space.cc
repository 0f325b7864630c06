#include "os/address_space.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "os/unique_fd.h"

namespace zerotax {
namespace {

/// Returns the number that the whole name spells, or 0 for any other name.
int number_of(const char* name) {
  int number = 0;
  for (; *name >= '0' && *name <= '9'; ++name) number = 10 * number + (*name - '0');
  return *name == '\0' ? number : 0;
}

/// struct linux_dirent64, which the C library's headers do not declare under this name.
struct Entry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[1];
};

bool is_same_memory_as_another() {
  const UniqueFd processes(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!processes) return false;
  const int self = ::getpid();
  alignas(Entry) char entries[4096];
  for (;;) {
    const long got = ::syscall(SYS_getdents64, processes.get(), &entries[0], sizeof entries);
    if (got <= 0) return false;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const Entry*>(&entries[at]);
      const int process = number_of(&entry->name[0]);
      if (process > 0 && process != self && share_memory(self, process)) return true;
      at += entry->bytes;
    }
  }
}

/// Counts threads by the links of /proc/self/task. A folder has two links and one more for each subfolder, and each
/// thread has a subfolder there.
bool has_one_thread() {
  struct stat task {};
  return ::stat("/proc/self/task", &task) == 0 && task.st_nlink == 3;
}

}  // namespace

bool share_memory(int process, int other) { return ::syscall(SYS_kcmp, process, other, KCMP_VM, 0, 0) == 0; }

bool memory_is_unshared() {
  if (::syscall(SYS_unshare, CLONE_VM) == 0) return true;
  return errno != EINVAL && has_one_thread() && !is_same_memory_as_another();
}

bool another_process_has_this_memory() {
  if (::syscall(SYS_unshare, CLONE_VM) == 0) return false;
  return (errno == EINVAL && has_one_thread()) || is_same_memory_as_another();
}

}  // namespace zerotax
