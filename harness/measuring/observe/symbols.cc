#include "observe/symbols.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "base/names.h"
#include "base/printable.h"
#include "observe/file_reader.h"
#include "os/elf_file.h"
#include "os/regular_file.h"

namespace zerotax {
namespace {

struct OwnLibrary {
  FileId file;
  std::map<std::uint64_t, std::string> functions;  ///< functions by address in the file
};

OwnLibrary look() {
  OwnLibrary own;
  for (const char* name : {"memset", "bzero", "memcpy", "memmove", "mempcpy", "memcmp", "memchr", "strlen"}) {
    void* address = ::dlsym(RTLD_DEFAULT, name);
    Dl_info info{};
    if (address == nullptr || ::dladdr(address, &info) == 0 || info.dli_fname == nullptr) continue;
    const FileId file = file_id(info.dli_fname);
    if (!own.file.known()) own.file = file;
    if (!file.known() || file != own.file) continue;
    own.functions.emplace(reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(info.dli_fbase),
                          name);
  }
  return own;
}

const OwnLibrary& own_library() {
  static const OwnLibrary own = look();
  return own;
}

}  // namespace

/// A file that FileReader reads. Processes may know the file by several names.
struct Symbols::File {
  std::shared_ptr<ForeignFile> file;
  ReadClient client;
  std::string build_id;
  std::string why;                              ///< reason why nothing is known about the file
  std::map<std::uint64_t, NamedFrame> named{};  ///< names found so far, because searching a long symbol table is slow
};

struct Symbols::Module {
  std::shared_ptr<File> file;
  std::string why;  ///< reason why the module is not the file of this path
};

Symbols::Symbols() = default;

Symbols::~Symbols() = default;

Symbols::Module& Symbols::open(const std::string& module, const std::vector<unsigned char>& build_id, pid_t pid,
                               const std::string& name) {
  auto& known = modules_[module];
  if (known) return *known;
  known = std::make_unique<Module>();
  UniqueFd opened = open_program_file(module);
  if (!opened || !is_elf_file(opened.get())) {
    known->why = "the file cannot be read";
    return *known;
  }
  std::error_code failure;
  const auto itself = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", opened.get()), failure);
  const FileOrigin origin{pid, pid == 0 ? itself.string() : name, file_id(opened.get())};
  const auto foreign = FileReader::shared().file(std::move(opened), origin);
  known->file = read(foreign, module);
  const std::string& found = known->file->build_id;
  const bool same = std::equal(build_id.begin(), build_id.end(), found.begin(), found.end(),
                               [](unsigned char one, char other) { return one == static_cast<unsigned char>(other); });
  if (!build_id.empty() && !found.empty() && !same) known->why = "the file has been replaced since";
  return *known;
}

std::shared_ptr<Symbols::File> Symbols::read(const std::shared_ptr<ForeignFile>& foreign, const std::string& module) {
  auto& file = files_[foreign.get()];
  if (file) return file;
  file = std::make_shared<File>();
  file->file = foreign;
  const auto answer = file->client.add(ReadRequest::kOpen, foreign, MessageWriter().text(module));
  MessageReader in(answer);
  if (in.number() != 0) {
    file->build_id = in.text();
  } else {
    file->why = FileReader::shared().why_unread(*foreign);
    if (file->why.empty()) file->why = "the file cannot be read";
  }
  return file;
}

NamedFrame Symbols::frame(const std::string& module, const std::vector<unsigned char>& build_id, std::uint64_t address,
                          pid_t pid, const std::string& name_there) {
  const NotAvailable nowhere{"the address lies in no loaded file"};
  if (module.empty()) return {nowhere, address, nowhere, {}, nowhere, nowhere};
  const Module& opened = open(module, build_id, pid, name_there);
  if (!opened.why.empty()) {
    const NotAvailable why{opened.why};
    return {printable(module), address, why, {}, why, why};
  }
  File& file = *opened.file;
  const auto known = file.named.find(address);
  if (known != file.named.end()) {
    NamedFrame named = known->second;
    named.module = printable(module);
    return named;
  }
  std::optional<std::string> answer;
  if (file.why.empty()) {
    answer = file.client.ask(ReadRequest::kPlace, MessageWriter().number(address));
    if (!answer) file.why = FileReader::shared().why_unread(*file.file);
  }
  MessageReader in(answer);
  const bool has_name = in.number() != 0;
  const std::string function(in.text());
  const bool has_line = in.number() != 0;
  const std::string source(has_line ? in.text() : "");
  const int line = has_line ? static_cast<int>(in.number()) : 0;
  const std::string no_line = file.why.empty() ? "no debug information" : file.why;
  const bool is_after = !has_name && !function.empty();
  NamedFrame named{printable(module),
                   address,
                   known_if(has_name, printable(function), file.why.empty() ? "no symbol there" : file.why),
                   is_after ? std::optional(printable(function)) : std::nullopt,
                   known_if(has_line, printable(source), no_line),
                   known_if(has_line, line, no_line)};
  return file.named.emplace(address, std::move(named)).first->second;
}

NamedFrame frame_of_script(const ScriptFunction& script) {
  const std::string unsaid = "the interpreter does not say";
  return {NotAvailable{"memory for which an interpreter generated code"},
          0,
          script.function,
          {},
          known_if(!script.file.empty(), script.file, unsaid),
          known_if(script.line != 0, script.line, unsaid)};
}

std::string NamedFrame::label() const {
  return function.value_or(after ? "after " + *after : fmt::format("{:#x}", address));
}

std::string frame_label(const NamedFrame& frame, bool function_only) {
  const std::string module = frame.module.value_or("");
  const std::string function = frame.label();
  if (function_only) {
    return frame.function || frame.after || module.empty() ? function
                                                           : fmt::format("{}+{}", file_name(module), function);
  }
  const std::string source = frame.file.value_or("");
  if (!source.empty() && frame.line) return fmt::format("{} ({}:{})", function, file_name(source), *frame.line);
  if (!source.empty()) return fmt::format("{} ({})", function, file_name(source));
  return module.empty() ? function : fmt::format("{} ({})", function, file_name(module));
}

std::map<std::string, std::uint64_t> libc_functions(const FileId& file) {
  const OwnLibrary& own = own_library();
  std::map<std::string, std::uint64_t> found;
  if (!file.known() || file != own.file) return found;
  for (const auto& [address, name] : own.functions) found.emplace(name, address);
  return found;
}

std::string libc_function(const FileId& file, std::uint64_t file_address) {
  const OwnLibrary& own = own_library();
  const auto found = own.functions.find(file_address);
  return file.known() && file == own.file && found != own.functions.end() ? found->second : "";
}

}  // namespace zerotax
