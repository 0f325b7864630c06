// glibc's _dl_find_object, which files of ours call by its name. It is found at run time: the loader of another C
// library, which our preload may meet in a child, would refuse the whole program for want of it.
#include <dlfcn.h>

#include "record/preload/real.h"

extern "C" [[gnu::visibility("hidden")]] int _dl_find_object(void* address, dl_find_object* result) noexcept {
  const auto find = zerotax::record::real.find_object;
  return find != nullptr ? find(address, result) : -1;
}
