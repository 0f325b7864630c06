#define _GNU_SOURCE
#include "prove/process/execute.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "prove/process/history.h"
#include "prove/process/own.h"
#include "prove/process/ranges.h"
#include "prove/process/rows.h"
#include "prove/process/watched_pages.h"

enum { kFailed = 1, kChildCalls = 3, kMostChildBytes = 64 << 20 };

struct block* blocks;
const char* const finding_names[kFindings] = {"nothing",    "not_zero",        "overflow_accepted", "contents_changed",
                                              "overlap",    "misaligned",      "usable_too_small",  "not_kept",
                                              "child_died", "usable_too_large"};
static int prints;
static uint64_t ids;
static const struct op nothing;
static _Thread_local const struct op* current = &nothing;

void open_blocks(uint64_t count_of_ids, uint64_t most_live) {
  ids = count_of_ids;
  blocks = reserve(count_of_ids * sizeof *blocks);
  open_ranges(most_live);
}

static int is_ignored(enum finding finding) { return (head->ignored >> finding & 1) != 0; }

void print_findings(void) { prints = 1; }

void print_finding(const struct head* of) {
  const struct op* const op = &of->found.op;
  print_line(
      "finding %s function=%s id=%u block=%u n=%llu m=%llu alignment=%llu thread=%u bytes=%llu at=%llu detail=%llu",
      finding_names[of->finding], op->kind == kOpCall ? rows[op->row].symbol : "-", op->id, op->block,
      (unsigned long long)op->n, (unsigned long long)op->m, op->lg == 0 ? 0ULL : 1ULL << op->lg, op->thread,
      (unsigned long long)of->found.bytes, (unsigned long long)of->found.at, (unsigned long long)of->found.detail);
}

/* Enters a finding in the head and ends the process. If several threads have a finding, only the first finding
 * counts. */
static _Noreturn void fail(enum finding finding, uint64_t at, uint64_t detail, const struct block* block) {
  uint32_t none = kNoFinding;
  if (!__atomic_compare_exchange_n(&head->finding, &none, finding, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    for (;;) pause();
  }
  head->finding_op = current->id;
  head->found = (struct found){*current, block == NULL ? 0 : block->bytes, at, detail};
  if (prints) print_finding(head);
  _exit(kFailed);
}

static void expect(int64_t wrong, enum finding finding, uint64_t to, const struct block* block) {
  if (wrong < 0 || is_ignored(finding)) return;
  const uint64_t at = (uint64_t)wrong;
  fail(finding, at, finding == kNotZero ? nonzero_bytes(block->at, at, to) : (unsigned char)block->at[at], block);
}

static void verify_block(const struct block* block) {
  count(&head->checked_bytes, block->bytes);
  expect(verify_contents(block->at, block->bytes, block->bytes, block->contents), kContentsChanged, block->bytes,
         block);
}

static uint64_t usable_of(const struct block* block) {
  if (usable_size == NULL || rows[block->row].is_foreign) return block->bytes;
  const uint64_t usable = usable_size(block->at);
  if (usable >= block->bytes) return usable;
  if (!is_ignored(kUsableTooSmall)) fail(kUsableTooSmall, usable, 0, block);
  return block->bytes;
}

/* Checks that the block's usable bytes are mapped and belong to no other block. Returns the number of usable bytes. */
static uint64_t writable_of(const struct block* block) {
  const uint64_t usable = usable_of(block);
  if (usable == block->bytes || is_ignored(kUsableTooLarge)) return block->bytes;
  const uintptr_t end = (uintptr_t)block->at + usable;
  const uint32_t other = range_in((uintptr_t)block->at + block->bytes, end);
  unsigned char resident = 0;
  const uintptr_t page = (end - 1) / page_bytes() * page_bytes();
  /* NOLINTNEXTLINE(performance-no-int-to-ptr): the address of a page */
  const int is_unmapped = mincore((void*)page, 1, &resident) != 0 && errno == ENOMEM;
  if (end < (uintptr_t)block->at || is_unmapped || other != 0) fail(kUsableTooLarge, usable, other, block);
  return usable;
}

static void fill(struct block* block, uint32_t key, enum fill how) {
  if (how == kFillNone) return;
  const uint64_t usable = how == kFillUsable ? writable_of(block) : block->bytes;
  write_contents(block->at, block->bytes, usable, key, how);
  block->contents.key = key;
  block->contents.fill = (uint8_t)how;
  if (how != kFillZeros && block->written_to < block->bytes) block->written_to = block->bytes;
  if (how == kFillUsable) block->keeps_zero_promise = 0;
}

int overflows(const struct row* row, const struct op* op) {
  uint64_t bytes = 0;
  return has_argument(row, 'm') && __builtin_mul_overflow(op->n, op->m, &bytes);
}

static void add(struct block* block, uint32_t id) {
  block->is_live = 1;
  if (block->bytes == 0) return; /* Several blocks of 0 bytes may have the same address. */
  const uintptr_t from = (uintptr_t)block->at;
  const uint32_t other = add_range((struct range){from, from + block->bytes, id});
  if (other != 0) fail(kOverlap, (uint64_t)(block->at - blocks[other].at), other, block);
}

static void remove_block(struct block* block) {
  if (block->bytes != 0) remove_range((uintptr_t)block->at);
  block->is_live = 0;
}

static uint8_t alignment_of(const struct block* block) { return required_alignment(block->lg, block->bytes); }

static void check_alignment(const struct block* block) {
  const unsigned lg = alignment_of(block);
  if (is_ignored(kMisaligned)) return;
  if (((uintptr_t)block->at & (((uintptr_t)1 << lg) - 1)) != 0)
    fail(kMisaligned, (uintptr_t)block->at % page_bytes(), 0, block);
}

/* Checks the function's promise about the bytes of its result. `usable` is the usable size of the old block. */
static void check_promise(const struct row* row, const struct block* block, const struct block* old, uint64_t usable) {
  uint64_t zeros_from = block->bytes;
  if (row->promise == kPromiseZero) zeros_from = 0;
  if (old != NULL && (row->promise == kPromiseGrown || row->promise == kPromiseGrownUnwritten)) zeros_from = old->bytes;
  if (old != NULL && row->promise == kPromiseGrownUnwritten && zeros_from < old->written_to)
    zeros_from = old->written_to;
  if (row->promise == kPromiseGrownUsable || row->promise == kPromiseGrownInPlace) zeros_from = usable;
  if (old != NULL) {
    const uint64_t common = old->bytes < block->bytes ? old->bytes : block->bytes;
    count(&head->checked_bytes, common);
    expect(verify_contents(block->at, old->bytes, common, old->contents), kNotKept, common, block);
  }
  if (zeros_from >= block->bytes) return;
  count(&head->checked_bytes, block->bytes - zeros_from);
  expect(first_nonzero(block->at, zeros_from, block->bytes), kNotZero, block->bytes, block);
}

/* Enters the result of a call as a new block. */
static void take(const struct op* op, const struct row* row, char* at, const struct block* old, uint64_t usable) {
  struct block* const block = &blocks[op->id];
  const uint64_t bytes = op->n * (has_argument(row, 'm') ? op->m : 1);
  *block = (struct block){.at = at, .bytes = bytes, .row = op->row, .lg = op->lg, .thread = op->thread};
  if (old != NULL) block->written_to = old->written_to;
  if (old != NULL && row->promise == kPromiseGrownInPlace) {
    block->lg = old->lg;
    if (usable_size != NULL && !row->is_foreign && usable_size(at) < bytes) block->bytes = old->bytes;
  }
  check_alignment(block);
  add(block, op->id);
  if (op->id % 4 == 0) usable_of(block);
  if (row->promise == kPromiseZero) note_calloc(block);
  if (old != NULL) note_realloc(old, block);
  check_promise(row, block, old, usable);
  block->contents.zero = row->promise == kPromiseZero;
  block->keeps_zero_promise = row->promise >= kPromiseGrown || row->promise == kPromiseZero;
  fill(block, op->id, op->fill);
}

static void call(const struct op* op) {
  static _Thread_local struct op capped;
  const struct row* const row = &rows[op->row];
  struct block* const source = has_argument(row, 'p') ? &blocks[op->block] : NULL;
  struct block old = {0};
  uint64_t usable = 0;
  if (!is_usable(op->row) || (source != NULL && !source->is_live)) return;
  /* mimalloc's functions keep the old block's offset within the alignment, so a reallocation is called with an
   * alignment that the old block has. */
  if (source != NULL && has_argument(row, 'a') && alignment_of(source) < op->lg) {
    capped = *op;
    capped.lg = alignment_of(source);
    current = op = &capped;
  }
  if (source != NULL) {
    verify_block(source);
    if (row->promise == kPromiseGrownUsable || row->promise == kPromiseGrownInPlace) usable = usable_of(source);
    old = *source;
    remove_block(source);
  }
  const uint64_t value = call_row(row, op, (struct operand){old.at, old.bytes});
  char* const at = row->promise == kPromiseGrownInPlace ? old.at : (char*)(uintptr_t)value;
  if (at == NULL) {
    count(&head->null_results, 1);
    if (source != NULL) add(source, op->block);
    return;
  }
  if (overflows(row, op)) fail(kOverflowAccepted, 0, 0, NULL);
  take(op, row, at, source != NULL ? &old : NULL, usable);
}

static void release(struct block* block, unsigned thread) {
  verify_block(block);
  if (block->bytes % 8 == 0) usable_of(block); /* checks the usable size of some blocks, which is enough */
  note_free(block, thread);
  remove_block(block);
  release_block(&rows[block->row], (struct operand){block->at, block->bytes}, block->lg);
}

void verify_all(void) {
  for (size_t i = 0; i < range_count(); ++i) verify_block(&blocks[range_at(i).id]);
}

/* Three times, writes to a block, frees the block, and calls calloc for the same number of bytes. */
static void zero_again(const struct op* op, struct block* block) {
  const struct op same = {.n = 1, .m = block->bytes};
  for (int i = 0; i < kChildCalls && block->is_live && is_usable(kRowCalloc); ++i) {
    fill(block, op->id, kFillAll);
    release(block, op->thread);
    *block = (struct block){.bytes = same.m, .contents = {.zero = 1}, .row = kRowCalloc};
    block->at = (char*)(uintptr_t)call_row(&rows[kRowCalloc], &same, (struct operand){0});
    if (block->at == NULL) return;
    add(block, (uint32_t)(block - blocks));
    expect(first_nonzero(block->at, 0, block->bytes), kNotZero, block->bytes, block);
  }
}

/* The child checks all blocks, replaces one block by a block of calloc, and calls calloc for a new block of m bytes. */
static _Noreturn void be_child(const struct op* op) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  forget_pagemap();
  close_watched_pages();
  verify_all();
  if (blocks[op->block].is_live && blocks[op->block].bytes <= kMostChildBytes) zero_again(op, &blocks[op->block]);
  struct block* const block = &blocks[op->id];
  const struct op first = {.n = 1, .m = op->m};
  *block = (struct block){.bytes = op->m, .contents = {.zero = 1}, .row = kRowCalloc};
  if (op->m <= kMostChildBytes && is_usable(kRowCalloc)) {
    block->at = (char*)(uintptr_t)call_row(&rows[kRowCalloc], &first, (struct operand){0});
  }
  if (block->at != NULL) {
    add(block, op->id);
    expect(first_nonzero(block->at, 0, block->bytes), kNotZero, block->bytes, block);
    zero_again(op, block);
  }
  verify_all();
  _exit(0);
}

static void count32(uint32_t* counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }

static void fork_now(const struct op* op) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) be_child(op);
  if (child < 0) return;
  head->child = child;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  head->child = 0;
  if (head->finding != kNoFinding) _exit(kFailed);
  if (head->is_limited && WIFSIGNALED(status)) {
    count32(&head->crashes_at_limit);
  } else if ((!WIFEXITED(status) || WEXITSTATUS(status) != 0) && !is_ignored(kChildDied)) {
    fail(kChildDied, 0, (uint64_t)(WIFSIGNALED(status) ? WTERMSIG(status) : 0), NULL);
  }
}

static void pause_for(uint64_t microseconds) {
  struct timespec left = {(time_t)(microseconds / 1000000), (long)(microseconds % 1000000 * 1000)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

static void set_limit(uint64_t more) {
  char text[64] = {0};
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0) return;
  head->is_limited = more != 0;
  limit.rlim_cur = limit.rlim_max;
  if (more != 0) {
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, text, sizeof text - 1) <= 0) more = (uint64_t)1 << 40;
    if (file >= 0) close(file);
    limit.rlim_cur = strtoull(text, NULL, 10) * page_bytes() + more;
  }
  setrlimit(RLIMIT_AS, &limit);
}

static int writes_all(enum fill how) { return how == kFillAll || how == kFillUsable || how == kFillZeros; }

void perform(const struct op* op) {
  current = op;
  count(&head->calls[op->kind], 1);
  struct block* const block = &blocks[op->block];
  switch (op->kind) {
    case kOpCall:
      call(op);
      break;
    case kOpFree:
      if (block->is_live) release(block, op->thread);
      break;
    case kOpFill:
      /* A partial fill over another one would leave contents that no single fill describes. */
      if (!block->is_live || (block->contents.fill != kFillNone && !writes_all(op->fill))) break;
      verify_block(block);
      fill(block, op->id, op->fill);
      break;
    case kOpVerify:
      if (!block->is_live) break;
      verify_block(block);
      usable_of(block);
      break;
    case kOpFork:
      fork_now(op);
      note_event(kEventFork);
      break;
    case kOpPause:
      pause_for(op->n);
      note_event(kEventPause);
      break;
    case kOpTrim:
      if (trim != NULL) trim(op->n);
      note_event(kEventTrim);
      break;
    case kOpLimit:
      set_limit(op->n);
      note_event(kEventLimit);
      break;
    default:
      break;
  }
  current = &nothing;
}
