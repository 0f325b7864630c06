#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "files/folders.h"

namespace zerotax::advise {

/// Environment variable of the libraries that the dynamic linker preloads.
inline constexpr const char* kPreload = "LD_PRELOAD";

/// A change before forks that lets processes share more memory, or lets fork copy less.
enum class ForkChange { kDisable, kFreeze, kCompact, kWarmup, kDontFork };
ENUM_WORDS(ForkChange, "disable", "freeze", "compact", "warmup", "dontfork")

/// Returns the line to write in the program, such as "import gc; gc.disable()". The changes must be in one language.
std::string source_line(const std::vector<ForkChange>& changes);

/// Environment variables that load a hook into every Python or Ruby process of a program, or preload a library.
using HookVariables = std::map<std::string, std::string>;

/// Returns the changes that a hook makes.
std::vector<ForkChange> changes_in(const HookVariables& variables);

/// Whether one hook can make the changes of both. Only changes of Python can be joined.
bool can_join_hooks(const HookVariables& one, const HookVariables& other);
HookVariables joined_hooks(const HookVariables& one, const HookVariables& other);

/// The interpreters and the large blocks of a program, as a hook saw them.
struct HookNotes {
  std::string python;              ///< version of CPython; empty if no process loaded the hook
  bool python_can_freeze = false;  ///< whether gc.freeze and os.register_at_fork exist
  bool python_forks = false;       ///< whether a process forked by os.fork
  bool multiprocessing = false;    ///< whether the module multiprocessing forked
  std::string ruby;                ///< version of Ruby; empty if no process loaded the hook
  bool ruby_can_hook = false;      ///< whether Process._fork exists
  bool ruby_can_compact = false;   ///< whether GC.compact exists
  bool ruby_can_warm_up = false;   ///< whether Process.warmup exists
  bool ruby_forks = false;         ///< whether a process forked
  std::uint64_t large_bytes = 0;   ///< maximum bytes in blocks of 1 MiB or more at a fork
  bool reads_large = false;        ///< whether a child of fork accessed a block of 1 MiB
};

/// Files that change how a program forks, without a change of the program. Python loads its hook as sitecustomize, from
/// PYTHONPATH. Ruby loads its hook by RUBYOPT. The library of preload/ tries MADV_DONTFORK.
class ForkHook {
 public:
  /// Writes the files to a temporary folder.
  ForkHook();

  /// Returns the variables of a run that makes one change.
  [[nodiscard]] HookVariables variables(ForkChange change) const;
  /// Returns the variables of a run that changes nothing, but writes the notes.
  [[nodiscard]] HookVariables observing() const;
  /// Reads the notes of the processes that have run so far.
  [[nodiscard]] HookNotes notes() const;

 private:
  TemporaryFolder folder_{"fork-hook"};
};

}  // namespace zerotax::advise
