#include "observe/symbols.h"

#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/names.h"
#include "base/printable.h"
#include "observe/debug_files.h"
#include "os/elf_file.h"

namespace zerotax {
namespace {

constexpr Dwfl_Callbacks kFileCallbacks = {find_no_program, find_debug_file, dwfl_offline_section_address, nullptr};

}  // namespace

struct Symbols::File {
  FileOrigin origin;
  Dwfl* session = nullptr;
  Dwfl_Module* module = nullptr;
  std::uint64_t bias = 0;                       ///< to be added to an address of the file
  std::string why;                              ///< nothing is known of it
  std::map<std::uint64_t, NamedFrame> named{};  ///< a look at a symbol table takes as long as the table

  ~File() {
    if (session != nullptr) ::dwfl_end(session);
  }
};

Symbols::Symbols() {
  // libdebuginfod would be asked otherwise: what is shown must not depend on a server.
  ::unsetenv("DEBUGINFOD_URLS");
}

Symbols::~Symbols() = default;

Symbols::File& Symbols::open(const std::string& module, const std::vector<unsigned char>& build_id, pid_t pid,
                             const std::string& name) {
  auto& file = files_[module];
  if (file) return *file;
  file = std::make_unique<File>();
  file->session = ::dwfl_begin(&kFileCallbacks);
  UniqueFd opened = open_program_file(module);
  if (opened && is_elf_file(opened.get())) {
    std::error_code failure;
    const auto itself = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", opened.get()), failure);
    file->origin = {pid, pid == 0 ? itself.string() : name, file_id(opened.get())};
    file->module = ::dwfl_report_offline(file->session, module.c_str(), module.c_str(), opened.get());
    if (file->module != nullptr) static_cast<void>(opened.release());  // it closes the file
  }
  ::dwfl_report_end(file->session, nullptr, nullptr);
  if (file->module != nullptr) set_origin(file->module, file->origin);
  GElf_Addr bias = 0;
  if (file->module == nullptr || ::dwfl_module_getelf(file->module, &bias) == nullptr) {
    file->why = "the file cannot be read";
    file->module = nullptr;
    return *file;
  }
  file->bias = bias;
  const unsigned char* bits = nullptr;
  GElf_Addr where = 0;
  const int length = ::dwfl_module_build_id(file->module, &bits, &where);
  if (!build_id.empty() && length > 0 && !std::equal(build_id.begin(), build_id.end(), bits, bits + length)) {
    file->why = "the file has been replaced since";
    file->module = nullptr;
  }
  return *file;
}

NamedFrame Symbols::frame(const std::string& module, const std::vector<unsigned char>& build_id, std::uint64_t address,
                          pid_t pid, const std::string& name_there) {
  const NotAvailable nowhere{"the address lies in no loaded file"};
  if (module.empty()) return {nowhere, address, nowhere, nowhere, nowhere};
  File& file = open(module, build_id, pid, name_there);
  const auto known = file.named.find(address);
  if (known != file.named.end()) return known->second;
  const GElf_Addr place = address + file.bias;
  const char* name = file.module != nullptr ? ::dwfl_module_addrname(file.module, place) : nullptr;
  Dwfl_Line* found = file.module != nullptr ? ::dwfl_module_getsrc(file.module, place) : nullptr;
  int line = 0;
  const char* source = found != nullptr ? ::dwfl_lineinfo(found, nullptr, &line, nullptr, nullptr, nullptr) : nullptr;
  const bool has_line = source != nullptr;
  const std::string no_line = file.why.empty() ? "no debug information" : file.why;
  NamedFrame named{printable(module), address,
                   known_if(name != nullptr, name != nullptr ? demangled(name) : "",
                            file.why.empty() ? "no symbol there" : file.why),
                   known_if(has_line, printable(has_line ? source : ""), no_line), known_if(has_line, line, no_line)};
  return file.named.emplace(address, std::move(named)).first->second;
}

NamedFrame frame_of_script(const ScriptFunction& script) {
  const std::string unsaid = "the interpreter does not say";
  return {NotAvailable{"memory that an interpreter made code in"}, 0, script.function,
          known_if(!script.file.empty(), script.file, unsaid), known_if(script.line != 0, script.line, unsaid)};
}

std::string frame_label(const NamedFrame& frame, bool function_only) {
  const std::string module = frame.module.value_or("");
  const std::string function = frame.function.value_or(fmt::format("{:#x}", frame.address));
  if (function_only) {
    return frame.function || module.empty() ? function : fmt::format("{}+{}", file_name(module), function);
  }
  const std::string source = frame.file.value_or("");
  if (!source.empty() && frame.line) return fmt::format("{} ({}:{})", function, file_name(source), *frame.line);
  if (!source.empty()) return fmt::format("{} ({})", function, file_name(source));
  return module.empty() ? function : fmt::format("{} ({})", function, file_name(module));
}

ZEROTAX_FIELDS(NamedFrame, module, address, function, file, line)

}  // namespace zerotax
