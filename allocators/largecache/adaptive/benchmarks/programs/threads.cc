// A program of four threads, similar to a service. Each thread builds vectors by push_back, builds strings of mixed
// sizes, and callocs 256 KiB to 8 MiB, of which it uses a part. Each thread hands some of its blocks to the next
// thread, which frees them. Prints a sum that does not depend on the order of threads.
//
// With an argument, the threads write to memory from calloc without reading it first. A page of fresh memory that is
// read first takes two faults, and the second fault interrupts all other processors.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr unsigned kThreads = 4;
constexpr unsigned kSteps = 150;

/// The blocks that a thread received from its neighbor.
struct Inbox {
  std::mutex mutex;
  std::vector<std::vector<std::uint64_t>> vectors;
  std::vector<unsigned char*> blocks;
};
std::array<Inbox, kThreads> inboxes;
std::array<std::uint64_t, kThreads> sums;

std::uint64_t next(std::uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

std::vector<std::uint64_t> grown_vector(std::uint64_t& state) {
  std::vector<std::uint64_t> vector;
  const std::uint64_t count = 1000 + next(state) % 100'000;
  for (std::uint64_t i = 0; i < count; ++i) vector.push_back(i ^ state);
  return vector;
}

std::uint64_t strings(std::uint64_t& state) {
  std::map<std::uint64_t, std::string> texts;
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t key = next(state) % 200;
    texts[key] += std::string(key * key % 5000, static_cast<char>('a' + key % 26));
  }
  std::uint64_t sum = 0;
  for (const auto& [key, text] : texts) sum += key * text.size();
  return sum;
}

unsigned char* cleared_block(std::uint64_t& state, std::uint64_t& sum, bool reads) {
  const std::size_t bytes = (std::size_t{256} << 10) << next(state) % 6;
  auto* block = static_cast<unsigned char*>(std::calloc(bytes, 1));
  if (block == nullptr) std::exit(1);
  const std::size_t used = bytes / (1 + next(state) % 8);
  for (std::size_t at = 0; at < used; at += 512) {
    if (reads) sum += block[at];  // zero
    block[at] = 1;
  }
  return block;
}

void receive(unsigned self) {
  Inbox& inbox = inboxes[self];
  std::vector<std::vector<std::uint64_t>> vectors;
  std::vector<unsigned char*> blocks;
  {
    const std::lock_guard lock(inbox.mutex);
    vectors.swap(inbox.vectors);
    blocks.swap(inbox.blocks);
  }
  for (const auto& vector : vectors) sums[self] += vector.back();
  for (unsigned char* block : blocks) std::free(block);
}

void work(unsigned self, bool reads) {
  std::uint64_t state = 88172645463325252U + self;
  std::uint64_t sum = 0;
  for (unsigned step = 0; step < kSteps; ++step) {
    auto vector = grown_vector(state);
    sum += strings(state);
    unsigned char* block = cleared_block(state, sum, reads);
    if (step % 3 == 0) {
      Inbox& inbox = inboxes[(self + 1) % kThreads];
      const std::lock_guard lock(inbox.mutex);
      inbox.vectors.push_back(std::move(vector));
      inbox.blocks.push_back(block);
    } else {
      sum += vector.back();
      std::free(block);
    }
    receive(self);
  }
  sums[self] += sum;
}

}  // namespace

int main(int argc, char** /*argv*/) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back(work, i, argc == 1);
  for (std::thread& thread : threads) thread.join();
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < kThreads; ++i) {
    receive(i);
    sum += sums[i];
  }
  std::printf("%llu\n", static_cast<unsigned long long>(sum));
  return 0;
}
