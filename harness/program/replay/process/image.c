#define _GNU_SOURCE
#include "replay/process/replay_calls.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replay/process/own_memory.h"

enum { kTextBytes = 1 << 20, kKiB = 1024 };

static uint64_t number(const char* text) {
  uint64_t value = 0;
  while (*text == ' ') ++text;
  for (; *text >= '0' && *text <= '9'; ++text) value = 10 * value + (uint64_t)(*text - '0');
  return value;
}

/* Returns a number field of a line in /proc/self/smaps. The first field has index 0. */
static const char* field(const char* line, int which) {
  for (; which > 0 && *line != '\0'; --which) {
    while (*line != ' ' && *line != '\0') ++line;
    while (*line == ' ') ++line;
  }
  return line;
}

/* Adds the bytes of this process's anonymous memory: copies of file pages to `copied`, pages that the kernel zeroed to
   `zeroed`. */
static void own_image(uint64_t* zeroed, uint64_t* copied) {
  static const char kAnonymous[] = "Anonymous:";
  char* const text = own_memory(kTextBytes);
  const int maps = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
  size_t length = 0;
  for (ssize_t got = 1; maps >= 0 && got > 0 && length < kTextBytes - 1; length += (size_t)got) {
    got = read(maps, text + length, kTextBytes - 1 - length);
    if (got < 0) break;
  }
  close(maps);
  uint64_t inode = 0;
  for (char *line = text, *next = NULL; line != NULL && *line != '\0'; line = next) {
    next = strchr(line, '\n');
    if (next != NULL) *next++ = '\0';
    if (strncmp(line, kAnonymous, sizeof kAnonymous - 1) == 0) {
      *(inode != 0 ? copied : zeroed) += number(line + sizeof kAnonymous - 1) * kKiB;
    } else if (*line < 'A' || *line > 'Z') {
      inode = number(field(line, 4));
    }
  }
  own_memory_back(text, kTextBytes);
}

static void write_pages(char* memory, uint64_t bytes) {
  if (memory == MAP_FAILED) return;
  const uint64_t page = page_bytes();
  for (uint64_t at = 0; at < bytes; at += page) *(volatile char*)(memory + at) = 1;
}

void populate_image(uint64_t zeroed, uint64_t copied) {
  uint64_t own_zeroed = 0;
  uint64_t own_copied = 0;
  own_image(&own_zeroed, &own_copied);
  if (zeroed > own_zeroed) {
    const uint64_t bytes = zeroed - own_zeroed;
    write_pages(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), bytes);
  }
  struct stat status;
  const int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (program < 0 || fstat(program, &status) != 0) return;
  const uint64_t whole = (uint64_t)status.st_size & ~(page_bytes() - 1);
  for (uint64_t left = copied > own_copied ? copied - own_copied : 0; left != 0 && whole != 0;) {
    const uint64_t bytes = left < whole ? left : whole;
    write_pages(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, program, 0), bytes);
    left -= bytes;
  }
  close(program);
}
