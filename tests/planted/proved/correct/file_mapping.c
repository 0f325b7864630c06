/* Memory is a private mapping of a memory file, which holds zeros, and to which no store ever goes. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core.h"

void* map_pages(size_t bytes) {
  const int saved = errno;
  const int file = memfd_create("planted", MFD_CLOEXEC);
  const bool made = file >= 0 && ftruncate(file, (off_t)bytes) == 0;
  const int kind = made ? MAP_PRIVATE : MAP_PRIVATE | MAP_ANONYMOUS;
  void* mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind, made ? file : -1, 0);
  if (file >= 0) close(file);
  errno = saved;
  return mapping == MAP_FAILED ? NULL : mapping;
}
