// Defines a free that calls dlsym to find the next free. dlsym may free the text that dlerror has not yet reported.
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
