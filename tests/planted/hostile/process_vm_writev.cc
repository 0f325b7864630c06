// process_vm_writev() into its own process.
#include <sys/uio.h>
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    by_pieces(block, size, [](char* to, std::size_t part) {
      const iovec from{const_cast<char*>(&zeros[0]), part};
      const iovec into{to, part};
      if (::process_vm_writev(::getpid(), &from, 1, &into, 1, 0) != static_cast<ssize_t>(part)) store_zeros(to, part);
    });
  });
}
