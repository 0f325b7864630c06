#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace zerotax {

// What the call frame information of a file (its .eh_frame) says of an address.

struct CodeStart {
  std::uint64_t in_file = 0;  ///< in the file's own numbering
  std::uint64_t in_memory = 0;
};

/// Where the code that an address lies in begins: the start of its row of call frame information, which for a function
/// that keeps nothing on the stack is its own. 0 if it has no such row.
CodeStart code_start(Dwfl_Module* module, std::uint64_t address);

/// A symbol without a size, as assembly has them, is said to be of all that follows. Of what has call frame information
/// where the symbol has none, it is not: that is a function without a name.
bool is_of_another(Dwfl_Module* module, std::uint64_t address, std::uint64_t offset, const GElf_Sym& symbol);

/// How the frame at an address is found, by its call frame information.
struct FrameRule {
  bool by_frame_pointer = false;
  bool outermost = false;  ///< there is no address that it returns to
};

/// `module` may be nullptr: then nothing is known.
FrameRule frame_rule(Dwfl_Module* module, std::uint64_t address);

/// The module at an address, or nullptr.
using FindModule = std::function<Dwfl_Module*(std::uint64_t address)>;

/// Finds calls of malloc's family that have left no frame: a function that ends by jumping to another, as glibc's
/// calloc does to memset, is replaced on the stack by that one. But the call itself is behind it, in its caller's code,
/// and names its target: by a stub of the procedure linkage table, by a slot of the global offset table, or directly.
class HiddenCalls {
 public:
  struct Target {
    std::string name;    ///< "calloc"
    std::string module;  ///< file that defines it for this program
    std::uint64_t address = 0;
  };

  /// The target of the call before a return address, if that is a function of malloc's family. `files`: an address in
  /// each, in the order in which they were loaded, which is that in which a symbol is looked up.
  const Target* called_before(const FindModule& find, std::uint64_t address, const std::vector<std::uint64_t>& files);

 private:
  const Target* definition(const FindModule& find, const std::string& name, const std::vector<std::uint64_t>& files);

  std::vector<std::uint64_t> files_;  ///< the files for which by_name_ holds
  std::map<std::string, Target> by_name_;
};

}  // namespace zerotax
