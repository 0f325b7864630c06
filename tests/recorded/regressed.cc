// Is efficient, or inefficient if REGRESSED is in the environment. Usage: regressed WAY. A check that compares the two
// must find the difference. WAY names a function, which the check must report.
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "block.h"

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kKiB = std::size_t{1} << 10;

bool regressed = false;

char* filled(std::size_t bytes) {
  auto* block = static_cast<char*>(std::malloc(bytes));
  std::memset(block, 7, bytes);
  escape(block);
  return block;
}

/// Keeps freed memory in the heap, unless the function sets other options.
void keep_memory() {
  mallopt(M_MMAP_THRESHOLD, 512 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
}

class Decoder {
 public:
  void read() {
    for (char*& block : blocks_) block = filled(kMiB);
  }
  void reset() {
    for (char* block : blocks_) std::free(block);
  }

 private:
  char* blocks_[4] = {};
};

void threshold() {
  if (regressed) mallopt(M_MMAP_THRESHOLD, 256 << 10);
  Decoder decoder;
  for (int round = 0; round < 16; ++round) {
    decoder.read();
    decoder.reset();
  }
}

void parse_lines() {
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  std::vector<char> line;
  for (int round = 0; round < 16; ++round) {
    line.assign(kMiB, 'x');
    escape(line.data());
    line.clear();
    if (regressed) line.shrink_to_fit();
  }
}

void collect() {
  std::vector<std::string*> names;
  constexpr std::size_t kNames = 300'000;
  if (!regressed) names.reserve(kNames);
  for (std::size_t i = 0; i < kNames; ++i) names.push_back(nullptr);
  escape(names.data());
}

void render() {
  char* frame = filled(kMiB);
  for (int round = 0; round < 16; ++round) {
    if (regressed) std::memset(frame, 0, kMiB);
    frame[0] = 1;
  }
  escape(frame);
}

void make_table() {
  constexpr std::size_t kBytes = 8 * kMiB;
  void* table = regressed ? std::malloc(kBytes) : std::calloc(1, kBytes);
  if (regressed) std::memset(table, 0, kBytes);
  escape(table);
  std::free(table);
}

void copy_all() {
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  void* buffer = regressed ? nullptr : std::malloc(kMiB);
  for (int round = 0; round < 16; ++round) {
    if (regressed) buffer = std::malloc(kMiB);
    std::memset(buffer, 1, kMiB);
    escape(buffer);
    if (regressed) std::free(buffer);
  }
}

[[gnu::noinline]] char* allocate_name() { return filled(25); }
[[gnu::noinline]] char* allocate_row() { return filled(1000); }

/// Frees a table and idles. glibc returns the table's pages when its last row is freed, but not if a name follows.
void pin() {
  static char* rows[10'000];
  if (!regressed) allocate_name();
  for (char*& row : rows) row = allocate_row();
  if (regressed) allocate_name();
  for (std::size_t i = 0; i + 1 < std::size(rows); ++i) std::free(rows[i]);
  mallopt(M_TRIM_THRESHOLD, 128 << 10);
  std::free(*std::rbegin(rows));
  usleep(1'400'000);
}

void serve() {
  for (int round = 0; round < 16; ++round) {
    char* blocks[32];
    for (char*& block : blocks) block = filled(64 * kKiB);
    for (char* block : blocks) std::free(block);
    if (regressed) malloc_trim(0);
  }
}

/// Allocates two large blocks. The number of faults is the same with and without REGRESSED.
void merge() {
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  auto* first = static_cast<char*>(std::malloc(8 * kMiB));
  std::memset(first, 1, 8 * kMiB);
  if (!regressed) std::free(first);
  auto* second = static_cast<char*>(std::malloc(8 * kMiB));
  std::memset(second, 1, 8 * kMiB);
  if (regressed) std::free(first);
  std::free(second);
}

/// Allocates two large blocks of which few pages are touched. Faults and resident memory are the same with and without
/// REGRESSED.
void join() {
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  void* first = std::malloc(8 * kMiB);
  escape(first);
  if (!regressed) std::free(first);
  void* second = std::malloc(8 * kMiB);
  escape(second);
  if (regressed) std::free(first);
  std::free(second);
}

void in_child() {
  const pid_t child = fork();
  if (child == 0) {
    make_table();
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
}

void in_thread() { std::thread(render).join(); }

/// Fills a block every 20 ms until the process has used 120 ms of CPU time. The number of blocks depends on the load of
/// the machine.
void poll() {
  const auto now_ms = [](clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
  };
  for (long next = now_ms(CLOCK_MONOTONIC); now_ms(CLOCK_PROCESS_CPUTIME_ID) < 120;) {
    if (now_ms(CLOCK_MONOTONIC) < next) continue;
    std::free(filled(kMiB));
    next += 20;
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const std::string way = words[1];
  regressed = std::getenv("REGRESSED") != nullptr;
  keep_memory();
  if (way == "threshold") threshold();
  if (way == "shrink") parse_lines();
  if (way == "reserve") collect();
  if (way == "memset") render();
  if (way == "calloc") make_table();
  if (way == "loop") copy_all();
  if (way == "trim") serve();
  if (way == "pin") pin();
  if (way == "peak") merge();
  if (way == "live") join();
  if (way == "child") in_child();
  if (way == "thread") in_thread();
  if (way == "poll") poll();
  return 0;
}
