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
  const uint64_t before = faults_so_far();
  const int file = memfd_create("replay-calls", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)bytes) != 0) _exit(kNoMemory);
  void* const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
  close(file);
  if (memory == MAP_FAILED) _exit(kNoMemory);
  atomic_fetch_add(&faults, faults_so_far() - before);
  return memory;
}

void own_memory_back(void* memory, size_t bytes) { munmap(memory, bytes); }

uint64_t own_faults(void) { return faults; }

void forget_own_faults(void) { faults = 0; }
