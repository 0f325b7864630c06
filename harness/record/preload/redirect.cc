#include "record/preload/redirect.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstdint>
#include <cstring>

#include "os/page.h"

#if defined(__x86_64__)

// A page of our own code for the ways to the originals: near the C library, as all libraries are, and executable
// already.
asm(R"(
  .pushsection .text
  .balign 4096
  .globl zerotax_ways
  .hidden zerotax_ways
zerotax_ways:
  .fill 4096, 1, 0xcc
  .popsection
)");
extern "C" [[gnu::visibility("hidden")]] unsigned char zerotax_ways[];

namespace zerotax::record {
namespace {

constexpr std::size_t kWaysBytes = 4096;  // of zerotax_ways: a page of x86-64, which has no other
constexpr std::size_t kJumpBytes = 5;
constexpr unsigned char kJump = 0xe9;

std::size_t ways_used = 0;

struct Prologue {
  unsigned char code[10];
  std::size_t bytes;  ///< that must be so
  std::size_t moved;  ///< that are moved: whole instructions, the bytes after those of `code` are an immediate
};

// glibc 2.17 to 2.41, x86-64. None of them names its own address.
constexpr Prologue kPrologues[] = {
    {{0xb8}, 1, 5},                                                          // mov $number, %eax
    {{0x41, 0x89, 0xca, 0x41, 0xf7, 0xc1, 0xff, 0x0f, 0x00, 0x00}, 10, 10},  // mov %ecx, %r10d; test $0xfff, %r9d
    {{0x41, 0xf7, 0xc1, 0xff, 0x0f, 0x00, 0x00}, 7, 7},                      // test $0xfff, %r9d
    {{0x49, 0x89, 0xca, 0xb8}, 4, 8},                                        // mov %rcx, %r10; mov $number, %eax
    {{0x48, 0x83, 0xec, 0x58, 0x4c, 0x89, 0x44, 0x24, 0x40}, 9, 9},          // sub $0x58, %rsp; mov %r8, 0x40(%rsp)
};

constexpr unsigned char kEndBranch[] = {0xf3, 0x0f, 0x1e, 0xfa};

/// Not by the C library: its mprotect may lie in the page whose rights are being changed.
bool protect(AddressRange pages, int rights) {
  long result = SYS_mprotect;
  asm volatile("syscall" : "+a"(result) : "D"(pages.begin), "S"(pages.bytes()), "d"(rights) : "rcx", "r11", "memory");
  return result == 0;
}

/// Writes a jump to `at`; returns false if the target is too far away.
bool make_jump(unsigned char* at, const void* from, const void* target) {
  const auto distance = reinterpret_cast<std::intptr_t>(target) -
                        (reinterpret_cast<std::intptr_t>(from) + static_cast<std::intptr_t>(kJumpBytes));
  const auto near = static_cast<std::int32_t>(distance);
  if (near != distance) return false;
  at[0] = kJump;
  std::memcpy(at + 1, &near, sizeof near);
  return true;
}

}  // namespace

std::size_t movable_prologue(const unsigned char* code) {
  const std::size_t mark = std::memcmp(code, kEndBranch, sizeof kEndBranch) == 0 ? sizeof kEndBranch : 0;
  for (const Prologue& known : kPrologues) {
    if (std::memcmp(code + mark, known.code, known.bytes) == 0) return mark + known.moved;
  }
  return 0;
}

bool OpenCode::make_writable(AddressRange pages) {
  if (pages.begin >= pages_.begin && pages.end <= pages_.end) return true;
  // The pages stay executable meanwhile, as they may be those that we return to.
  if (!close() || !protect(pages, PROT_READ | PROT_WRITE | PROT_EXEC)) return false;
  pages_ = pages;
  return true;
}

bool OpenCode::write(unsigned char* code, const unsigned char* bytes, std::size_t count) {
  if (!make_writable(range_of(code, count).pages())) return false;
  for (std::size_t i = 0; i < count; ++i) *static_cast<volatile unsigned char*>(code + i) = bytes[i];
  return true;
}

bool OpenCode::close() {
  const bool closed = pages_.bytes() == 0 || protect(pages_, PROT_READ | PROT_EXEC);
  pages_ = {};
  return closed;
}

bool Redirector::redirect(void* function, void* replacement, void** way_to_original) {
  auto* const code = static_cast<unsigned char*>(function);
  const std::size_t moved = movable_prologue(code);
  if (moved == 0 || ways_used + moved + kJumpBytes > kWaysBytes) return false;
  unsigned char* const way = &zerotax_ways[ways_used];
  unsigned char text[32];
  std::memcpy(&text[0], code, moved);
  unsigned char jump[kJumpBytes];
  if (!make_jump(&text[moved], way + moved, code + moved) || !make_jump(&jump[0], code, replacement)) return false;
  if (!ways_.write(way, &text[0], moved + kJumpBytes)) return false;
  *way_to_original = way;
  if (!functions_.write(code, &jump[0], kJumpBytes)) return false;
  ways_used += (moved + kJumpBytes + 15) & ~std::size_t{15};
  return true;
}

bool Redirector::replace(void* function, void* replacement) {
  auto* const code = static_cast<unsigned char*>(function);
  unsigned char jump[kJumpBytes];
  return make_jump(&jump[0], code, replacement) && functions_.write(code, &jump[0], kJumpBytes);
}

}  // namespace zerotax::record

#else

namespace zerotax::record {

std::size_t movable_prologue(const unsigned char* /*code*/) { return 0; }
bool OpenCode::make_writable(AddressRange /*pages*/) { return false; }
bool OpenCode::write(unsigned char* /*code*/, const unsigned char* /*bytes*/, std::size_t /*count*/) { return false; }
bool OpenCode::close() { return true; }
bool Redirector::redirect(void* /*function*/, void* /*replacement*/, void** /*way*/) { return false; }
bool Redirector::replace(void* /*function*/, void* /*replacement*/) { return false; }

}  // namespace zerotax::record

#endif
