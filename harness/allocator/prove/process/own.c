#define _GNU_SOURCE
#include "prove/process/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { kLine = 1024, kBadInput = 2, kNoMachine = 3 };

static const char* lines_path;
static char* message;
static size_t message_room;

void write_lines_to(const char* path) { lines_path = path; }

void keep_message_in(char* to, size_t room) {
  message = to;
  message_room = room;
}

/* Writes a line to the file of --lines, if one is given. The file is opened for each line, because a library may close
 * descriptors. */
static void write_line(int to, const char* form, va_list values) {
  char line[kLine];
  int length = vsnprintf(line, sizeof line - 1, form, values);
  if (length < 0) return;
  if (length > kLine - 2) length = kLine - 2;
  line[length] = '\n';
  const int file = lines_path == NULL ? to : open(lines_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (write(file, line, (size_t)length + 1) < 0) _exit(kNoMachine);
  if (file != to) close(file);
}

void print_line(const char* form, ...) {
  va_list values;
  va_start(values, form);
  write_line(STDOUT_FILENO, form, values);
  va_end(values);
}

/* Reports to the supervisor or to the user why this program ends. */
static void write_message(const char* form, va_list values) {
  if (message == NULL) {
    write_line(STDERR_FILENO, form, values);
  } else {
    vsnprintf(message, message_room, form, values);
  }
}

void give_up(const char* form, ...) {
  va_list values;
  va_start(values, form);
  write_message(form, values);
  va_end(values);
  _exit(kBadInput);
}

static __attribute__((format(printf, 1, 2))) _Noreturn void stop(const char* form, ...) {
  va_list values;
  va_start(values, form);
  write_message(form, values);
  va_end(values);
  _exit(kNoMachine);
}

void* reserve(size_t bytes) {
  void* const memory = own_private_memory(bytes);
  if (memory != NULL) return memory;
  stop("no memory for the generator: %zu bytes", bytes);
}

uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

char* read_text(const char* path) {
  struct stat status;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || fstat(file, &status) != 0) give_up("%s: %s", path, strerror(errno));
  char* const text = reserve((size_t)status.st_size + 1);
  for (size_t got = 0; got < (size_t)status.st_size;) {
    const ssize_t more = read(file, text + got, (size_t)status.st_size - got);
    if (more <= 0) break;
    got += (size_t)more;
  }
  close(file);
  return text;
}
