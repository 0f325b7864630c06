// glibc's _dl_find_object, which our files call by name. It is found at run time. In a child, our preload may meet the
// loader of another C library, which would refuse to start a program without it.
#include <dlfcn.h>

#include "record/preload/real.h"

extern "C" [[gnu::visibility("hidden")]] int _dl_find_object(void* address, dl_find_object* result) noexcept {
  const auto find = zerotax::record::real.find_object;
  return find != nullptr ? find(address, result) : -1;
}
