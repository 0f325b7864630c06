#include "observe/process/frame_information.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fmt/format.h>
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

/// Copies `bytes` bytes of the file that belong to an address of the process. Returns false unless all the bytes are in
/// one section with contents.
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

/// Returns the symbol whose address the dynamic linker puts into a slot, or "".
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

/// Returns the name of the target of the call instruction before an address, or "".
std::string name_called(Dwfl_Module* module, std::uint64_t address) {
  unsigned char code[kCallBytes];
  if (!code_at(module, address - sizeof code, &code[0], sizeof code)) return "";
  const CallTarget call = call_ending_at(address, &code[0]);
  if (call.kind == CallTarget::Kind::kSlot) return symbol_of_slot(module, call.address);
  if (call.kind != CallTarget::Kind::kFunction) return "";
  // Reading all bytes of a stub cannot fail, because the stub's section is padded at the end.
  unsigned char stub[kStubBytes];
  if (code_at(module, call.address, &stub[0], sizeof stub)) {
    if (const auto slot = slot_of_stub(call.address, &stub[0])) return symbol_of_slot(module, *slot);
  }
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* name = ::dwfl_module_addrinfo(module, call.address, &offset, &symbol, nullptr, nullptr, nullptr);
  return name != nullptr && offset == 0 ? name : "";
}

/// Returns the start of the function at an address of the process; 0 if no call frame information covers the address.
/// Searches the sorted table of .eh_frame_hdr (Linux Standard Base Core, "The .eh_frame_hdr section").
std::uint64_t function_begin(Dwfl_Module* module, std::uint64_t address) {
  const CodeStart covered = code_start(module, address);
  GElf_Addr bias = 0;
  Elf* file = ::dwfl_module_getelf(module, &bias);
  std::size_t segments = 0;
  if (covered.in_memory == 0 || file == nullptr || ::elf_getphdrnum(file, &segments) != 0) return 0;
  constexpr std::size_t kHead = 12;
  constexpr std::uint32_t kUsual = 0x3b031b01;  // version 1, and the encodings that all linkers use
  for (std::size_t i = 0; i < segments; ++i) {
    GElf_Phdr header;
    if (::gelf_getphdr(file, static_cast<int>(i), &header) == nullptr || header.p_type != PT_GNU_EH_FRAME) continue;
    const Elf_Data* data =
        ::elf_getdata_rawchunk(file, static_cast<int64_t>(header.p_offset), header.p_filesz, ELF_T_BYTE);
    std::uint32_t head[kHead / sizeof(std::uint32_t)];
    if (data == nullptr || data->d_buf == nullptr || data->d_size < kHead) return 0;
    std::memcpy(&head[0], data->d_buf, kHead);
    if (head[0] != kUsual) return 0;
    const char* entries = static_cast<const char*>(data->d_buf) + kHead;
    const auto begin_of = [&](std::size_t entry) {
      std::int32_t distance = 0;
      std::memcpy(&distance, entries + entry * 2 * sizeof distance, sizeof distance);
      return header.p_vaddr + static_cast<std::uint64_t>(std::int64_t{distance});
    };
    const std::size_t count = std::min<std::size_t>(head[2], (data->d_size - kHead) / 8);
    // A binary search by hand, because clang 14 cannot read the iterators of std::views::iota.
    std::size_t before = 0;  // number of entries that begin at or before the address
    for (std::size_t end = count; before < end;) {
      const std::size_t middle = before + (end - before) / 2;
      if (begin_of(middle) <= address - bias) {
        before = middle + 1;
      } else {
        end = middle;
      }
    }
    return before != 0 ? begin_of(before - 1) + bias : 0;
  }
  return 0;
}

/// Returns the address at which a file defines a global function, or 0.
std::uint64_t defined_in(Dwfl_Module* module, const std::string& name) {
  const int count = ::dwfl_module_getsymtab(module);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section = 0;
    const char* each = ::dwfl_module_getsym_info(module, i, &symbol, &address, &section, nullptr, nullptr);
    if (each == nullptr || section == SHN_UNDEF || GELF_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
    // The symbol's name may have a version, as in "calloc@@GLIBC_2.2.5".
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

const char* symbol_at(Dwfl_Module* module, std::uint64_t address, GElf_Off& offset, GElf_Sym& symbol) {
  if (module == nullptr) return nullptr;
  const char* name = ::dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name == nullptr || symbol.st_size != 0 || offset == 0) return name;
  const std::uint64_t begin = address - offset;
  const bool is_uncovered = code_start(module, begin).in_memory == 0 && code_start(module, address).in_memory != 0;
  return is_uncovered || function_begin(module, address) > begin ? nullptr : name;
}

std::string ExportedFunctions::before(Dwfl_Module* module, std::uint64_t address, std::uint32_t file) {
  constexpr std::uint64_t kFarthest = std::uint64_t{4} << 10;
  GElf_Addr bias = 0;
  if (::dwfl_module_getelf(module, &bias) == nullptr) return "";
  const auto [known, is_new] = by_file_.try_emplace(file);
  std::map<std::uint64_t, Function>& functions = known->second;
  const int count = is_new ? ::dwfl_module_getsymtab(module) : 0;
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr place = 0;
    GElf_Word section = 0;
    const char* name = ::dwfl_module_getsym_info(module, i, &symbol, &place, &section, nullptr, nullptr);
    const int type = GELF_ST_TYPE(symbol.st_info);
    const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if (name == nullptr || !is_function || section == SHN_UNDEF || GELF_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
    functions.try_emplace(place - bias, Function{demangled(name), section});
  }
  const auto after = functions.upper_bound(address - bias);
  if (after == functions.begin()) return "";
  const auto& [begin, function] = *std::prev(after);
  Dwarf_Addr in_section = address;
  Elf_Scn* section = ::dwfl_module_address_section(module, &in_section, &bias);
  const std::uint64_t distance = address - bias - begin;
  if (section == nullptr || ::elf_ndxscn(section) != function.section || distance > kFarthest) return "";
  return fmt::format("{}+{:#x}", function.name, distance);
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
    // The dynamic linker's own malloc is called only until the program's malloc is loaded.
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
