// The entry for libFuzzer (clang++ -fsanitize=fuzzer,address).
#include <cstdio>
#include <cstdlib>

#include "largecache_player.h"

namespace {

void tell() {
  const auto& played = zerotax::largecache::played;
  std::fprintf(stderr,
               "largecache: %lu sequences, %lu operations, %lu children; %lu bytes of %lu callocs read: all zero\n",
               played.sequences, played.operations, played.children, played.zero_bytes, played.callocs);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*arguments*/) { return std::atexit(&tell); }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  zerotax::largecache::Player::play(data, size);
  return 0;
}
