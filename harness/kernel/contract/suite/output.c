#include "contract/suite/suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static const char* verdict_word(enum verdict verdict) {
  static const char* const kWords[] = {"not testable here", "kept", "broken", "unsupported", "not testable here"};
  return kWords[verdict];
}

static size_t found_text(const struct report* found, char* to, size_t most) {
  size_t used = 0;
  to[0] = 0;
  for (uint32_t i = 0; i < found->found_bytes; ++i) {
    used += (size_t)snprintf(to + used, most - used, "%s%02x", i == 0 ? "" : " ", found->found[i]);
  }
  return used;
}

void print_line(const char* family, const struct promise* promise, const struct report* found) {
  (void)family;
  if (found == NULL) {
    printf("%-22s %s\n", promise->id, promise->statement);
    return;
  }
  printf("%-22s %s%s%s", promise->id, verdict_word(found->verdict), found->detail[0] != 0 ? ": " : "", found->detail);
  if (found->tries > 0) printf(" (%llu tries in %.1f s)", (unsigned long long)found->tries, found->seconds);
  printf("\n");
  if (found->verdict != kBroken || found->found_bytes == 0) return;
  char bytes[64];
  found_text(found, bytes, sizeof bytes);
  printf("%-22s at 0x%llx: %s\n", "", (unsigned long long)found->address, bytes);
}

static void print_string(const char* text) {
  putchar('"');
  for (; *text != 0; ++text) {
    const unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') {
      printf("\\%c", c);
    } else if (c == '\n') {
      fputs("\\n", stdout);
    } else if (c < 0x20 || c > 0x7e) {
      printf("\\u%04x", c);
    } else {
      putchar(c);
    }
  }
  putchar('"');
}

static void print_field(const char* name, const char* text) {
  printf(",\"%s\":", name);
  print_string(text);
}

void print_head(unsigned promises) {
  struct utsname system = {0};
  uname(&system);
  printf("{\"suite\":\"zerotax-contract/1\",\"promises\":%u", promises);
  print_field("system", system.sysname);
  print_field("kernel", system.release);
  print_field("machine", system.machine);
  printf(",\"page_bytes\":%zu,\"user_id\":%u,\"race_seconds\":%g}\n", page, (unsigned)getuid(), race_seconds);
}

void print_json(const char* family, const struct promise* promise, const struct report* found) {
  printf("{\"id\":");
  print_string(promise->id);
  print_field("family", family);
  print_field("statement", promise->statement);
  print_field("relied_on_by", promise->relied_on_by);
  if (found != NULL) {
    print_field("verdict", verdict_word(found->verdict));
    print_field("detail", found->detail);
    printf(",\"seconds\":%.6f", found->seconds);
    if (found->verdict == kUnsupported) print_field("error", error_name(found->error));
    if (found->tries > 0) printf(",\"tries\":%llu", (unsigned long long)found->tries);
    if (found->verdict == kBroken && found->found_bytes > 0) {
      char bytes[64];
      found_text(found, bytes, sizeof bytes);
      printf(",\"address\":%llu,\"offset\":%llu,\"expected\":%d", (unsigned long long)found->address,
             (unsigned long long)found->offset, found->expected);
      print_field("found", bytes);
    }
    if (found->verdict != kKept && found->verdict != kBroken) {
      printf("}\n");
      return;  // the list of steps is incomplete
    }
    static char program[20000];
    const size_t bytes = write_program(found, promise, program, sizeof program);
    program[bytes] = 0;
    print_field("program", program);
  }
  printf("}\n");
}

void print_summary(const unsigned* counts) {
  printf("%u kept, %u broken, %u unsupported, %u not testable here\n", counts[kKept], counts[kBroken],
         counts[kUnsupported], counts[kNotTestable]);
}
