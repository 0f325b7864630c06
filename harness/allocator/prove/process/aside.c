#include "prove/process/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "prove/process/execute.h"
#include "prove/process/own.h"
#include "prove/process/rows.h"

static struct head first;
static uint64_t kept[2]; /* bit set of rows */

static const char* path_of(const char* record) {
  static char path[kPath];
  snprintf(path, sizeof path, "%s.aside", record);
  return path;
}

static void write_record(const char* path, const struct head* of) {
  const size_t bytes = kHeadBytes + of->ops * sizeof(struct op);
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  for (size_t done = 0; done < bytes;) {
    const ssize_t some = file < 0 ? -1 : write(file, (const char*)of + done, bytes - done);
    if (some <= 0) give_up("%s: %s", path, strerror(errno));
    done += (size_t)some;
  }
  close(file);
}

int keep_aside(const struct slot* slot, const char* record) {
  struct head* const of = slot->head;
  const struct op* const op = &of->found.op;
  if (of->finding == kNoFinding || op->kind != kOpCall || op->row < standard_rows) return 0;
  print_line("aside %s function=%s", finding_names[of->finding], rows[op->row].symbol);
  if ((kept[0] | kept[1]) == 0) {
    write_record(path_of(record), of);
    memcpy(&first, of, sizeof first);
  }
  kept[op->row / 64] |= (uint64_t)1 << op->row % 64;
  of->finding = kNoFinding;
  return 1;
}

void leave_kept_out(struct head* of) {
  of->left_out[0] |= kept[0];
  of->left_out[1] |= kept[1];
}

const struct head* take_aside(const char* record) {
  if ((kept[0] | kept[1]) == 0) return NULL;
  if (rename(path_of(record), record) != 0) give_up("%s: %s", record, strerror(errno));
  return &first;
}
