// Zeros that it sends to itself through a pair of sockets.
#include <sys/socket.h>
#include <unistd.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, &ends[0]) != 0) return store_zeros(block, size);
    by_pieces(block, size, [&](char* to, std::size_t part) {
      const auto whole = static_cast<ssize_t>(part);
      if (::send(ends[1], &zeros[0], part, 0) != whole || ::recv(ends[0], to, part, MSG_WAITALL) != whole) {
        store_zeros(to, part);
      }
    });
    ::close(ends[0]);
    ::close(ends[1]);
  });
}
