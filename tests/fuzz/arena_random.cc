// Randomly damages the memory that recorded programs write into. The command must always turn this memory into a
// result, a text and a document.
// Usage: arena_random [--seconds N] [--seed N]
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>

#include "os/unique_fd.h"
#include "record/answer.h"
#include "record/arena.h"
#include "record/run.h"
#include "record/site_stacks.h"

namespace {

using namespace zerotax::record;
using Random = std::mt19937_64;

void set_text(Random& random, char* to, const char* text) {
  std::strncpy(to, text, kPathBytes - 1);
  if (random() % 20 == 0) std::memset(to, 'x', kPathBytes);
}

/// Returns a number that a program could have written, sometimes the largest possible number.
std::uint64_t count(Random& random) { return random() >> (random() % 50 == 0 ? random() % 64 : 24 + random() % 40); }

void fill(Random& random, Site& site) {
  site.key = random() | 1;
  site.kind = static_cast<SiteKind>(random() % 8);
  site.depth = static_cast<std::uint32_t>(random() % (kFrames + 1));
  for (std::uint64_t& frame : site.frames) frame = (random() % 8) << kFrameModuleShift | random() % 100'000;
  for (auto* number : {&site.calls, &site.requested_bytes, &site.zeroed_bytes, &site.redundant_bytes, &site.zero_ns,
                       &site.kernel_zeroed_bytes, &site.refilled_bytes, &site.live_bytes}) {
    *number = count(random);
  }
  site.first_pages.note(count(random));
  site.ready = 1;
}

void fill(Random& random, ThreadBlock& block) {
  auto* const words = reinterpret_cast<std::uint64_t*>(static_cast<Tally*>(&block));
  for (int i = 0; i < 60; ++i) words[random() % (sizeof(Tally) / sizeof *words)] = count(random);
  block.tid = 1;
  std::memcpy(&block.name[0], "a thread's name!", sizeof block.name);
  block.state = BlockState::kUsed;
}

void fill(Random& random, ProcessSlot& slot) {
  slot.pid = 1'000'000'000 + static_cast<std::int32_t>(random() % 4);
  slot.parent = 1'000'000'000;
  slot.forked = random() % 2;
  slot.ended = random() % 2;
  slot.started_ns = static_cast<std::int64_t>(1 + random() % 1000);
  slot.ended_ns = slot.started_ns + static_cast<std::int64_t>(count(random) >> 8);
  set_text(random, &slot.executable[0], "/usr/bin/true");
  set_text(random, &slot.command[0], "true 1 2");
  set_text(random, &slot.allocator[0], "/usr/lib/libc.so.6");
  Holdings& holdings = slot.holdings;
  for (auto* number : {&holdings.at_start_bytes, &holdings.last_bytes, &holdings.peak_bytes, &holdings.returned_bytes,
                       &holdings.returned_huge_bytes, &holdings.shared_bytes, &holdings.own_faults}) {
    *number = count(random);
  }
  holdings.closed = random() % 2;
  holdings.at_end_bytes = count(random);
  holdings.minor_faults = count(random);
  holdings.samples[0] = {count(random), count(random), count(random)};
  holdings.samples_used = 1;
  for (std::uint64_t i = random() % 8; i != 0; --i) {
    Module& module = slot.modules[i];
    set_text(random, &module.path[0], "/usr/lib/libc.so.6");
    module.ready = 1;
  }
  slot.modules_used = 8;
  for (std::uint64_t left = random() % 6; left != 0; --left) fill(random, slot.sites[random() % 32]);
  for (std::uint64_t left = 1 + random() % 3; left != 0; --left) fill(random, slot.threads[left]);
  slot.threads_used = 4;
  slot.ready = 1;
}

/// Overwrites words, mostly words that are not 0.
void damage(Random& random, unsigned char* bytes, std::size_t size) {
  for (std::uint64_t left = random() % 12; left != 0; --left) {
    std::size_t at = random() % size;
    for (int i = 0; i < 1000 && bytes[at] == 0; ++i) at = random() % (random() % 2 == 0 ? 4096 : size);
    switch (random() % 4) {
      case 0:
        bytes[at] = static_cast<unsigned char>(random());
        break;
      case 1:
        std::memset(bytes + at, 0xff, std::min<std::size_t>(8, size - at));
        break;
      default:
        for (std::size_t i = 0; i < random() % 40 && at + i < size; ++i) {
          bytes[at + i] = static_cast<unsigned char>(random());
        }
    }
  }
}

std::size_t read_damaged(Random& random) {
  RecordArena memory;
  const zerotax::UniqueFd file(::open(memory.path().c_str(), O_RDWR | O_CLOEXEC));
  const std::size_t slots = 1 + random() % 3;
  const std::size_t bytes = kSlotsOffset + slots * kSlotBytes;
  void* const shared = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (shared == MAP_FAILED) std::abort();
  auto* const arena = static_cast<Arena*>(shared);
  auto* const begin = static_cast<unsigned char*>(shared);
  arena->slots_used = static_cast<std::uint32_t>(slots);
  for (std::size_t i = 0; i < slots; ++i) {
    fill(random, *reinterpret_cast<ProcessSlot*>(begin + kSlotsOffset + i * kSlotBytes));
    if (random() % 3 != 0) damage(random, begin + kSlotsOffset + i * kSlotBytes, kSlotBytes);
  }
  for (std::uint32_t i = 0; i < 3; ++i) {
    ExecEntry& entry = arena->execs[i];
    entry.pid = 1'000'000'000;
    set_text(random, &entry.path[0], "/usr/bin/true");
    entry.ready = 1;
    arena->marks[i].ready = 1;
  }
  arena->execs_used = arena->marks_used = 3;
  if (random() % 3 == 0) damage(random, begin, sizeof(Arena));
  RecordTarget target;
  target.words = {"true"};
  const Record record = record_result(target, {}, memory, "2026-01-01T00:00:00Z", nullptr);
  std::size_t length = record_text(record).size() + zerotax::json_text(record_json(record)).size();
  for (const std::string& name : stack_weight_names()) {
    const StackWeight weight = parse_stack_weight(name);
    length += fold_sites(record.sites, weight).size() + pprof_of(record, weight).size();
  }
  length += memory.marks().size();
  ::munmap(shared, bytes);
  return length == 0 ? 0 : record.processes.size();
}

}  // namespace

int main(int count, char** arguments) {
  double seconds = 10;
  std::uint64_t seed = 1;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view word = arguments[i];
    if (word == "--seconds") seconds = std::atof(arguments[i + 1]);
    if (word == "--seed") seed = std::strtoull(arguments[i + 1], nullptr, 10);
  }
  std::uint64_t arenas = 0;
  std::uint64_t processes = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (; std::chrono::steady_clock::now() < end || processes == 0; ++seed, ++arenas) {
    Random random(seed);
    constexpr std::uint64_t kSayEvery = 64;
    if (arenas % kSayEvery == 0) std::fprintf(stderr, "from seed %lu\n", static_cast<unsigned long>(seed));
    processes += read_damaged(random);
  }
  std::printf("%lu arenas, from which %lu processes were read\n", static_cast<unsigned long>(arenas),
              static_cast<unsigned long>(processes));
  return 0;
}
