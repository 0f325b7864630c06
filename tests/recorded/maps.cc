// Makes the kernel copy, zero or take back memory by methods that are easily confused. Usage: maps WAY FILE.
// Each method writes 20 MiB, one byte per page. The number of zeroed bytes is in record_maps_test.py.
// `file`: a private mapping of FILE, which stays.
// `file-unmapped`: the same, unmapped before the end.
// `file-child`: the same, in a child of fork.
// `zero`: a private mapping of /dev/zero, which stays.
// `zero-unmapped`: the same, unmapped before the end.
// `guard`: anonymous memory on which guards are installed 3 times (MADV_GUARD_INSTALL). Guards need Linux 6.13 or
// later; in earlier versions, the status is 4.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace {

constexpr std::size_t kBytes = std::size_t{20} << 20;
const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
constexpr int kGuardInstall = 102;  // MADV_GUARD_INSTALL, which Debian 12's headers lack
constexpr int kGuardRemove = 103;
constexpr int kNone = 4;

char* map(const char* file) {
  const int fd = file != nullptr ? ::open(file, O_RDONLY) : -1;
  const int flags = MAP_PRIVATE | (file != nullptr ? 0 : MAP_ANONYMOUS);
  void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (memory == MAP_FAILED || ::madvise(memory, kBytes, MADV_NOHUGEPAGE) != 0) _exit(3);
  if (fd >= 0) ::close(fd);
  return static_cast<char*>(memory);
}

void write_pages(char* memory) {
  for (std::size_t at = 0; at < kBytes; at += kPage) static_cast<volatile char*>(memory)[at] = 1;
}

int write_and_unmap(const char* file) {
  char* const memory = map(file);
  write_pages(memory);
  return ::munmap(memory, kBytes) == 0 ? 0 : 3;
}

int in_child(const char* file) {
  const pid_t child = ::fork();
  if (child == 0) {
    write_pages(map(file));
    _exit(0);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child ? status : 3;
}

int install_guards() {
  char* const memory = map(nullptr);
  for (int i = 0; i < 3; ++i) {
    write_pages(memory);
    if (::madvise(memory, kBytes, kGuardInstall) != 0) return errno == EINVAL ? kNone : 3;
    if (::madvise(memory, kBytes, kGuardRemove) != 0) return 3;
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  const auto is = [&](const char* name) { return std::strcmp(words[1], name) == 0; };
  const char* const file = count > 2 ? words[2] : "/dev/zero";
  if (is("file") || is("zero")) return write_pages(map(file)), 0;
  if (is("file-unmapped") || is("zero-unmapped")) return write_and_unmap(file);
  if (is("file-child")) return in_child(file);
  if (is("guard")) return install_guards();
  return 2;
}
