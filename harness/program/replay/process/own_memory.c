#define _GNU_SOURCE
#include "replay/process/own_memory.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { kNoMemory = 4 };

static atomic_ullong faults;

static uint64_t faults_so_far(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return (uint64_t)usage.ru_minflt;
}

void* own_memory(size_t bytes) {
  if (bytes == 0) bytes = 1;
  const int file = memfd_create("zerotax-replay", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)bytes) != 0) _exit(kNoMemory);
  void* const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) _exit(kNoMemory);
  /* The recorder recognizes this memory by name. The recorder counts its own faults within mmap, so only the faults
     of these stores are counted here. */
  const uint64_t before = begin_own_faults();
  for (size_t at = 0; at < bytes; at += page_bytes()) ((volatile char*)memory)[at] = 0;
  end_own_faults(before);
  return memory;
}

void* own_private_memory(size_t bytes) {
  void* const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

uint64_t begin_own_faults(void) { return faults_so_far(); }

void end_own_faults(uint64_t before) { atomic_fetch_add(&faults, faults_so_far() - before); }

void own_memory_back(void* memory, size_t bytes) { munmap(memory, bytes); }

uint64_t own_faults(void) { return faults; }

void forget_own_faults(void) { faults = 0; }
