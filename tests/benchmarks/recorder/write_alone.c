/* Usage: write_alone FILE BYTES_PER_SECOND SECONDS. Writes as many bytes as `rate` records, but only with write(2), at
   a steady rate. Prints the largest number of bytes by which the writing fell behind. On this disk, a recorder's buffer
   must be at least this large. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stopwatch.h"

enum { kStep = 2 << 20 };

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const double per_ns = atof(argv[2]) * 1e-9;
  const double total = atof(argv[2]) * atof(argv[3]);
  static char bytes[kStep];
  const int file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return 1;
  memset(bytes, 1, kStep);
  double behind = 0;
  double written = 0;
  for (const int64_t begin = stopwatch_ns(); written < total;) {
    double due = (double)(stopwatch_ns() - begin) * per_ns;
    if (due > total) due = total;
    if (due - written > behind) behind = due - written;
    if (due - written < kStep && due < total) {
      usleep(100);
      continue;
    }
    const ssize_t length = write(file, bytes, kStep);
    if (length <= 0) return 1;
    written += (double)length;
  }
  printf("%.0f\n", behind);
  return 0;
}
