#include "observe/process/frame_information.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstdlib>

#include "os/processor.h"

namespace zerotax {

CodeStart code_start(Dwfl_Module* module, std::uint64_t address) {
  Dwarf_Addr bias = 0;
  Dwarf_CFI* information = ::dwfl_module_eh_cfi(module, &bias);
  Dwarf_Frame* frame = nullptr;
  if (information == nullptr || ::dwarf_cfi_addrframe(information, address - bias, &frame) != 0) return {};
  Dwarf_Addr start = 0;
  Dwarf_Addr end = 0;
  const int known = ::dwarf_frame_info(frame, &start, &end, nullptr);
  std::free(frame);
  if (known < 0) return {};
  return {start, start + bias};
}

bool is_of_another(Dwfl_Module* module, std::uint64_t address, std::uint64_t offset, const GElf_Sym& symbol) {
  return symbol.st_size == 0 && offset != 0 && code_start(module, address).in_memory != 0 &&
         code_start(module, address - offset).in_memory == 0;
}

FrameRule frame_rule(Dwfl_Module* module, std::uint64_t address) {
  FrameRule rule;
  Dwarf_Addr bias = 0;
  Dwarf_CFI* information = module != nullptr ? ::dwfl_module_eh_cfi(module, &bias) : nullptr;
  Dwarf_Frame* frame = nullptr;
  if (information == nullptr || ::dwarf_cfi_addrframe(information, address - bias, &frame) != 0) return rule;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (::dwarf_frame_cfa(frame, &operations, &count) == 0 && count > 0) {
    rule.by_frame_pointer = operations[0].atom == DW_OP_breg0 + kFramePointer ||
                            (operations[0].atom == DW_OP_bregx && operations[0].number == kFramePointer);
  }
  Dwarf_Op buffer[3];
  rule.outermost = ::dwarf_frame_register(frame, kReturnColumn, &buffer[0], &operations, &count) == 0 && count == 0 &&
                   operations != nullptr;
  std::free(frame);
  return rule;
}

}  // namespace zerotax
