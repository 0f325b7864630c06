/* A request of one byte more than a size class above 1 KiB gets this class, so the block's last byte belongs to the
   next header. The code computes the class from bytes - 1 instead of bytes. */
#include "core.h"

size_t class_for(size_t bytes) {
  size_t index = 0;
  while (class_bytes(index) < bytes) ++index;
  if (index != 0 && class_bytes(index - 1) == bytes - 1 && bytes > 1024) --index;
  return index;
}
