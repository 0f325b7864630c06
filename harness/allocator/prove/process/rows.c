#define _GNU_SOURCE
#include "prove/process/rows.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prove/process/own.h"
#include "prove/process/standard_functions.h"

struct row rows[kMostRows];
uint32_t row_count;
uint32_t standard_rows;
size_t (*usable_size)(void*);
int (*trim)(size_t);

static const char* const kPromises[] = {"none",          "zero", "keep", "grown", "grown_usable", "grown_unwritten",
                                        "grown_in_place"};

static size_t word_length(const char* at) { return strcspn(at, " \t\n"); }

static const char* next_word(const char* at) {
  at += word_length(at);
  return at + strspn(at, " \t");
}

static void read_arguments(const char* word, struct arguments* to) {
  const char* const end = word + word_length(word);
  for (const char* at = word; at < end;) {
    if (to->count == kArguments) give_up("more than %d arguments: %.60s", kArguments, word);
    if (*at >= '0' && *at <= '9') {
      to->kinds[to->count] = '#';
      to->numbers[to->count++] = strtoull(at, NULL, 0);
    } else if (strchr("nmapbof", *at) != NULL) {
      to->kinds[to->count++] = *at;
    } else {
      give_up("unknown argument form: %.60s", word);
    }
    at += strcspn(at, ", \t\n");
    if (at < end) ++at;
  }
}

static void read_symbol(const char* word, char* to) {
  const size_t length = word_length(word);
  if (length == 0 || length >= kSymbol) give_up("a line needs SYMBOL ARGUMENTS PROMISE RELEASE ARGUMENTS");
  memcpy(to, word, length);
}

static void read_row(const char* line) {
  if (row_count == kMostRows) give_up("more than %d functions", kMostRows);
  struct row* const row = &rows[row_count++];
  read_symbol(line, row->symbol);
  line = next_word(line);
  read_arguments(line, &row->arguments);
  line = next_word(line);
  size_t promise = 0;
  while (
      promise < sizeof kPromises / sizeof *kPromises &&
      (strlen(kPromises[promise]) != word_length(line) || strncmp(kPromises[promise], line, word_length(line)) != 0)) {
    ++promise;
  }
  if (promise == sizeof kPromises / sizeof *kPromises) give_up("unknown promise: %.60s", line);
  row->promise = (enum promise)promise;
  line = next_word(line);
  read_symbol(line, row->release_symbol);
  line = next_word(line);
  read_arguments(line, &row->release_arguments);
  row->most = strtoull(next_word(line), NULL, 10);
}

static void read_lines(const char* text) {
  while (*text != 0) {
    text += strspn(text, " \t\n");
    if (*text != 0 && *text != '#') read_row(text);
    text += strcspn(text, "\n");
  }
}

void read_rows(const char* text) {
  read_lines(kStandardFunctions);
  standard_rows = row_count;
  if (text != NULL) read_lines(text);
}

static const void* object_of(void* function) {
  Dl_info info;
  return function != NULL && dladdr(function, &info) != 0 ? info.dli_fbase : NULL;
}

/* Finds a function, but only in the library that also has the function that frees its blocks. Otherwise a replacement
 * without aligned_alloc would have to free a block of the C library. */
static void find_function(struct row* row, const void* main_object) {
  void* const function = dlsym(RTLD_DEFAULT, row->symbol);
  void* const release = dlsym(RTLD_DEFAULT, row->release_symbol);
  if (function == NULL || release == NULL || object_of(function) != object_of(release)) return;
  row->is_foreign = object_of(release) != main_object;
  memcpy(&row->function, &function, sizeof function);
  memcpy(&row->release, &release, sizeof release);
}

void find_rows(void) {
  void* const release = dlsym(RTLD_DEFAULT, "free");
  const void* const object = object_of(release);
  for (uint32_t i = 0; i < row_count; ++i) {
    find_function(&rows[i], object);
    if (rows[i].function == NULL) head->missing[i / 64] |= (uint64_t)1 << i % 64;
  }
  if (rows[kRowMalloc].function == NULL) give_up("the library has no malloc beside its free");
  if (rows[kRowCalloc].function == NULL) give_up("the library has no calloc beside its free");
  void* const usable = dlsym(RTLD_DEFAULT, "malloc_usable_size");
  if (object_of(usable) == object) memcpy(&usable_size, &usable, sizeof usable);
  void* const trims = dlsym(RTLD_DEFAULT, "malloc_trim");
  if (object_of(trims) == object) memcpy(&trim, &trims, sizeof trims);
  Dl_info info;
  if (dladdr(release, &info) != 0) snprintf(head->message, sizeof head->message, "%s", info.dli_fname);
}

int is_usable(uint32_t row) { return rows[row].function != NULL && (head->left_out[row / 64] >> row % 64 & 1) == 0; }

int has_argument(const struct row* row, char kind) {
  return memchr(row->arguments.kinds, kind, (size_t)row->arguments.count) != NULL;
}

uint64_t call_row(const struct row* row, const struct op* op, struct operand operand) {
  uint64_t values[kArguments] = {0};
  void* result = NULL;
  int has_result = 0;
  for (int i = 0; i < row->arguments.count; ++i) {
    switch (row->arguments.kinds[i]) {
      case 'n':
        values[i] = op->n;
        break;
      case 'm':
        values[i] = op->m;
        break;
      case 'a':
        values[i] = (uint64_t)1 << op->lg;
        break;
      case 'p':
        values[i] = (uint64_t)(uintptr_t)operand.at;
        break;
      case 'b':
        values[i] = operand.bytes;
        break;
      case 'o':
        values[i] = (uint64_t)(uintptr_t)&result;
        has_result = 1;
        break;
      case 'f':
        values[i] = 0x40U | op->lg;
        break;
      default:
        values[i] = row->arguments.numbers[i];
        break;
    }
  }
  const uint64_t value = row->function(values[0], values[1], values[2], values[3], values[4]);
  if (!has_result) return value;
  return (uint32_t)value == 0 ? (uint64_t)(uintptr_t)result : 0;
}

void release_block(const struct row* row, struct operand operand, unsigned lg) {
  const struct op op = {.n = operand.bytes, .lg = (uint8_t)lg};
  const struct row release = {.arguments = row->release_arguments, .function = row->release};
  call_row(&release, &op, operand);
}
