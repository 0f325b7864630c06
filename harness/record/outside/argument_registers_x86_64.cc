#include <asm/perf_regs.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "record/outside/argument_registers.h"

namespace zerotax::record {

std::uint64_t argument_register_mask() {
  return 1U << PERF_REG_X86_AX | 1U << PERF_REG_X86_BX | 1U << PERF_REG_X86_DX | 1U << PERF_REG_X86_SI;
}

std::optional<ArgumentRegisters> take_argument_registers(PerfRecordReader& reader) {
  if (reader.take<std::uint64_t>() == PERF_SAMPLE_REGS_ABI_NONE) return std::nullopt;
  ArgumentRegisters found;
  reader.skip(8);  // rax
  found.go_second = reader.take<std::uint64_t>();
  found.third = reader.take<std::uint64_t>();
  found.second = reader.take<std::uint64_t>();
  if (reader.take<std::uint64_t>() < sizeof(std::uint64_t)) return std::nullopt;  // no stack
  found.back = reader.take<std::uint64_t>();
  return found;
}

/// glibc's variants for AVX begin with vmovd %esi, %xmm0, or vpxor %xmm0, %xmm0, %xmm0 and vmovd %esi, %xmm1, on which
/// the kernel takes no breakpoint. None of them changes an argument, so the instruction behind them does as well.
std::uint64_t bytes_before_breakpoint(const char* code, std::uint64_t bytes) {
  constexpr std::uint64_t kBytes = 4;
  constexpr std::string_view kSkipped[] = {"\xc5\xf9\x6e\xc6", "\xc5\xf9\xef\xc0", "\xc5\xf9\x6e\xce"};
  std::uint64_t at = 0;
  const auto is_skipped = [&] {
    return at + kBytes <= bytes && std::find(std::begin(kSkipped), std::end(kSkipped),
                                             std::string_view(code + at, kBytes)) != std::end(kSkipped);
  };
  while (is_skipped()) at += kBytes;
  return at;
}

}  // namespace zerotax::record
