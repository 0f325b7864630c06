/* malloc_trim keeps the first pad bytes of a block, but marks these bytes as zero too. glibc's malloc_trim has the
   same argument, and the memory below it keeps its contents. */
#include "core.h"

int trim(size_t pad) {
  const size_t keep = pad > PTRDIFF_MAX ? page_floor(PTRDIFF_MAX) : page_ceiling(pad);
  for (size_t i = 0; i < kept_count; ++i) {
    if (return_pages(kept[i], i == 0 ? keep : 0)) kept[i]->dirty = 0;
  }
  return kept_count != 0;
}
