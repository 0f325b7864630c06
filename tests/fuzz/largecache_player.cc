#include "largecache_player.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "largecache/family.h"
#include "largecache_testing.h"

namespace zerotax::largecache {

Played played;

namespace {

constexpr std::size_t kMostHeld = 12;
constexpr int kMostChildren = 2;

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "largecache: %s\n", what);
  std::abort();
}

const Policy& some_policy(Choices& choices) {
  std::size_t count = 1;
  while (kPolicies[count] != nullptr) ++count;
  return *kPolicies[choices.byte() % count];
}

}  // namespace

void Player::play(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  Settings settings = settings_of(some_policy(choices).name);
  settings.threshold = 32 * kKiB;
  settings.entries = 1 + choices.byte() % Ring::kMaxEntries;
  if (choices.byte() % 2 == 0) settings.reserve_limit = choices.byte() * 64 * kKiB;
  if (choices.byte() % 2 == 0) settings.memory_limit = choices.byte() * 256 * kKiB;
  Player player(settings, choices);
  while (!choices.empty()) player.step();
  player.finish();
  ++played.sequences;
}

void Player::step() {
  ++played.operations;
  switch (choices_.byte() % 16) {
    case 0:
      return allocate();
    case 1:
    case 2:
    case 3:
      return allocate_zero();
    case 4:
      return allocate_aligned();
    case 5:
      return reallocate();
    case 6:
    case 7:
    case 8:
      return free_one();
    case 9:
    case 10:
      return touch();
    case 11:
      return advise();
    case 12:
      return alter();
    case 13:
      return choices_.byte() % 4 == 0 ? have_child() : touch();
    case 14:
      return allocate_too_much();
    default:
      if (choices_.byte() % 2 == 0) {
        heap_.decay(true);
      } else {
        close_range(256, 300, 0);
      }
  }
}

void Player::finish() {
  while (!held_.empty()) free_one();
  const auto statistics = statistics_of(heap_);
  require(statistics.misses + statistics.tails ==
              statistics.entries + statistics.evictions + statistics.unmapped + statistics.altered,
          "a mapping is neither cached nor gone");
  require(statistics.in_use_bytes == 0, "bytes are in use when nothing is held");
  heap_.decay(true);
  require(statistics_of(heap_).cached_bytes == 0, "bytes stay cached");
}

// Returns a size near one of a few sizes, so that blocks are reused. Sometimes returns the size of a small block.
std::size_t Player::some_size() {
  static constexpr std::size_t kSizes[] = {1000, 40 * kKiB, 64 * kKiB, 100 * kKiB, 256 * kKiB,
                                           kMiB, 3 * kMiB,  8 * kMiB,  20 * kMiB};
  return kSizes[choices_.byte() % std::size(kSizes)] + choices_.byte() * 16;
}

Player::Held* Player::any() { return held_.empty() ? nullptr : &held_[choices_.byte() % held_.size()]; }

void Player::hold(char* start, std::size_t size, int contents) {
  require(start != nullptr, "no memory");
  const std::size_t usable = usable_size(heap_, start);
  require(usable >= size, "less is usable than was asked for");
  for (const Held& other : held_) {
    const std::size_t others = other.pages.size() * kPage;
    const bool small = other.pages.empty();
    require(start + usable <= other.start || other.start + (small ? other.size : others) <= start, "blocks overlap");
  }
  Held held{start, size, {}, false};
  if (heap_.is_large(size)) {
    // The bytes after the request may have any value.
    held.pages.assign(usable / kPage, kUnknown);
    for (std::size_t page = 0; (page + 1) * kPage <= size; ++page) held.pages[page] = contents;
  }
  held_.push_back(std::move(held));
}

void Player::allocate() {
  if (held_.size() >= kMostHeld) return free_one();
  const std::size_t size = some_size();
  hold(static_cast<char*>(malloc(heap_, size)), size, kUnknown);
}

void Player::allocate_zero() {
  if (held_.size() >= kMostHeld) return free_one();
  const std::size_t size = some_size();
  auto* const start = static_cast<char*>(calloc(heap_, 1, size));
  require(start != nullptr && is_zero(start, size), "calloc returned a byte that is not zero");
  ++played.callocs;
  played.zero_bytes += size;
  hold(start, size, 0);
}

void Player::allocate_aligned() {
  if (held_.size() >= kMostHeld) return free_one();
  const std::size_t alignment = std::size_t{16} << choices_.byte() % 18;
  const std::size_t size = some_size();
  auto* const start = static_cast<char*>(memalign(heap_, alignment, size));
  require(reinterpret_cast<std::uintptr_t>(start) % alignment == 0, "a block is not aligned");
  hold(start, size, kUnknown);
}

void Player::allocate_too_much() {
  const std::size_t much = (std::size_t{1} << 48) << choices_.byte() % 16;
  require(calloc(heap_, 1 + choices_.byte(), much) == nullptr, "an impossible request succeeded");
  if (Held* held = any(); held != nullptr && !held->altered) {
    require(realloc(heap_, held->start, much) == nullptr, "an impossible request succeeded");
    check(*held);
  }
}

void Player::reallocate() {
  Held* const held = any();
  if (held == nullptr || held->altered) return;
  check(*held);
  const Held before = *held;
  const std::size_t size = some_size();
  held_.erase(held_.begin() + (held - held_.data()));
  hold(static_cast<char*>(realloc(heap_, before.start, size)), size, kUnknown);
  Held& now = held_.back();
  for (std::size_t page = 0; page < before.pages.size() && page < now.pages.size(); ++page) {
    if ((page + 1) * kPage <= size) now.pages[page] = before.pages[page];
  }
  check(now);
}

void Player::free_one() {
  Held* const held = any();
  if (held == nullptr) return;
  check(*held);
  free(heap_, held->start);
  held_.erase(held_.begin() + (held - held_.data()));
}

void Player::check(const Held& held) const {
  if (held.altered) return;
  for (std::size_t page = 0; page < held.pages.size(); ++page) {
    if (held.pages[page] < 0) continue;
    const char* const at = held.start + page * kPage;
    const auto first = static_cast<unsigned char>(*at);
    require(first == held.pages[page] && std::memcmp(at, at + 1, kPage - 1) == 0, "a block has not kept its bytes");
  }
}

void Player::touch() {
  Held* const held = any();
  if (held == nullptr || held->altered || held->pages.empty()) return;
  const int value = 1 + static_cast<int>(choices_.byte() % 255);
  std::size_t page = choices_.below(held->pages.size());
  const std::size_t stride = 1 + choices_.byte() % 64;
  const std::size_t most = 1 + choices_.byte() * 2;
  for (std::size_t count = 0; count < most && page < held->pages.size(); ++count, page += stride) {
    std::memset(held->start + page * kPage, value, kPage);
    held->pages[page] = value;
  }
}

// Gives advice that changes the pages of a block, but not its mapping.
void Player::advise() {
  Held* const held = any();
  if (held == nullptr || held->altered || held->pages.empty()) return;
  const std::size_t page = choices_.below(held->pages.size());
  const std::size_t count = 1 + choices_.below(held->pages.size() - page);
  static constexpr std::pair<int, int> kAdvice[] = {
      {MADV_DONTNEED, 0}, {MADV_FREE, kOffered}, {21 /* PAGEOUT */, kUnknown - 9}, {25 /* COLLAPSE */, kUnknown - 9}};
  const auto [advice, contents] = kAdvice[choices_.byte() % std::size(kAdvice)];
  if (madvise(held->start + page * kPage, count * kPage, advice) != 0 || contents < kOffered) return;
  for (std::size_t i = page; i < page + count; ++i) held->pages[i] = contents;
}

// Changes the mapping of a block, and does not restore it. The emulations do not notice such changes, and get only
// harmless changes.
void Player::alter() {
  Held* const held = any();
  if (held == nullptr || held->altered || held->pages.empty() || !heap_.policy().has_witness) return;
  const std::size_t page = choices_.below(held->pages.size());
  const std::size_t bytes = (1 + choices_.below(held->pages.size() - page)) * kPage;
  char* const at = held->start + page * kPage;
  check(*held);
  held->altered = true;
  switch (choices_.byte() % 8) {
    case 0:
      mprotect(at, bytes, PROT_NONE);
      break;
    case 1:
      mprotect(at, bytes, PROT_READ);
      break;
    case 2:
      if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) break;
      std::memset(at, 0x3c, bytes);
      break;
    case 3:
      madvise(at, bytes, MADV_DONTFORK);
      break;
    case 4:
      madvise(at, bytes, MADV_MERGEABLE);
      break;
    case 5:
      if (mlock(at, bytes) == 0) munlock(at, bytes);  // the mapping is the same as before
      held->altered = false;
      break;
    case 6:
      mprotect(at, bytes, PROT_READ);
      mprotect(at, bytes, PROT_READ | PROT_WRITE);
      held->altered = false;
      break;
    default:
      madvise(at, bytes, MADV_WIPEONFORK);
  }
}

bool Player::child_is_well() {
  for (std::size_t round = 0; round < 4; ++round) {
    const std::size_t size = (64 + 448 * (round % 2)) * kKiB;
    auto* const block = static_cast<char*>(heap_.allocate(size, 1, Contents::kZero));
    if (block == nullptr || !is_zero(block, size)) return false;
    for (std::size_t at = round * kPage; at < size; at += 3 * kPage) block[at] = 0x77;
    heap_.deallocate(block);
  }
  return true;
}

void Player::have_child() {
  if (++children_ > kMostChildren) return;
  ++played.children;
  const bool raw = choices_.byte() % 2 == 0;
  if (!raw) heap_.prepare_fork();
  const auto child = static_cast<pid_t>(raw ? syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr) : fork());
  if (child == 0) {
    if (!raw) heap_.child_after_fork();
    alarm(20);
    _exit(child_is_well() ? 0 : 1);
  }
  if (!raw) heap_.parent_after_fork();
  int status = -1;
  waitpid(child, &status, 0);
  require(child > 0 && status == 0, "a child got a byte that is not zero, or did not end");
  for (const Held& held : held_) check(held);
}

}  // namespace zerotax::largecache
