#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace zerotax {

// Reads the call frame information of a file (its .eh_frame) for an address.

struct CodeStart {
  std::uint64_t in_file = 0;  ///< an address as the file numbers addresses
  std::uint64_t in_memory = 0;
};

/// Returns the start of the row of call frame information at an address; 0 without such a row. The row of a function
/// that keeps nothing on the stack starts with the function.
CodeStart code_start(Dwfl_Module* module, std::uint64_t address);

/// Returns the name of the symbol whose code contains an address, or nullptr. libdwfl extends a symbol without a size,
/// as in assembly code, over all code that follows. This function ends such a symbol where call frame information
/// begins another function. `module` may be nullptr.
const char* symbol_at(Dwfl_Module* module, std::uint64_t address, GElf_Off& offset, GElf_Sym& symbol);

/// The functions that files export, used to describe code that has no symbol.
class ExportedFunctions {
 public:
  /// Returns the last function that begins before an address, with the distance: "PyBytes_FromStringAndSize+0x12".
  /// Returns "" if no function begins within 4 KiB in that section.
  std::string before(Dwfl_Module* module, std::uint64_t address, std::uint32_t file);

 private:
  struct Function {
    std::string name;
    GElf_Word section = 0;
  };
  /// Functions of each file, by their addresses in the file.
  std::map<std::uint32_t, std::map<std::uint64_t, Function>> by_file_;
};

/// The rule by which the caller of a frame is found, from the frame's call frame information.
struct FrameRule {
  bool by_frame_pointer = false;
  bool outermost = false;  ///< whether the frame has no return address
};

/// Returns the rule at an address. Without a module, the rule is unknown.
FrameRule frame_rule(Dwfl_Module* module, std::uint64_t address);

/// Returns the module at an address, or nullptr.
using FindModule = std::function<Dwfl_Module*(std::uint64_t address)>;

/// Finds calls to functions of malloc's family that left no frame. If a function ends with a jump to another function,
/// as glibc's calloc jumps to memset, the other function replaces it on the stack. The call instruction remains in the
/// caller's code before the return address. The instruction names its target through a stub of the procedure linkage
/// table, through a slot of the global offset table, or directly.
class HiddenCalls {
 public:
  struct Target {
    std::string name;    ///< name such as "calloc"
    std::string module;  ///< file that defines the function for this program
    std::uint64_t address = 0;
  };

  /// Returns the target of the call before a return address if the target is a function of malloc's family. `files`
  /// contains an address in each file, in the order in which the files were loaded, because symbols are looked up in
  /// this order.
  const Target* called_before(const FindModule& find, std::uint64_t address, const std::vector<std::uint64_t>& files);

 private:
  const Target* definition(const FindModule& find, const std::string& name, const std::vector<std::uint64_t>& files);

  std::vector<std::uint64_t> files_;  ///< the files for which by_name_ is valid
  std::map<std::string, Target> by_name_;
};

}  // namespace zerotax
