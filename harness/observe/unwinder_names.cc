#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "base/names.h"
#include "base/printable.h"
#include "observe/frame_information.h"
#include "observe/libc_functions.h"
#include "observe/unwinder.h"
#include "os/processor.h"

namespace zerotax {
namespace {

bool is_file(const Unwinder::Mapping& mapping) {
  return !mapping.name.empty() && mapping.name[0] == '/' && !mapping.name.starts_with("//") &&
         !mapping.name.starts_with("/memfd:");
}

}  // namespace

FileId Unwinder::id_of(const Mapping& mapping) const {
  const auto found = ids_.find({mapping.inode, mapping.name});
  return found != ids_.end() ? found->second : FileId{};
}

const std::shared_ptr<PerfMap>& Unwinder::scripts() {
  if (!scripts_) scripts_ = std::make_shared<PerfMap>(static_cast<pid_t>(pid_));
  return scripts_;
}

const PerfMapNames::Entry* Unwinder::script(std::uint64_t address) {
  const Mapping* mapping = mapping_of(address);
  if (mapping != nullptr && is_file(*mapping)) return nullptr;
  return scripts()->find(address);
}

void Unwinder::note_scripts(ScriptNames& names) {
  for (const Mapping& mapping : mappings_) {
    if (interpreter_of(mapping.name).name.empty()) continue;
    scripts()->read();
    names.add(mapping.name, !scripts_->empty(), scripts_->problem());
  }
}

const Frame* Unwinder::name_again(std::uint64_t address) {
  const auto known = names_.find(address);
  if (known != names_.end()) return &known->second;
  const auto after = functions_.upper_bound(address);
  if (after == functions_.begin()) return nullptr;
  const auto& [begin, function] = *std::prev(after);
  if (address >= function.first) return nullptr;
  Frame& frame = names_.emplace(address, function.second).first->second;
  frame.address = address;
  frame.offset = address - begin;
  return &frame;
}

const Frame& Unwinder::name(std::uint64_t address) {
  if (const PerfMapNames::Entry* entry = script(address)) {
    script_frame_ = script_frame(entry->function);
    script_frame_.address = address;
    script_frame_.offset = address - entry->begin;
    return script_frame_;
  }
  if (const Frame* known = name_again(address)) return *known;
  Frame frame{fmt::format("{:#x}", address), "", address, 0};
  const Mapping* mapping = mapping_of(address);
  if (mapping != nullptr) {
    frame.module = printable(file_name(mapping->name));
    frame.function = fmt::format("{:#x}", address - mapping->begin + mapping->file_offset);
  }
  Dwfl_Module* module = ::dwfl_addrmodule(opened(), address);
  GElf_Addr bias = 0;
  if (module != nullptr && mapping != nullptr && ::dwfl_module_getelf(module, &bias) != nullptr) {
    frame.function = fmt::format("{:#x}", address - bias);  // as addr2line(1) and objdump(1) number it
  }
  GElf_Off offset = 0;
  GElf_Sym symbol_entry{};
  const char* symbol = module != nullptr
                           ? ::dwfl_module_addrinfo(module, address, &offset, &symbol_entry, nullptr, nullptr, nullptr)
                           : nullptr;
  if (symbol != nullptr && !is_of_another(module, address, offset, symbol_entry)) {
    frame.function = demangled(symbol);
    frame.offset = offset;
    if (symbol_entry.st_size > offset) functions_[address - offset] = {address - offset + symbol_entry.st_size, frame};
  } else if (module != nullptr && mapping != nullptr) {
    const CodeStart start = code_start(module, address);
    const std::string own = libc_function(id_of(*mapping), start.in_file);
    if (!own.empty()) {
      frame.function = own;
      frame.offset = address - start.in_memory;
    }
  }
  return names_.emplace(address, std::move(frame)).first->second;
}

std::uint64_t Unwinder::function_start(std::uint64_t address) {
  const Frame& frame = name(address);
  if (frame.offset != 0) return address - frame.offset;
  Dwfl_Module* module = ::dwfl_addrmodule(opened(), address);
  return module != nullptr ? code_start(module, address).in_memory : 0;
}

Fill Unwinder::fill(const PerfEvent& sample) {
  if (!sample.has_user || sample.few_registers) return Fill::kNone;
  const std::uint64_t address = sample.registers[kProgramCounter];
  const Frame& frame = name(address);
  if (frame.function.find("bzero") != std::string::npos) return Fill::kZeros;
  if (frame.function.find("memset") == std::string::npos) return Fill::kNone;
  const Mapping* mapping = mapping_of(address);
  Dwfl_Module* module = ::dwfl_addrmodule(opened(), address);
  if (mapping == nullptr || module == nullptr) return Fill::kUnknown;
  const bool ours = !libc_function(id_of(*mapping), code_start(module, address).in_file).empty();
  return ours && memset_keeps_its_value() ? fill_of_register(sample.registers[kSecondArgument]) : Fill::kUnknown;
}

}  // namespace zerotax
