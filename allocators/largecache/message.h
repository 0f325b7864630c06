// Messages on standard error from inside an allocator. Avoids stdio, which allocates and locks.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_MESSAGE_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_MESSAGE_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace zerotax::largecache {

/// One line of ASCII, built in place, of at most 500 bytes. Further text is dropped.
class Message {
 public:
  /// Starts the line with "largecache: ".
  Message();
  /// Appends text; bytes that are not printable ASCII become '?'. Appends nothing for nullptr.
  Message& add_text(const char* text);
  Message& add_number(std::uint64_t number);
  Message& add_pointer(const void* pointer);
  /// Writes the line and a newline to descriptor 2. Ignores errors and preserves errno.
  void print();

 private:
  void put(char c);

  std::array<char, 500> text_;
  std::size_t length_ = 0;
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_MESSAGE_H_
