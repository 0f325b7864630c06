#include "prove/process/record.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prove/process/own.h"

struct head* head;
struct op* ops;

struct head* map_head(const char* path, uint64_t capacity) {
  struct stat status;
  const int file = open(path, capacity != 0 ? O_RDWR | O_CREAT | O_CLOEXEC : O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) give_up("%s: %s", path, strerror(errno));
  if (capacity != 0 && ftruncate(file, (off_t)(kHeadBytes + capacity * sizeof(struct op))) != 0) {
    give_up("%s: %s", path, strerror(errno));
  }
  if (fstat(file, &status) != 0 || status.st_size < kHeadBytes) give_up("%s: no record", path);
  void* const memory = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) give_up("%s: %s", path, strerror(errno));
  struct head* const mapped = memory;
  if (capacity != 0) {
    memcpy(mapped->magic, "zprove1", sizeof mapped->magic);
    mapped->capacity = capacity;
  } else if (memcmp(mapped->magic, "zprove1", sizeof mapped->magic) != 0 ||
             mapped->ops > ((uint64_t)status.st_size - kHeadBytes) / sizeof(struct op)) {
    give_up("%s: no record of zerotax prove", path);
  }
  return mapped;
}

void map_record(const char* path) {
  head = map_head(path, 0);
  ops = (struct op*)(void*)((char*)head + kHeadBytes);
}

int append(struct op* op) {
  const uint64_t at = __atomic_fetch_add(&head->ops, 1, __ATOMIC_RELAXED);
  if (at >= head->capacity) {
    __atomic_fetch_sub(&head->ops, 1, __ATOMIC_RELAXED);
    return 0;
  }
  op->id = (uint32_t)at + 1;
  ops[at] = *op;
  return 1;
}
