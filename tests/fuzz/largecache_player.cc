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

void Require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "largecache: %s\n", what);
  std::abort();
}

const Policy& SomePolicy(Choices& choices) {
  std::size_t count = 1;
  while (kPolicies[count] != nullptr) ++count;
  return *kPolicies[choices.Byte() % count];
}

}  // namespace

void Player::Play(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  Settings settings = SettingsOf(SomePolicy(choices).name);
  settings.threshold = 32 * kKiB;
  settings.entries = 1 + choices.Byte() % Ring::kMaxEntries;
  if (choices.Byte() % 2 == 0) settings.reserve_limit = choices.Byte() * 64 * kKiB;
  if (choices.Byte() % 2 == 0) settings.memory_limit = choices.Byte() * 256 * kKiB;
  Player player(settings, choices);
  while (!choices.empty()) player.Step();
  player.Finish();
  ++played.sequences;
}

void Player::Step() {
  ++played.operations;
  switch (choices_.Byte() % 16) {
    case 0:
      return Allocate();
    case 1:
    case 2:
    case 3:
      return AllocateZero();
    case 4:
      return AllocateAligned();
    case 5:
      return Reallocate();
    case 6:
    case 7:
    case 8:
      return FreeOne();
    case 9:
    case 10:
      return Touch();
    case 11:
      return Advise();
    case 12:
      return Alter();
    case 13:
      return choices_.Byte() % 4 == 0 ? HaveChild() : Touch();
    case 14:
      return AllocateTooMuch();
    default:
      if (choices_.Byte() % 2 == 0) {
        heap_.Decay(true);
      } else {
        close_range(256, 300, 0);
      }
  }
}

void Player::Finish() {
  while (!held_.empty()) FreeOne();
  const auto statistics = Statistics(heap_);
  Require(statistics.misses + statistics.tails ==
              statistics.entries + statistics.evictions + statistics.unmapped + statistics.altered,
          "a mapping is neither cached nor gone");
  Require(statistics.in_use_bytes == 0, "bytes are in use when nothing is held");
  heap_.Decay(true);
  Require(Statistics(heap_).cached_bytes == 0, "bytes stay cached");
}

// Around a few sizes, so that blocks are reused; at times a small one.
std::size_t Player::Size() {
  static constexpr std::size_t kSizes[] = {1000, 40 * kKiB, 64 * kKiB, 100 * kKiB, 256 * kKiB,
                                           kMiB, 3 * kMiB,  8 * kMiB,  20 * kMiB};
  return kSizes[choices_.Byte() % std::size(kSizes)] + choices_.Byte() * 16;
}

Player::Held* Player::Any() { return held_.empty() ? nullptr : &held_[choices_.Byte() % held_.size()]; }

void Player::Hold(char* start, std::size_t size, int contents) {
  Require(start != nullptr, "no memory");
  const std::size_t usable = UsableSize(heap_, start);
  Require(usable >= size, "less is usable than was asked for");
  for (const Held& other : held_) {
    const std::size_t others = other.pages.size() * kPage;
    const bool small = other.pages.empty();
    Require(start + usable <= other.start || other.start + (small ? other.size : others) <= start, "blocks overlap");
  }
  Held held{start, size, {}, false};
  if (heap_.IsLarge(size)) {
    // What is behind the request is nobody's promise.
    held.pages.assign(usable / kPage, kUnknown);
    for (std::size_t page = 0; (page + 1) * kPage <= size; ++page) held.pages[page] = contents;
  }
  held_.push_back(std::move(held));
}

void Player::Allocate() {
  if (held_.size() >= kMostHeld) return FreeOne();
  const std::size_t size = Size();
  Hold(static_cast<char*>(Malloc(heap_, size)), size, kUnknown);
}

void Player::AllocateZero() {
  if (held_.size() >= kMostHeld) return FreeOne();
  const std::size_t size = Size();
  auto* const start = static_cast<char*>(Calloc(heap_, 1, size));
  Require(start != nullptr && IsZero(start, size), "calloc returned a byte that is not zero");
  ++played.callocs;
  played.zero_bytes += size;
  Hold(start, size, 0);
}

void Player::AllocateAligned() {
  if (held_.size() >= kMostHeld) return FreeOne();
  const std::size_t alignment = std::size_t{16} << choices_.Byte() % 18;
  const std::size_t size = Size();
  auto* const start = static_cast<char*>(Memalign(heap_, alignment, size));
  Require(reinterpret_cast<std::uintptr_t>(start) % alignment == 0, "a block is not aligned");
  Hold(start, size, kUnknown);
}

void Player::AllocateTooMuch() {
  const std::size_t much = (std::size_t{1} << 48) << choices_.Byte() % 16;
  Require(Calloc(heap_, 1 + choices_.Byte(), much) == nullptr, "there is more memory than there is");
  if (Held* held = Any(); held != nullptr && !held->altered) {
    Require(Realloc(heap_, held->start, much) == nullptr, "there is more memory than there is");
    Check(*held);
  }
}

void Player::Reallocate() {
  Held* const held = Any();
  if (held == nullptr || held->altered) return;
  Check(*held);
  const Held before = *held;
  const std::size_t size = Size();
  held_.erase(held_.begin() + (held - held_.data()));
  Hold(static_cast<char*>(Realloc(heap_, before.start, size)), size, kUnknown);
  Held& now = held_.back();
  for (std::size_t page = 0; page < before.pages.size() && page < now.pages.size(); ++page) {
    if ((page + 1) * kPage <= size) now.pages[page] = before.pages[page];
  }
  Check(now);
}

void Player::FreeOne() {
  Held* const held = Any();
  if (held == nullptr) return;
  Check(*held);
  Free(heap_, held->start);
  held_.erase(held_.begin() + (held - held_.data()));
}

void Player::Check(const Held& held) const {
  if (held.altered) return;
  for (std::size_t page = 0; page < held.pages.size(); ++page) {
    if (held.pages[page] < 0) continue;
    const char* const at = held.start + page * kPage;
    const auto first = static_cast<unsigned char>(*at);
    Require(first == held.pages[page] && std::memcmp(at, at + 1, kPage - 1) == 0, "a block has not kept its bytes");
  }
}

void Player::Touch() {
  Held* const held = Any();
  if (held == nullptr || held->altered || held->pages.empty()) return;
  const int value = 1 + static_cast<int>(choices_.Byte() % 255);
  std::size_t page = choices_.Below(held->pages.size());
  const std::size_t stride = 1 + choices_.Byte() % 64;
  const std::size_t most = 1 + choices_.Byte() * 2;
  for (std::size_t count = 0; count < most && page < held->pages.size(); ++count, page += stride) {
    std::memset(held->start + page * kPage, value, kPage);
    held->pages[page] = value;
  }
}

// What changes pages, not the mapping.
void Player::Advise() {
  Held* const held = Any();
  if (held == nullptr || held->altered || held->pages.empty()) return;
  const std::size_t page = choices_.Below(held->pages.size());
  const std::size_t count = 1 + choices_.Below(held->pages.size() - page);
  static constexpr std::pair<int, int> kAdvice[] = {
      {MADV_DONTNEED, 0}, {MADV_FREE, kOffered}, {21 /* PAGEOUT */, kUnknown - 9}, {25 /* COLLAPSE */, kUnknown - 9}};
  const auto [advice, contents] = kAdvice[choices_.Byte() % std::size(kAdvice)];
  if (madvise(held->start + page * kPage, count * kPage, advice) != 0 || contents < kOffered) return;
  for (std::size_t i = page; i < page + count; ++i) held->pages[i] = contents;
}

// What changes the mapping, and is left so. The emulations do not see it: they get what they can live with.
void Player::Alter() {
  Held* const held = Any();
  if (held == nullptr || held->altered || held->pages.empty() || !heap_.policy().has_witness) return;
  const std::size_t page = choices_.Below(held->pages.size());
  const std::size_t bytes = (1 + choices_.Below(held->pages.size() - page)) * kPage;
  char* const at = held->start + page * kPage;
  Check(*held);
  held->altered = true;
  switch (choices_.Byte() % 8) {
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
      if (mlock(at, bytes) == 0) munlock(at, bytes);  // no change in the end
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

bool Player::ChildIsWell() {
  for (std::size_t round = 0; round < 4; ++round) {
    const std::size_t size = (64 + 448 * (round % 2)) * kKiB;
    auto* const block = static_cast<char*>(heap_.Allocate(size, 1, Contents::kZero));
    if (block == nullptr || !IsZero(block, size)) return false;
    for (std::size_t at = round * kPage; at < size; at += 3 * kPage) block[at] = 0x77;
    heap_.Free(block);
  }
  return true;
}

void Player::HaveChild() {
  if (++children_ > kMostChildren) return;
  ++played.children;
  const bool raw = choices_.Byte() % 2 == 0;
  if (!raw) heap_.PrepareFork();
  const auto child = static_cast<pid_t>(raw ? syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr) : fork());
  if (child == 0) {
    if (!raw) heap_.ChildAfterFork();
    alarm(20);
    _exit(ChildIsWell() ? 0 : 1);
  }
  if (!raw) heap_.ParentAfterFork();
  int status = -1;
  waitpid(child, &status, 0);
  Require(child > 0 && status == 0, "a child got a byte that is not zero, or did not end");
  for (const Held& held : held_) Check(held);
}

}  // namespace zerotax::largecache
