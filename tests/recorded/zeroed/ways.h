// Parts that the files of the program `zeroed` share.
#pragma once

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <span>

#include "block.h"

inline const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
inline constexpr std::size_t kBytes = std::size_t{40} << 20;
inline constexpr int kBlocks = 3;

inline void write_pages(char* begin, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += kPage) begin[i] = 1;
  escape(begin);
}

inline int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

inline char* map(std::size_t bytes, int flags, int fd = -1) {
  void* begin = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (begin == MAP_FAILED) ::_exit(9);
  return static_cast<char*>(begin);
}

/// A situation, by the name that the program's first argument has.
struct Way {
  const char* name;
  int (*run)();
};

/// Situations in which malloc does not provide the memory, or the program's own instructions do not write to it.
std::span<const Way> memory_ways();
