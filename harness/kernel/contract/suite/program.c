// Turns the steps of a test into a C program that is independent of the suite.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "contract/suite/suite.h"

enum { kMostNames = 16 };
static struct {
  uintptr_t begin;
  size_t bytes;
} names[kMostNames];
static unsigned name_count;
static bool silent;
bool in_the_child;

void write_steps(bool on) { silent = !on; }

void begin_program(void) {
  name_count = 0;
  report->used[0] = report->used[1] = 0;
  report->helpers = 0;
}

void note_step(const char* line) {
  const size_t length = strnlen(line, sizeof report->last_step - 1);
  memcpy(report->last_step, line, length);
  report->last_step[length] = '\0';
  __atomic_fetch_add(&report->steps_taken, 1, __ATOMIC_RELAXED);
}

void step(const char* format, ...) {
  char line[400] = "";
  va_list words;
  va_start(words, format);
  // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start initializes `words`
  vsnprintf(line, sizeof line, format, words);
  va_end(words);
  note_step(line);
  if (silent) return;
  const unsigned who = in_the_child ? 1 : 0;
  char* to = report->steps[who] + report->used[who];
  const size_t room = sizeof report->steps[who] - report->used[who];
  const int length = snprintf(to, room, "%s%s\n", who == 1 ? "    " : "  ", line);
  if (length > 0 && (size_t)length < room) report->used[who] += (uint32_t)length;
}

void name_memory(void* p, size_t bytes) {
  if (silent || name_count == kMostNames) return;
  names[name_count].begin = (uintptr_t)p;
  names[name_count].bytes = bytes;
  ++name_count;
}

const char* place(const void* p) {
  static char texts[8][48];
  static unsigned next;
  char* text = texts[next++ % 8];
  const uintptr_t at = (uintptr_t)p;
  if (p == NULL) return "NULL";
  // An address between two adjacent mappings is named as the beginning of the second, not as the end of the first.
  for (unsigned end = 0; end < 2; ++end) {
    for (unsigned i = name_count; i-- > 0;) {
      if (at < names[i].begin || at >= names[i].begin + names[i].bytes + end) continue;
      if (at == names[i].begin) {
        snprintf(text, sizeof texts[0], "m%u", i);
      } else {
        snprintf(text, sizeof texts[0], "m%u + %zu", i, (size_t)(at - names[i].begin));
      }
      return text;
    }
  }
  snprintf(text, sizeof texts[0], "(unsigned char*)%#lx", (unsigned long)at);
  return text;
}

static const char kHead[] =
    "#define _GNU_SOURCE\n"
    "#include <errno.h>\n#include <fcntl.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
    "#include <string.h>\n#include <sys/ioctl.h>\n#include <sys/mman.h>\n#include <sys/resource.h>\n"
    "#include <sys/syscall.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\n";

static const char kCheck[] =
    "static void check(const unsigned char* p, size_t bytes, int byte) {\n"
    "  for (size_t i = 0; i < bytes; i++) {\n"
    "    if (p[i] == byte) continue;\n"
    "    printf(\"broken: byte %zu of %zu at %p is %#x, not %#x\\n\", i, bytes, (void*)p, p[i], byte);\n"
    "    exit(1);\n"
    "  }\n"
    "}\n\n";

static const char kEither[] =
    "static void check_either(const unsigned char* p, size_t bytes, int old) {\n"
    "  for (size_t at = 0, i; at < bytes; at += PAGE) {\n"
    "    for (i = 0; i < PAGE && p[at + i] == old; i++) {}\n"
    "    if (i < PAGE) check(p + at, PAGE, 0);  // once a byte is gone, the whole page is\n"
    "  }\n"
    "}\n\n";

static const char kPagemap[] =
    "static uint64_t entry(int fd, const void* p) {\n"
    "  uint64_t word = 0;\n"
    "  if (pread(fd, &word, 8, (off_t)((uintptr_t)p / PAGE * 8)) != 8) perror(\"pagemap\"), exit(2);\n"
    "  return word;\n"
    "}\n\n";

static const char kScan[] =
    "static long scan(int fd, const void* p, size_t bytes, uint64_t any_of, uint64_t flags, long room, uint64_t* out) "
    "{\n"
    "  uint64_t arg[12] = {96, flags, (uintptr_t)p, (uintptr_t)p + bytes, 0, (uintptr_t)out, room, 0, 0, 0, any_of, "
    "any_of};\n"
    "  long pages = 0, n;\n"
    "  do {\n"
    "    if ((n = ioctl(fd, 0xc0606610, arg)) < 0) perror(\"PAGEMAP_SCAN\"), exit(2);\n"
    "    for (long i = 0; i < n; i++) pages += (long)(out[3 * i + 1] - out[3 * i]) / PAGE;\n"
    "    arg[2] = arg[4];  // start where the last walk ended\n"
    "  } while (arg[2] < arg[3]);\n"
    "  return pages;\n"
    "}\n\n";

static const char kUserfault[] =
    "static int userfault(void* p, size_t bytes, uint64_t features, uint64_t mode) {\n"
    "  int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1);  // UFFD_USER_MODE_ONLY\n"
    "  uint64_t api[3] = {0xaa, features, 0}, area[4] = {(uintptr_t)p, bytes, mode, 0};\n"
    "  if (fd < 0 || ioctl(fd, 0xc018aa3f, api) || ioctl(fd, 0xc020aa00, area)) perror(\"userfaultfd\"), exit(2);\n"
    "  return fd;\n"
    "}\n\n";

static const char kLimit[] =
    "static void limit(int limited) {  // of the address space: nothing more may be mapped\n"
    "  struct rlimit to;\n"
    "  getrlimit(RLIMIT_AS, &to);\n"
    "  to.rlim_cur = limited ? 4096 : to.rlim_max;\n"
    "  setrlimit(RLIMIT_AS, &to);\n"
    "}\n\n";

static const char kCgroup[] =
    "// Makes and joins a cgroup of version 1 or 2, and does not remove the cgroup.\n"
    "static void join_cgroup(size_t bytes) {\n"
    "  char at[200];\n"
    "  for (int v = 1; v <= 2; v++) {\n"
    "    const char* root = v == 1 ? \"/sys/fs/cgroup/memory\" : \"/sys/fs/cgroup\";\n"
    "    const char* file = v == 1 ? \"memory.limit_in_bytes\" : \"memory.max\";\n"
    "    snprintf(at, sizeof at, \"d=%s/contract-%d; mkdir $d && echo %zu >$d/%s && echo %d >$d/cgroup.procs\", root,\n"
    "             getpid(), bytes, file, getpid());\n"
    "    if (system(at) == 0) return;\n"
    "  }\n"
    "  puts(\"cannot make a cgroup\"), exit(2);\n"
    "}\n\n";

struct writer {
  char* to;
  size_t most, used;
};

static void put(struct writer* out, const char* format, ...) {
  va_list words;
  va_start(words, format);
  // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is
  const int length = vsnprintf(out->to + out->used, out->most - out->used, format, words);
  va_end(words);
  if (length > 0 && (size_t)length < out->most - out->used) out->used += (size_t)length;
}

// Whether the steps contain a word.
static bool has(const struct report* from, const char* word) {
  return strstr(from->steps[0], word) != NULL || strstr(from->steps[1], word) != NULL;
}

static void put_variables(struct writer* out, const struct report* from) {
  if (has(from, "r = ")) put(out, "  long r = 0;\n");
  if (has(from, "pipe(")) {
    put(out, "  int p[2], status;\n  char c;\n");
  } else if (has(from, "fork()")) {
    put(out, "  int status;\n");
  }
}

size_t write_program(const struct report* from, const struct promise* promise, char* to, size_t most) {
  struct writer out = {to, most, 0};
  put(&out, "// %s\n// Exits with 1, and says what it found, where that is broken.\n", promise->statement);
  if (from->race != NULL) {
    put(&out, "%s", from->race);
    return out.used;
  }
  put(&out, "%s", kHead);
  if (has(from, "check")) put(&out, "%s", kCheck);
  if ((from->helpers & (kNeedsEither | kNeedsPagemap | kNeedsScan)) != 0) put(&out, "enum { PAGE = %zu };\n\n", page);
  if ((from->helpers & kNeedsEither) != 0) put(&out, "%s", kEither);
  if ((from->helpers & kNeedsPagemap) != 0) put(&out, "%s", kPagemap);
  if ((from->helpers & kNeedsScan) != 0) put(&out, "%s", kScan);
  if ((from->helpers & kNeedsUserfault) != 0) put(&out, "%s", kUserfault);
  if ((from->helpers & kNeedsLimit) != 0) put(&out, "%s", kLimit);
  if ((from->helpers & kNeedsCgroup) != 0) put(&out, "%s", kCgroup);
  put(&out, "int main(void) {\n");
  put_variables(&out, from);
  // Inserts the child's steps at the fork.
  for (const char* line = from->steps[0]; line < from->steps[0] + from->used[0];) {
    const char* stop = strchr(line, '\n');
    if (stop == NULL) break;
    if (strncmp(line, "  @child", 8) == 0) {
      put(&out, "%.*s", (int)from->used[1], from->steps[1]);
      // The child must exit even if it finds nothing wrong.
      if (strstr(from->steps[1], "_exit(0);") == NULL) put(&out, "    _exit(0);\n");
    } else {
      put(&out, "%.*s\n", (int)(stop - line), line);
    }
    line = stop + 1;
  }
  if (has(from, "r = ")) put(&out, "  (void)r;\n");
  put(&out, "  puts(\"kept\");\n  return 0;\n}\n");
  return out.used;
}
