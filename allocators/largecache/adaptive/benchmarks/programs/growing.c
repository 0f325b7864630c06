/* Grows 20 buffers, one after the other, by realloc from 64 KiB to 64 MiB. Each realloc adds an eighth, and only the
 * new part is written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBuffers = 20, kLeast = 64 << 10, kMost = 64 << 20 };

int main(void) {
  unsigned long sum = 0;
  for (int i = 0; i < kBuffers; ++i) {
    unsigned char* buffer = NULL;
    size_t filled = 0;
    for (size_t size = kLeast; size <= kMost; size += size / 8) {
      unsigned char* const grown = realloc(buffer, size);
      if (grown == NULL) exit(1);
      buffer = grown;
      memset(buffer + filled, i + 1, size - filled);
      filled = size;
    }
    for (size_t at = 0; at < filled; at += 4096) sum += buffer[at];
    free(buffer);
  }
  printf("%lu\n", sum);
  return 0;
}
