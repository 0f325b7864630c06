#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "contract/suite/suite.h"

struct report* report;
size_t page;
double race_seconds = 10;

double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

const char* error_name(int error) {
  static const struct {
    int error;
    const char* name;
  } kNames[] = {{EPERM, "EPERM"},   {ENOENT, "ENOENT"}, {EIO, "EIO"},         {EBADF, "EBADF"},
                {EAGAIN, "EAGAIN"}, {ENOMEM, "ENOMEM"}, {EACCES, "EACCES"},   {EFAULT, "EFAULT"},
                {EBUSY, "EBUSY"},   {EEXIST, "EEXIST"}, {ENODEV, "ENODEV"},   {EINVAL, "EINVAL"},
                {ENOTTY, "ENOTTY"}, {ENOSPC, "ENOSPC"}, {EROFS, "EROFS"},     {ENOSYS, "ENOSYS"},
                {EMFILE, "EMFILE"}, {EINTR, "EINTR"},   {ENOTDIR, "ENOTDIR"}, {EOPNOTSUPP, "EOPNOTSUPP"}};
  static char text[24];
  for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
    if (kNames[i].error == error) return kNames[i].name;
  }
  snprintf(text, sizeof text, "errno %d", error);
  return text;
}

// Keeps the first verdict. A child's verdict comes before that of its parent, which waits for the child.
static _Noreturn void end(enum verdict verdict, int error, const char* format, va_list words) {
  if (report->verdict == kNotDone) {
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is
    vsnprintf(report->detail, sizeof report->detail, format, words);
    report->error = error;
    report->verdict = verdict;
  }
  _exit(verdict == kKept ? 0 : 1);
}

void kept(const char* format, ...) {
  va_list words;
  va_start(words, format);
  end(kKept, 0, format, words);
}

void broken(const char* format, ...) {
  va_list words;
  va_start(words, format);
  end(kBroken, 0, format, words);
}

void not_testable(const char* format, ...) {
  va_list words;
  va_start(words, format);
  end(kNotTestable, 0, format, words);
}

static _Noreturn void end_unsupported(int error, const char* format, ...) {
  va_list words;
  va_start(words, format);
  end(kUnsupported, error, format, words);
}

void unsupported(int error, const char* what) { end_unsupported(error, "%s: %s", what, error_name(error)); }

void need(bool done, const char* what) {
  if (!done) not_testable("%s failed: %s", what, error_name(errno));
}

void supported(bool done, const char* what) {
  if (done) return;
  const int error = errno;
  if (error == ENOSYS || error == EINVAL || error == EOPNOTSUPP || error == ENOTTY) unsupported(error, what);
  not_testable("%s failed: %s", what, error_name(error));
}

static void remember_bytes(const unsigned char* p, size_t bytes, size_t at, int expected) {
  report->address = (uint64_t)(uintptr_t)(p + at);
  report->offset = at;
  report->looked_at = bytes;
  report->expected = expected;
  report->found_bytes = 0;
  for (size_t i = at; i < bytes && report->found_bytes < sizeof report->found; ++i) {
    report->found[report->found_bytes++] = p[i];
  }
}

// The offset of the first byte that differs from `byte`; `bytes` if there is none. memcmp may read bytes in any order
// and more than once. This function reads each byte once, upward.
static size_t first_other(const unsigned char* p, size_t bytes, int byte) {
  const uint64_t eight = 0x0101010101010101ULL * (unsigned char)byte;
  size_t i = 0;
  for (; i < bytes && ((uintptr_t)(p + i) & 7) != 0; ++i) {
    if (p[i] != byte) return i;
  }
  for (; i + 8 <= bytes; i += 8) {
    if (*(const volatile uint64_t*)(const volatile void*)(p + i) != eight) break;
  }
  for (; i < bytes; ++i) {
    if (p[i] != byte) return i;
  }
  return bytes;
}

static _Noreturn void wrong_byte(const unsigned char* p, size_t bytes, size_t at, int byte, const char* what) {
  remember_bytes(p, bytes, at, byte);
  broken("byte %zu of %zu is 0x%02x, not 0x%02x, %s", at, bytes, report->found[0], byte, what);
}

void expect(const void* p, size_t bytes, int byte, const char* what) {
  step("check(%s, %zu, 0x%02x);", place(p), bytes, byte);
  const size_t at = first_other(p, bytes, byte);
  if (at < bytes) wrong_byte(p, bytes, at, byte, what);
}

// The kernel may reclaim a page while the page is read. The read then finds old bytes followed by zeros, so all bytes
// after the first zero must be zero.
void expect_old_or_zero(const void* p, size_t bytes, int old, const char* what) {
  report->helpers |= kNeedsEither;
  step("check_either(%s, %zu, 0x%02x);", place(p), bytes, old);
  for (size_t from = 0; from < bytes; from += page) {
    const unsigned char* at = (const unsigned char*)p + from;
    if (first_other(at, page, old) == page) continue;
    const size_t other = first_other(at, page, 0);
    if (other < page) wrong_byte(at, page, other, 0, what);
  }
}

void expect_true(bool holds, const char* condition, const char* format, ...) {
  char words[400];
  va_list list;
  va_start(list, format);
  vsnprintf(words, sizeof words, format, list);  // NOLINT(clang-analyzer-valist.Uninitialized): it is
  va_end(list);
  step("if (!(%s)) return puts(\"broken: %s\"), 1;", condition, words);
  if (!holds) broken("%s", words);
}

void expect_error(bool failed, int error, const char* name, const char* what) {
  const int found = errno;
  step("if (r != -1 || errno != %s) return printf(\"broken: %s: %%ld, %%s\\n\", r, strerror(errno)), 1;", name, what);
  if (!failed) broken("%s: it succeeded, instead of failing with %s", what, name);
  if (found != error) broken("%s: it failed with %s, not %s", what, error_name(found), name);
}

void fill(void* p, size_t bytes, int byte) {
  step("memset(%s, 0x%02x, %zu);", place(p), byte, bytes);
  memset(p, byte, bytes);
}

void set_byte(void* p, int byte) {
  step("*(%s) = 0x%02x;", place(p), byte);
  *(volatile unsigned char*)p = (unsigned char)byte;
}

void touch_by_reading(const void* p, size_t bytes) {
  step("for (size_t i = 0; i < %zu; i += %zu) (void)*(volatile unsigned char*)(%s + i);", bytes, page, place(p));
  for (size_t i = 0; i < bytes; i += page) (void)*((const volatile unsigned char*)p + i);
}
