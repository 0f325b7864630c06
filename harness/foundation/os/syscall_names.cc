#include <array>

#include "os/syscall_counter.h"

namespace zerotax {
namespace {

struct Name {
  std::size_t number;
  const char* name;
};
constexpr Name kNames[] = {
#include "syscall_names.inc"  // {0, "read"}, … generated from the kernel's headers
};

}  // namespace

const char* syscall_name(std::size_t number) {
  for (const Name& entry : kNames) {
    if (entry.number == number) return entry.name;
  }
  return nullptr;
}

}  // namespace zerotax
