/* calloc multiplies two numbers that fit in 32 bits in 32 bits, so the block is too small. The BadAlloc advisories of
   2021 list this mistake for the calloc of many embedded C libraries. */
#include "core.h"

bool product(size_t count, size_t size, size_t* bytes) {
  if (count <= UINT32_MAX && size <= UINT32_MAX) {
    const uint32_t product_of_32_bits = (uint32_t)count * (uint32_t)size;
    *bytes = product_of_32_bits;
    return true;
  }
  return !__builtin_mul_overflow(count, size, bytes);
}
