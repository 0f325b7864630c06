#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "observe/fill.h"
#include "observe/frame.h"
#include "observe/interpreter.h"
#include "observe/perf_map.h"
#include "os/perf_sampler.h"
#include "os/regular_file.h"

namespace zerotax {

class ReadClient;
struct ForeignFile;

/// The mappings of one process, reported by map(), and used to name the functions on a stack. Unwinding uses the call
/// frame information that every library has, not frame pointers, which few libraries keep. FileReader's process unwinds
/// and finds the names.
class Unwinder {
 public:
  /// `scripts` is the perf map for script functions, if already known. Otherwise the map is opened when needed. If the
  /// process has ended by then, the map is searched only in zerotax's own /tmp.
  explicit Unwinder(std::uint32_t pid, std::shared_ptr<PerfMap> scripts = nullptr);
  /// Creates the unwinder of a forked child. The child's mappings are added to its parent's mappings.
  Unwinder(std::uint32_t pid, Unwinder& parent);
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  struct Mapping {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t file_offset;
    std::string name;
    std::uint64_t inode = 0;   ///< inode of the file; 0 if unknown
    std::string path{};        ///< path that opens the file; empty if the path is to be found when needed
    std::uint64_t device = 0;  ///< device of the file's file system; 0 if unknown
  };

  void map(const Mapping& mapping);
  [[nodiscard]] const std::vector<Mapping>& mappings() const { return mappings_; }
  /// Number of mappings so far. If this number has changed, earlier results may be wrong.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

  /// Copies memory of the process. Returns false if the memory cannot be read.
  using ReadMemory = std::function<bool(std::uint64_t address, void* to, std::size_t bytes)>;

  /// Returns the user part of a sample's stack, outermost frame first. Calls to functions of malloc's family that a
  /// jump has hidden are added. With a perf map, script functions replace the interpreter's loop. The stack ends where
  /// the copied stack ends, or where a function cannot be unwound. The innermost function is always known. `read` is
  /// for a blocked thread, whose sample has few registers: it reads the thread's memory to find the frame pointer.
  Stack frames(const PerfEvent& sample, const ReadMemory& read = {});
  /// Returns which kind of fill the sampled thread was doing in user mode, if any.
  Fill fill(const PerfEvent& sample);
  /// Returns the mapping at an address, or nullptr.
  [[nodiscard]] const Mapping* mapping_of(std::uint64_t address) const;
  /// Returns the function at an address.
  const Frame& name(std::uint64_t address);
  /// Adds the interpreters among the files, and whether the perf map of each names script functions.
  void note_scripts(ScriptNames& names);
  /// Returns the perf map of the process's scripts.
  const std::shared_ptr<PerfMap>& scripts();

 private:
  /// The state from which unwinding starts: the sample's registers, or the known registers of an outer frame.
  struct Start {
    Registers registers{};
    std::uint64_t known = 0;  ///< mask with a bit for each known register
    bool exact = true;        ///< whether the program counter is the address of an instruction, not one byte before a
                              ///< return address

    void set(int number, std::uint64_t value) {
      registers[static_cast<std::size_t>(number)] = value;
      known |= std::uint64_t{1} << number;
    }
  };
  /// Addresses on a stack, innermost first.
  struct Unwound {
    std::vector<std::uint64_t> addresses;
    std::vector<bool> exact;  ///< whether the address is an instruction, not one byte before a return address
  };
  /// Start of the code at an address, by its call frame information; 0 without such information.
  struct CodeStart {
    std::uint64_t in_file = 0;
    std::uint64_t in_memory = 0;
  };
  struct FrameRule {
    bool by_frame_pointer = false;
    bool outermost = false;
  };
  /// The function of malloc's family that is called before a return address; address 0 if no such function is called.
  struct Called {
    std::string name;
    std::string module;
    std::uint64_t address = 0;
  };

  struct OpenedFile {
    FileId id;
    std::shared_ptr<ForeignFile> file;
    std::optional<std::uint64_t> bias;  ///< address in memory minus address in the file; empty if not mapped
  };

  /// Opens files mapped since the last call. Runs only when the process is sampled.
  void open_files();
  [[nodiscard]] std::uint64_t function_start(std::uint64_t address);
  const CodeStart& code_start(std::uint64_t address);
  FrameRule frame_rule(std::uint64_t address);
  const Called& called_before(std::uint64_t address);
  Unwound unwind(const PerfEvent& sample, std::uint64_t frame_pointer);
  std::optional<Start> unwind_from(const PerfEvent& sample, const Start& start, Unwound& unwound);
  static std::optional<Start> behind_trampoline(const PerfEvent& sample, const Start& callee);
  bool is_trampoline(std::uint64_t address);
  Unwound find_frame_pointer(const PerfEvent& sample, const ReadMemory& read, Unwound found);
  /// Returns the file of a mapping, or nullptr.
  [[nodiscard]] const OpenedFile* opened_file(const Mapping* mapping) const;
  /// Returns the name of a function that was named before. (A search of a long symbol table is slow.)
  const Frame* name_again(std::uint64_t address);
  /// Returns the script function at an address that is in no file, or nullptr.
  const PerfMapNames::Entry* script(std::uint64_t address);

  std::uint32_t pid_;
  std::shared_ptr<PerfMap> scripts_;
  std::vector<Mapping> mappings_;
  std::vector<Mapping> new_files_;
  std::map<std::uint64_t, OpenedFile> opened_;  ///< files by the start of their mappings
  std::vector<std::uint64_t> files_;            ///< an address in each mapping
  std::uint64_t changes_ = 0;
  std::unique_ptr<ReadClient> reader_;
  std::unordered_map<std::uint64_t, Frame> names_;
  std::map<std::uint64_t, std::pair<std::uint64_t, Frame>> functions_;  ///< end and name of each function, by its start
  Frame script_frame_;  ///< last script function; not kept longer, because other code may reuse the memory of the
                        ///< function
  std::unordered_map<std::uint64_t, CodeStart> starts_;
  std::unordered_map<std::uint64_t, Called> called_;
};

}  // namespace zerotax
