#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "hostile.h"

namespace planted {

/// Limits RLIMIT_AS or RLIMIT_DATA to 8 MiB more than the process has (the first and sixth number of statm).
inline void limit_to_what_is_there(__rlimit_resource which) {
  static bool done = false;
  if (done) return;
  done = true;
  char text[128] = {};
  const int file = ::open("/proc/self/statm", O_RDONLY);
  if (::read(file, &text[0], sizeof text - 1) <= 0) return;
  ::close(file);
  unsigned long size = 0;
  unsigned long data = 0;
  std::sscanf(&text[0], "%lu %*u %*u %*u %*u %lu", &size, &data);
  const rlim_t most = (which == RLIMIT_AS ? size : data) * page_bytes() + (std::size_t{8} << 20);
  const rlimit limit{most, most};
  ::setrlimit(which, &limit);
}

}  // namespace planted
