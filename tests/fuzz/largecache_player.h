// Plays a sequence of operations, read from bytes, on a heap of largecache. Compares the heap's blocks with a model of
// what the program must find in them. Two programs supply the bytes: libFuzzer and a generator of random bytes.
#ifndef ZEROTAX_TESTS_FUZZ_LARGECACHE_PLAYER_H_
#define ZEROTAX_TESTS_FUZZ_LARGECACHE_PLAYER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "largecache/large.h"

namespace zerotax::largecache {

struct Played {
  std::uint64_t sequences = 0;
  std::uint64_t operations = 0;
  std::uint64_t callocs = 0;
  std::uint64_t zero_bytes = 0;  // bytes requested from calloc; the player reads each of these bytes
  std::uint64_t children = 0;
};
extern Played played;

/// The bytes that decide the next operations. After the last byte, every byte is 0.
class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool empty() const { return size_ == 0; }
  std::size_t byte() { return size_ == 0 ? 0 : (--size_, *data_++); }
  std::size_t below(std::size_t bound) { return (byte() << 8 | byte()) % bound; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

class Player {
 public:
  /// Plays the whole sequence. If it finds a problem, prints the problem and aborts.
  static void play(const std::uint8_t* data, std::size_t size);

 private:
  static constexpr int kUnknown = -1;  // the page may have any bytes
  static constexpr int kOffered = -2;  // after MADV_FREE: the page has the old bytes or zeros, which are not checked
  struct Held {
    char* start;
    std::size_t size;        // size of the request
    std::vector<int> pages;  // the value of every byte of each usable page
    bool altered = false;    // the program has changed the block's mapping, so the block may only be freed
  };

  Player(const Settings& settings, Choices& choices) : heap_(settings), choices_(choices) {}
  void step();
  void finish();
  void allocate();
  void allocate_zero();
  void allocate_aligned();
  void allocate_too_much();
  void reallocate();
  void free_one();
  void touch();
  void advise();
  void alter();
  void have_child();
  void hold(char* start, std::size_t size, int contents);
  void check(const Held& held) const;
  [[nodiscard]] bool child_is_well();
  std::size_t some_size();
  Held* any();

  LargeHeap heap_;
  Choices& choices_;
  std::vector<Held> held_;
  int children_ = 0;
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_TESTS_FUZZ_LARGECACHE_PLAYER_H_
