/* Repeats the calls of a recording under the allocator that is preloaded. Usage: replay-calls FILE PROCESS. Without
 * arguments, this program was started under the name of a recording that a user gave in place of a command.
 * The command prepares and checks FILE (prepared.h). This program does not use the allocator for itself. Its own memory
 * is a shared mapping, so that it does not count as anonymous memory, and its faults are counted. With arguments, each
 * process prints one line at its end: its calls, its failed calls, and the minor faults of the replay itself. */
#define _GNU_SOURCE
#include "replay/process/replay_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay/process/own_memory.h"
#include "replay/process/prepared.h"

enum { kSmall = 16384, kFailed = 3 };

struct slot {
  char* block;
  atomic_uint turn; /* number of operations so far; only if free-running */
};

/* A thread's position in its stream. */
struct reader {
  unsigned char* block; /* a struct prepared_block, followed by its operations */
  const unsigned char* at;
  const unsigned char* end;
  uint64_t next;
};

struct worker {
  struct reader reader;
  uint32_t number;
  uint64_t calls;
  uint64_t failed;
  int ended;
};

static uint64_t page; /* bytes */
static int file = -1;
static const char* path;
static int speaks; /* whether the process prints a line at its end */
static struct prepared_head head;
static struct prepared_process process;
static struct slot* slots;
static atomic_ullong ended_calls, ended_failed;

static void give_up(const char* what) {
  char line[256];
  const int length = snprintf(line, sizeof line, "replay-calls: %s: %s\n", what, strerror(errno));
  if (write(STDERR_FILENO, line, (size_t)length) < 0) _exit(kFailed);
  _exit(kFailed);
}

static void read_file(void* to, size_t bytes, uint64_t offset) {
  for (size_t got = 0; got < bytes;) {
    const ssize_t more = pread(file, (char*)to + got, bytes - got, (off_t)(offset + got));
    if (more <= 0) give_up("the prepared file");
    got += (size_t)more;
  }
}

static int next_block(struct reader* reader) {
  if (reader->next == 0) return 0;
  struct prepared_block* const block = (struct prepared_block*)reader->block;
  read_file(block, sizeof *block, reader->next);
  read_file(block + 1, block->bytes, reader->next + sizeof *block);
  reader->at = (unsigned char*)(block + 1);
  reader->end = reader->at + block->bytes;
  reader->next = block->next;
  return 1;
}

static uint64_t number(struct reader* reader) {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const unsigned char byte = *reader->at++;
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

static struct slot* slot_of(struct worker* worker) {
  struct slot* const slot = &slots[number(&worker->reader)];
  if (process.free_running) {
    const unsigned turn = (unsigned)number(&worker->reader);
    while (atomic_load_explicit(&slot->turn, memory_order_acquire) != turn) sched_yield();
  }
  return slot;
}

static void done(struct slot* slot) {
  if (process.free_running) atomic_fetch_add_explicit(&slot->turn, 1, memory_order_release);
}

static void write_to(char* at) { *(volatile char*)at = 1; }

/* Writes one byte to each page of a small block, because the recording does not contain the pages of small blocks. */
static void write_small(char* block, uint64_t bytes) {
  if (bytes == 0 || bytes >= kSmall) return;
  char* const end = block + bytes;
  write_to(block);
  for (char* at = (char*)(((uintptr_t)block | (page - 1)) + 1); at < end; at += page) write_to(at);
}

/* Writes to ranges of pages of a block. Page 0 is the page on which the block begins. */
static void touch(struct worker* worker) {
  struct reader* const reader = &worker->reader;
  struct slot* const slot = slot_of(worker);
  const uint64_t bytes = number(reader);
  char* const block = slot->block;
  char* at = (char*)((uintptr_t)block & ~(uintptr_t)(page - 1));
  for (uint64_t ranges = number(reader); ranges != 0; --ranges) {
    at += number(reader) * page;
    for (uint64_t pages = number(reader); pages != 0; --pages, at += page) {
      if (block == NULL || at >= block + bytes) continue;
      write_to(at < block ? block : at);
    }
  }
  done(slot);
}

static void allocate(struct worker* worker, enum prepared_operation operation) {
  struct slot* const slot = slot_of(worker);
  const uint64_t bytes = number(&worker->reader);
  void* block = NULL;
  ++worker->calls;
  begin_call();
  switch (operation) {
    case kOpMalloc:
      block = malloc(bytes);
      break;
    case kOpCalloc:
      block = calloc(1, bytes);
      break;
    case kOpRealloc:
      block = realloc(slot->block, bytes);
      /* The recorded realloc succeeded, and its old block no longer existed. If realloc fails in the replay, the old
         block is freed. */
      if (block == NULL && slot->block != NULL && bytes != 0) free(slot->block);
      break;
    default: {
      const uint64_t alignment = (uint64_t)1 << number(&worker->reader);
      if (posix_memalign(&block, alignment < sizeof(void*) ? sizeof(void*) : alignment, bytes) != 0) block = NULL;
    }
  }
  end_call();
  slot->block = block;
  if (block == NULL) {
    ++worker->failed;
  } else {
    write_small(block, bytes);
  }
  done(slot);
}

static void free_slot(struct worker* worker) {
  struct slot* const slot = slot_of(worker);
  ++worker->calls;
  begin_call();
  free(slot->block);
  end_call();
  slot->block = NULL;
  done(slot);
}

/* Repeats a mapping that the program made for itself. */
static void map(struct worker* worker) {
  struct slot* const slot = slot_of(worker);
  const uint64_t bytes = number(&worker->reader);
  void* const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  slot->block = memory == MAP_FAILED ? NULL : memory;
  worker->failed += memory == MAP_FAILED;
  done(slot);
}

static void unmap(struct worker* worker) {
  struct slot* const slot = slot_of(worker);
  const uint64_t bytes = number(&worker->reader);
  if (slot->block != NULL) munmap(slot->block, bytes);
  slot->block = NULL;
  done(slot);
}

static void return_pages(struct worker* worker) {
  struct slot* const slot = slot_of(worker);
  const uint64_t first = number(&worker->reader);
  const uint64_t pages = number(&worker->reader);
  if (slot->block != NULL) madvise(slot->block + first * page, pages * page, MADV_DONTNEED);
  done(slot);
}

static void ask_for_huge_pages(struct worker* worker) {
  struct slot* const slot = slot_of(worker);
  const uint64_t first = number(&worker->reader);
  const uint64_t pages = number(&worker->reader);
  char* const begin = (char*)((uintptr_t)slot->block & ~(uintptr_t)(page - 1)) + first * page;
  if (slot->block != NULL) madvise(begin, pages * page, MADV_HUGEPAGE);
  done(slot);
}

static void open_reader(struct reader* reader, uint64_t thread) {
  reader->block = own_memory(sizeof(struct prepared_block) + kPreparedBlockBytes);
  read_file(&reader->next, sizeof reader->next, process.threads + thread * sizeof(uint64_t));
  reader->at = reader->end = NULL;
}

static void count(const struct worker* worker) {
  atomic_fetch_add(&ended_calls, worker->calls);
  atomic_fetch_add(&ended_failed, worker->failed);
}

static void work(struct worker* worker);

static void* begin_thread(void* thread) {
  struct worker worker = {.number = (uint32_t)(uintptr_t)thread};
  open_reader(&worker.reader, worker.number);
  work(&worker);
  count(&worker);
  own_memory_back(worker.reader.block, sizeof(struct prepared_block) + kPreparedBlockBytes);
  const int stays = !worker.ended;
  thread_is_done();
  if (stays) {
    for (;;) pause();
  }
  return NULL;
}

static void start(uint64_t thread) {
  pthread_t started;
  ++threads_running;
  errno = pthread_create(&started, NULL, begin_thread, (void*)(uintptr_t)thread);
  if (errno != 0) give_up("a thread cannot be started");
  pthread_detach(started);
}

/* Prints the counts of the process after all of its threads have ended. */
static void finish(struct worker* worker) {
  count(worker);
  wait_for_threads();
  if (!speaks) return;
  char line[128];
  const int length = snprintf(line, sizeof line, "%llu %llu %llu\n", (unsigned long long)ended_calls,
                              (unsigned long long)ended_failed, (unsigned long long)own_faults());
  if (write(STDOUT_FILENO, line, (size_t)length) != length) give_up("its output");
}

static void wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    errno = ECHILD;
    give_up("a process of the replay failed");
  }
}

/* The child continues with the blocks of its parent. The parent continues after the child has ended. */
static void fork_process(struct worker* worker, uint64_t child_number) {
  const pid_t child = fork();
  if (child < 0) give_up("fork");
  if (child != 0) {
    wait_for(child);
    return;
  }
  const struct slot* const before = slots;
  const uint64_t had = process.slots;
  read_file(&process, sizeof process, sizeof head + child_number * sizeof process);
  forget_threads();
  forget_own_faults();
  slots = own_memory(process.slots * sizeof *slots);
  /* The parent's slots are in shared memory, for which fork copies no page tables. Reading them thus takes page faults.
   */
  const uint64_t faults = begin_own_faults();
  for (uint64_t i = 0; i < had && i < process.slots; ++i) slots[i].block = before[i].block;
  end_own_faults(faults);
  ended_calls = ended_failed = 0;
  *worker = (struct worker){.number = 0};
  open_reader(&worker->reader, 0);
}

static void spawn(uint64_t other) {
  char word[24];
  snprintf(word, sizeof word, "%llu", (unsigned long long)other);
  char* const words[] = {"replay-calls", (char*)path, word, speaks ? NULL : "silent", NULL};
  pid_t child = 0;
  errno = posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ);
  if (errno != 0) give_up("posix_spawn");
  wait_for(child);
}

static void step(struct worker* worker) {
  struct reader* const reader = &worker->reader;
  const enum prepared_operation operation = *reader->at++;
  switch (operation) {
    case kOpFree:
      free_slot(worker);
      break;
    case kOpTouch:
      touch(worker);
      break;
    case kOpTurn:
      wait_for_turn(number(reader));
      break;
    case kOpPass:
      pass_turn();
      break;
    case kOpStart:
      start(number(reader));
      break;
    case kOpFork:
      fork_process(worker, number(reader));
      break;
    case kOpSpawn:
      spawn(number(reader));
      break;
    case kOpMap:
      map(worker);
      break;
    case kOpUnmap:
      unmap(worker);
      break;
    case kOpReturn:
      return_pages(worker);
      break;
    case kOpEnd:
      worker->ended = 1;
      break;
    case kOpHuge:
      ask_for_huge_pages(worker);
      break;
    case kOpTime:
      time_passed(number(reader));
      break;
    default:
      allocate(worker, operation);
      break;
  }
}

static void work(struct worker* worker) {
  struct reader* const reader = &worker->reader;
  do {
    while (reader->at != reader->end) step(worker);
  } while (next_block(reader));
  if (worker->number != 0) return;
  finish(worker);
  exit(0);
}

/* Returns the path of a recording's prepared file, in the folder that the command made. */
static const char* prepared_for(const char* recording) {
  static char found[4096];
  struct stat status;
  const char* const folder = getenv(PREPARED_FOLDER_VARIABLE);
  if (folder == NULL || stat(recording, &status) != 0) give_up(recording);
  snprintf(found, sizeof found, "%s/%lu-%lu", folder, (unsigned long)status.st_dev, (unsigned long)status.st_ino);
  return found;
}

int main(int argc, char** argv) {
  if (argc == 2 || argc > 4) {
    errno = EINVAL;
    give_up("a recording takes no arguments");
  }
  begin_time();
  page = page_bytes();
  speaks = argc == 3;
  path = argc == 1 ? prepared_for(argv[0]) : argv[1];
  file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) give_up(path);
  read_file(&head, sizeof head, 0);
  const uint64_t first = argc == 1 ? 0 : strtoull(argv[2], NULL, 10);
  read_file(&process, sizeof process, sizeof head + first * sizeof process);
  if (process.timed) follow_recorded_time();
  if (getenv(WAIT_VARIABLE) != NULL) wait_in_pause(process.last_pause);
  slots = own_memory(process.slots * sizeof *slots);
  populate_image(process.image_zeroed, process.image_copied);
  struct worker worker = {.number = 0};
  open_reader(&worker.reader, 0);
  work(&worker);
}
