#include "observe/process/frame_information.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "base/names.h"
#include "os/machine_code.h"
#include "os/processor.h"

namespace zerotax {
namespace {

constexpr const char* kFamily[] = {"malloc",        "calloc",        "realloc",        "reallocarray",
                                   "aligned_alloc", "memalign",      "posix_memalign", "free",
                                   "__libc_malloc", "__libc_calloc", "__libc_realloc"};

bool is_of_family(const char* name) {
  return std::any_of(std::begin(kFamily), std::end(kFamily),
                     [&](const char* each) { return std::strcmp(each, name) == 0; });
}

/// Copies the file's bytes at an address of the process. False if they are in no section with contents.
bool code_at(Dwfl_Module* module, std::uint64_t address, void* to, std::size_t bytes) {
  Dwarf_Addr in_section = address;
  Dwarf_Addr bias = 0;
  Elf_Scn* section = ::dwfl_module_address_section(module, &in_section, &bias);
  const Elf_Data* data = section != nullptr ? ::elf_rawdata(section, nullptr) : nullptr;
  if (data == nullptr || data->d_buf == nullptr || in_section > data->d_size || data->d_size - in_section < bytes)
    return false;
  std::memcpy(to, static_cast<const char*>(data->d_buf) + in_section, bytes);
  return true;
}

/// The symbol whose address the dynamic linker puts into a slot, or "".
std::string symbol_of_slot(Dwfl_Module* module, std::uint64_t slot) {
  GElf_Addr bias = 0;
  Elf* file = ::dwfl_module_getelf(module, &bias);
  if (file == nullptr) return "";
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(file, section)) != nullptr;) {
    GElf_Shdr header;
    if (::gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_RELA || header.sh_entsize == 0) continue;
    Elf_Data* data = ::elf_getdata(section, nullptr);
    Elf_Scn* table = ::elf_getscn(file, header.sh_link);
    GElf_Shdr table_header;
    if (data == nullptr || table == nullptr || ::gelf_getshdr(table, &table_header) == nullptr) continue;
    Elf_Data* symbols = ::elf_getdata(table, nullptr);
    for (std::size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
      GElf_Rela relocation;
      GElf_Sym symbol;
      if (::gelf_getrela(data, static_cast<int>(i), &relocation) == nullptr || relocation.r_offset + bias != slot)
        continue;
      if (symbols == nullptr ||
          ::gelf_getsym(symbols, static_cast<int>(GELF_R_SYM(relocation.r_info)), &symbol) == nullptr)
        return "";
      const char* name = ::elf_strptr(file, table_header.sh_link, symbol.st_name);
      return name != nullptr ? name : "";
    }
  }
  return "";
}

/// The name that the call before an address has for its target, or "".
std::string name_called(Dwfl_Module* module, std::uint64_t address) {
  unsigned char code[kCallBytes];
  if (!code_at(module, address - sizeof code, &code[0], sizeof code)) return "";
  const CallTarget call = call_ending_at(address, &code[0]);
  if (call.kind == CallTarget::Kind::kSlot) return symbol_of_slot(module, call.address);
  if (call.kind != CallTarget::Kind::kFunction) return "";
  // The end of a stub is never the end of its section, which is padded.
  unsigned char stub[kStubBytes];
  if (code_at(module, call.address, &stub[0], sizeof stub)) {
    if (const auto slot = slot_of_stub(call.address, &stub[0])) return symbol_of_slot(module, *slot);
  }
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* name = ::dwfl_module_addrinfo(module, call.address, &offset, &symbol, nullptr, nullptr, nullptr);
  return name != nullptr && offset == 0 ? name : "";
}

/// Where a file defines a function for others, or 0.
std::uint64_t defined_in(Dwfl_Module* module, const std::string& name) {
  const int count = ::dwfl_module_getsymtab(module);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section = 0;
    const char* each = ::dwfl_module_getsym_info(module, i, &symbol, &address, &section, nullptr, nullptr);
    if (each == nullptr || section == SHN_UNDEF || GELF_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
    // "calloc@@GLIBC_2.2.5"
    const std::size_t length = std::strcspn(each, "@");
    if (length == name.size() && name.compare(0, length, each, length) == 0) return address;
  }
  return 0;
}

}  // namespace

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

const HiddenCalls::Target* HiddenCalls::definition(const FindModule& find, const std::string& name,
                                                   const std::vector<std::uint64_t>& files) {
  if (files != files_) {
    files_ = files;
    by_name_.clear();
  }
  const auto known = by_name_.find(name);
  if (known != by_name_.end()) return &known->second;
  Target target{name, "", 0};
  for (const std::uint64_t file : files) {
    Dwfl_Module* module = find(file);
    if (module == nullptr) continue;
    const char* path = ::dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    const std::string label = path != nullptr ? file_name(path) : "";
    // The dynamic linker has a malloc of its own, until the program's is there.
    if (label.starts_with("ld-linux") || label.starts_with("ld-2")) continue;
    target.address = defined_in(module, name);
    target.module = label;
    if (target.address != 0) break;
  }
  return &by_name_.emplace(name, std::move(target)).first->second;
}

const HiddenCalls::Target* HiddenCalls::called_before(const FindModule& find, std::uint64_t address,
                                                      const std::vector<std::uint64_t>& files) {
  Dwfl_Module* module = find(address - 1);
  const std::string name = module != nullptr ? name_called(module, address) : "";
  if (!is_of_family(name.c_str())) return nullptr;
  const Target* target = definition(find, name, files);
  return target->address != 0 ? target : nullptr;
}

}  // namespace zerotax
