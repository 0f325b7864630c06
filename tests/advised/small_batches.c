/* In each batch, allocates 3,500 objects of 32 to 255 bytes and frees them. Each batch ends with a free heap of half a
   MiB, which glibc trims. Usage: small_batches BATCHES */
#include "work.h"

enum { kObjects = 3500 };

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  static char* objects[kObjects];
  for (int batch = atoi(argv[1]); batch > 0; --batch) {
    for (unsigned i = 0; i < kObjects; ++i) {
      const size_t bytes = 32 + i * 37 % 224;
      objects[i] = malloc(bytes);
      if (objects[i] == NULL) return 1;
      memset(objects[i], 1, bytes);
    }
    for (int i = 0; i < kObjects; ++i) free(objects[i]);
  }
  return 0;
}
