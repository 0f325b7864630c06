#include "observe/symbols.h"

#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/names.h"

namespace zerotax {
namespace {

char* file_debug_path = nullptr;  // elfutils' own: beside the file, in .debug, under /usr/lib/debug

constexpr Dwfl_Callbacks kFileCallbacks = {dwfl_build_id_find_elf, dwfl_standard_find_debuginfo,
                                           dwfl_offline_section_address, &file_debug_path};

}  // namespace

struct Symbols::File {
  Dwfl* session = nullptr;
  Dwfl_Module* module = nullptr;
  std::uint64_t bias = 0;  ///< to be added to an address of the file
  std::string why;         ///< nothing is known of it

  ~File() {
    if (session != nullptr) ::dwfl_end(session);
  }
};

Symbols::Symbols() {
  // libdebuginfod would be asked otherwise: what is shown must not depend on a server.
  ::unsetenv("DEBUGINFOD_URLS");
}

Symbols::~Symbols() = default;

Symbols::File& Symbols::open(const std::string& module, const std::vector<unsigned char>& build_id) {
  auto& file = files_[module];
  if (file) return *file;
  file = std::make_unique<File>();
  file->session = ::dwfl_begin(&kFileCallbacks);
  file->module = ::dwfl_report_offline(file->session, module.c_str(), module.c_str(), -1);
  ::dwfl_report_end(file->session, nullptr, nullptr);
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

Json Symbols::frame(const std::string& module, const std::vector<unsigned char>& build_id, std::uint64_t address) {
  Json frame;
  if (module.empty()) {
    frame["module"] = not_available("the address lies in no loaded file");
    frame["address"] = address;
    for (const char* key : {"function", "file", "line"})
      frame[key] = not_available("the address lies in no loaded file");
    return frame;
  }
  const File& file = open(module, build_id);
  frame["module"] = module;
  frame["address"] = address;
  const GElf_Addr place = address + file.bias;
  const char* name = file.module != nullptr ? ::dwfl_module_addrname(file.module, place) : nullptr;
  const std::string why = file.why.empty() ? "no symbol there" : file.why;
  frame["function"] = name != nullptr ? Json(demangled(name)) : not_available(why);
  Dwfl_Line* found = file.module != nullptr ? ::dwfl_module_getsrc(file.module, place) : nullptr;
  int line = 0;
  const char* source = found != nullptr ? ::dwfl_lineinfo(found, nullptr, &line, nullptr, nullptr, nullptr) : nullptr;
  const std::string no_line = file.why.empty() ? "no debug information" : file.why;
  frame["file"] = source != nullptr ? Json(source) : not_available(no_line);
  frame["line"] = source != nullptr ? Json(line) : not_available(no_line);
  return frame;
}

Json script_frame_json(const ScriptFunction& script) {
  Json frame;
  frame["module"] = not_available("memory that an interpreter made code in");
  frame["address"] = 0;
  frame["function"] = script.function;
  frame["file"] = script.file.empty() ? not_available("the interpreter does not say") : Json(script.file);
  frame["line"] = script.line == 0 ? not_available("the interpreter does not say") : Json(script.line);
  return frame;
}

std::string frame_label(const Json& frame, bool function_only) {
  const std::string module = text_field(frame, "module", "");
  const std::string function =
      text_field(frame, "function", fmt::format("{:#x}", frame.at("address").get<std::uint64_t>()));
  const bool named = frame.at("function").is_string();
  if (function_only) return named || module.empty() ? function : fmt::format("{}+{}", file_name(module), function);
  const std::string source = text_field(frame, "file", "");
  if (!source.empty() && frame.at("line").is_number())
    return fmt::format("{} ({}:{})", function, file_name(source), frame.at("line").get<int>());
  if (!source.empty()) return fmt::format("{} ({})", function, file_name(source));
  return module.empty() ? function : fmt::format("{} ({})", function, file_name(module));
}

}  // namespace zerotax
