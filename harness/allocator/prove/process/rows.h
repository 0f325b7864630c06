#pragma once

/* The functions under test, one row each, found by dlsym. A row is a line of text:
 *
 *   SYMBOL ARGUMENTS PROMISE RELEASE RELEASE_ARGUMENTS [MOST]
 *   mi_calloc_aligned n,m,a zero free p
 *
 * Arguments: n and m: sizes, whose product is the size of the block if m occurs; a: alignment; p: a live block; b: the
 * size of that block; o: the address for the result, which the function otherwise returns; f: log2 of the alignment,
 * with the flag 0x40 (MALLOCX_ZERO); a number: the number itself. MOST is the largest size that the function accepts.
 * Promises: none; zero: all bytes are zero; keep: the bytes of both sizes stay (realloc); grown: also zeros from the
 * requested size of the old block on; grown_usable: also zeros from its usable size on; grown_unwritten: like grown,
 * except bytes that the program wrote before; grown_in_place: like grown_usable, and the result is the usable size of
 * the same block (xallocx). */

#include <stddef.h>
#include <stdint.h>

#include "prove/process/record.h"

enum promise {
  kPromiseNone,
  kPromiseZero,
  kPromiseKeep,
  kPromiseGrown,
  kPromiseGrownUsable,
  kPromiseGrownUnwritten,
  kPromiseGrownInPlace
};
enum { kArguments = 5, kSymbol = 64, kMostRows = 128 };

struct arguments {
  int count;
  char kinds[kArguments]; /* '#': a number */
  uint64_t numbers[kArguments];
};

typedef uint64_t (*any_function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

struct row {
  char symbol[kSymbol];
  char release_symbol[kSymbol];
  struct arguments arguments;
  struct arguments release_arguments;
  uint64_t most;         /* bytes; 0: no limit */
  any_function function; /* NULL if the allocator has no such function */
  any_function release;
  enum promise promise;
  int is_foreign; /* whether malloc_usable_size belongs to another library */
};

extern struct row rows[kMostRows];
extern uint32_t row_count;
extern uint32_t standard_rows; /* the number of rows before those of --api */
extern size_t (*usable_size)(void*);
extern int (*trim)(size_t);

/* Reads the standard rows and the text, which may be NULL. */
void read_rows(const char* text);
/* Finds the functions of the rows, and enters in the head which of them are missing, and the library that has malloc.
 * Gives up if the library has no calloc. */
void find_rows(void);
int has_argument(const struct row* row, char kind);
/* Returns whether the row may be called. */
int is_usable(uint32_t row);

/* The block of argument p, and its size. */
struct operand {
  void* at;
  uint64_t bytes;
};

/* Calls the function. Returns the result as an address or a size. */
uint64_t call_row(const struct row* row, const struct op* op, struct operand operand);
void release_block(const struct row* row, struct operand operand, unsigned lg);
