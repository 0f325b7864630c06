// Has a free of its own that asks dlsym for the next one; dlsym may free what dlerror was to report.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void free(void* block) {
  static void (*next)(void*);
  if (!next) next = (void (*)(void*))dlsym(RTLD_NEXT, "free");
  next(block);
}

#ifndef LIBRARY
int main(void) {
  free(malloc(100));
  puts("done");
}
#endif
