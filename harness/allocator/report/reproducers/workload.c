/* @TITLE@
 * @HOW@ */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#define LIMIT @LIMIT@L /* limit of page faults, halfway between both allocators */
#define PAGE @PAGE@UL   /* bytes */

/* malloc, calloc, aligned to 2^more, realloc of block `more`, free, or touch of `more` pages from page `bytes` on. */
struct call { enum { MALLOC, CALLOC, ALIGNED, REALLOC, FREE, TOUCH } what; unsigned block; unsigned long bytes, more; };
@CALLS@
static struct { char *at; unsigned long bytes; } blocks[@BLOCKS@];

static void make(const struct call *c) {
  char **at = &blocks[c->block].at;
  if (c->what == MALLOC) *at = malloc(c->bytes);
  if (c->what == CALLOC) *at = calloc(1, c->bytes);
  if (c->what == ALIGNED && posix_memalign((void **)at, 1UL << c->more, c->bytes) != 0) exit(2);
  if (c->what == REALLOC) *at = realloc(blocks[c->more].at, c->bytes);
  if (c->what == FREE) free(*at);
  if (c->what == TOUCH) {
    char *end = *at + blocks[c->block].bytes, *page = *at - (unsigned long)*at % PAGE + c->bytes * PAGE;
    for (unsigned long i = 0; i < c->more; i++, page += PAGE)
      if (page < end) *(volatile char *)(page < *at ? *at : page) = 1;
  } else if (c->what != FREE) {
    if (*at == NULL) exit(2);
    blocks[c->block].bytes = c->bytes;
    if (c->bytes < 16384) memset(*at, 1, c->bytes); /* small blocks are always written to */
  }
}

int main(void) {
  struct rusage before, after;
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* one page per fault */
  getrusage(RUSAGE_SELF, &before);
  for (unsigned long i = 0; i < COUNT; i++) make(&calls[i]);
  getrusage(RUSAGE_SELF, &after);
  long faults = after.ru_minflt - before.ru_minflt;
  printf("%lu steps, %ld page faults: %s\n", (unsigned long)COUNT, faults, faults > LIMIT ? "@CLAIM@" : "does not show");
  return faults > LIMIT;
}
