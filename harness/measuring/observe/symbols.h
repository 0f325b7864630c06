#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/fields.h"
#include "observe/perf_map.h"
#include "os/regular_file.h"

namespace zerotax {

struct ForeignFile;

struct NamedFrame {
  RESULT("frame", "A place in a program file, or a function of a script.");
  FIELD(Measured<std::string>, module,
        "Path of the program or library; n/a for a function of a script, which lies in no file.");
  FIELD(std::uint64_t, address, "Address of the call, relative to the file; absolute if there is no module.");
  FIELD(Measured<std::string>, function,
        "Demangled name of the function; of a script's, as its interpreter's perf map has it.");
  FIELD(Measured<std::string>, file, "Source file, or script.");
  FIELD(Measured<int>, line, "Line in the source file.");
  /// A function of a script, which lies in no file of machine code.
  [[nodiscard]] bool is_script() const { return !module && function; }
};

/// Names of places in program files, read by FileReader from symbol tables and debug information, also from separate
/// debug files (debug_files.h). Nothing is requested from the network.
class Symbols {
 public:
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  /// The names at an address, as far as known. A file that has changed since (its build-id differs from a given one)
  /// names nothing. `pid`: a process that has the file mapped as `name_there`, which may differ from `module`.
  NamedFrame frame(const std::string& module, const std::vector<unsigned char>& build_id, std::uint64_t address,
                   pid_t pid = 0, const std::string& name_there = "");

 private:
  struct File;
  struct Module;
  Module& open(const std::string& module, const std::vector<unsigned char>& build_id, pid_t pid,
               const std::string& name);
  std::shared_ptr<File> read(const std::shared_ptr<ForeignFile>& foreign, const std::string& module);

  std::map<std::string, std::unique_ptr<Module>> modules_;  ///< by their paths
  std::map<const ForeignFile*, std::shared_ptr<File>> files_;
};

/// The same of a function of a script, which lies in no file but has a name, and the script's file.
NamedFrame frame_of_script(const ScriptFunction& script);

/// "main (known.c:3)", "0x1234 (libx.so)": a frame in few words; without the place if `function_only`.
std::string frame_label(const NamedFrame& frame, bool function_only);

/// The name of a C library's memory function (memset, memcpy, …) whose code begins at an address of the library's file,
/// or
/// "". A stripped library has no symbols for the variants that it picks by the CPU (IFUNC); but this program uses the
/// same file on the same CPU, and knows where its own calls go. Empty for any other file.
std::string libc_function(const FileId& file, std::uint64_t file_address);

/// All of those that are known of the file, by name, with their addresses in it.
std::map<std::string, std::uint64_t> libc_functions(const FileId& file);

}  // namespace zerotax
