#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "os/unique_fd.h"

namespace zerotax {

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

/// A pipe, both ends close-on-exec; without descriptors, and errno set, if it cannot be made.
inline Pipe make_pipe() {
  int ends[2];
  if (::pipe2(&ends[0], O_CLOEXEC) != 0) return {};
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace zerotax
