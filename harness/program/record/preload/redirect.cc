#include "record/preload/redirect.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstdint>
#include <cstring>

#include "os/page.h"
#include "record/preload/instructions.h"
#include "record/preload/jumps.h"

// A page of code that leads to the original functions. As part of this library, the page is near the C library and
// already executable.
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

constexpr std::size_t kWaysBytes = 4096;  // bytes of zerotax_ways: one page of the smallest size
std::size_t ways_used = 0;

/// The C library's mprotect is not used, because it may lie in the page whose rights are being changed.
bool protect(AddressRange pages, int rights) {
  return kernel_call(SYS_mprotect, static_cast<long>(pages.begin), static_cast<long>(pages.bytes()), rights) == 0;
}

}  // namespace

std::size_t movable_prologue(const unsigned char* code) {
  const Prologue prologue = prologue_of(code);
  return prologue.moved > 0 ? prologue.kept + prologue.moved : 0;
}

bool OpenCode::make_writable(AddressRange pages) {
  if (pages.begin >= pages_.begin && pages.end <= pages_.end) return true;
  // The pages stay executable during the change, because this function may return to one of them.
  if (!close() || !protect(pages, PROT_READ | PROT_WRITE | PROT_EXEC)) return false;
  pages_ = pages;
  return true;
}

bool OpenCode::write(unsigned char* code, const unsigned char* bytes, std::size_t count) {
  if (!make_writable(range_of(code, count).pages())) return false;
  for (std::size_t i = 0; i < count; ++i) *static_cast<volatile unsigned char*>(code + i) = bytes[i];
  show_code(code, count);
  return true;
}

bool OpenCode::close() {
  const bool closed = pages_.bytes() == 0 || protect(pages_, PROT_READ | PROT_EXEC);
  pages_ = {};
  return closed;
}

bool Redirector::redirect(void* function, void* replacement, void** way_to_original) {
  const Prologue prologue = prologue_of(static_cast<unsigned char*>(function));
  auto* const code = static_cast<unsigned char*>(function) + prologue.kept;
  const std::size_t moved = prologue.moved;
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
  auto* const code = static_cast<unsigned char*>(function) + prologue_of(static_cast<unsigned char*>(function)).kept;
  unsigned char jump[kJumpBytes];
  return make_jump(&jump[0], code, replacement) && functions_.write(code, &jump[0], kJumpBytes);
}

}  // namespace zerotax::record
