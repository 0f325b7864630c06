/* The child of a fork takes all kept blocks for zero. The code expects MADV_WIPEONFORK on kept memory, and nothing
   has set it. */
#include "core.h"

void child_starts(void) {
  for (size_t i = 0; i < kept_count; ++i) kept[i]->dirty = 0;
}
