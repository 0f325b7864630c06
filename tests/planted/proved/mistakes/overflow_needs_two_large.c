/* calloc checks for overflow only if both numbers have more than 32 bits. glibc skips its division if neither number
   has more than 32 bits. With `and` instead of `or`, one large number is not checked. */
#include "core.h"

bool product(size_t count, size_t size, size_t* bytes) {
  *bytes = count * size;
  if (count <= UINT32_MAX || size <= UINT32_MAX) return true;
  return !__builtin_mul_overflow(count, size, bytes);
}
