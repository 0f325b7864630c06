// read() from /dev/zero into the block.
#include <fcntl.h>
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    const int file = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
    for (std::size_t done = 0; done < size;) {
      const ssize_t got = ::read(file, block + done, size - done);
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    ::close(file);
  });
}
