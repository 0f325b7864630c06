#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "observe/perf_map.h"
#include "os/regular_file.h"

namespace zerotax {

struct ForeignFile;

struct NamedFrame {
  RESULT("frame", "A code location in a program file, or a function of a script.");
  FIELD(Measured<std::string>, module, "Path of the program or library; n/a for a function of a script.");
  FIELD(std::uint64_t, address, "Address of the call, relative to the file; absolute if there is no module.");
  FIELD(Measured<std::string>, function,
        "Demangled name of the function; for a script, the name from its interpreter's perf map.");
  FIELD(std::optional<std::string>, after,
        "If no symbol names the code, the last exported function before the code, and the distance, such as "
        "PyBytes_FromStringAndSize+0x12.");
  FIELD(Measured<std::string>, file, "Path of the source file or script.");
  FIELD(Measured<int>, line, "Line number in the source file.");
  /// The name shown to users: the function, or "after PyBytes_FromStringAndSize+0x12", or the address.
  [[nodiscard]] std::string label() const;
  /// Returns whether this is a function of a script. No file of machine code contains such a function.
  [[nodiscard]] bool is_script() const { return !module && function; }
};

/// Names of places in program files. FileReader reads the names from symbol tables and debug information, including
/// separate debug files (debug_files.h, debuginfod.h).
class Symbols {
 public:
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  /// Returns the names at an address, as far as known. A file that has changed since recording has no names, because
  /// its build-id differs from the given one. `pid` is a process that has the file mapped as `name_there`, which may
  /// differ from `module`.
  NamedFrame frame(const std::string& module, const std::vector<unsigned char>& build_id, std::uint64_t address,
                   pid_t pid = 0, const std::string& name_there = "");

 private:
  struct File;
  struct Module;
  Module& open(const std::string& module, const std::vector<unsigned char>& build_id, pid_t pid,
               const std::string& name);
  std::shared_ptr<File> read(const std::shared_ptr<ForeignFile>& foreign, const std::string& module);

  std::map<std::string, std::unique_ptr<Module>> modules_;  ///< modules by their paths
  std::map<const ForeignFile*, std::shared_ptr<File>> files_;
};

/// Returns the frame of a script function. The frame has a name and the script's file, but no place in a program file.
NamedFrame frame_of_script(const ScriptFunction& script);

/// Returns a short name for a frame, such as "main (known.c:3)" or "0x1234 (libx.so)". With `function_only`, the name
/// is "main" or "libx.so+0x1234".
std::string frame_label(const NamedFrame& frame, bool function_only);

/// Returns the name of a C library's memory function (memset, memcpy, …) whose code begins at an address of the
/// library's file, or "". A stripped library has no symbols for the variants that the library selects by CPU (IFUNC).
/// However, zerotax uses the same file on the same CPU, and knows the targets of its own calls. Returns "" for any
/// other file.
std::string libc_function(const FileId& file, std::uint64_t file_address);

/// Returns all known memory functions of the file, with their addresses in it.
std::map<std::string, std::uint64_t> libc_functions(const FileId& file);

}  // namespace zerotax
