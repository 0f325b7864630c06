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

/// The mappings of one process as its samples see them, and from them the names of the functions on a stack. Unwinds by
/// the files' call frame information, which every library has, not by frame pointers, which few have. FileReader's
/// process does the unwinding and finds the names.
class Unwinder {
 public:
  /// `scripts`: what names its scripts' functions, if it is known already. Otherwise it is looked for when it is
  /// needed, which may be after the process's end, and then it is found in our own /tmp alone.
  explicit Unwinder(std::uint32_t pid, std::shared_ptr<PerfMap> scripts = nullptr);
  /// For a child of fork that has mappings of its own by now, beside those of its parent.
  Unwinder(std::uint32_t pid, Unwinder& parent);
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  struct Mapping {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t file_offset;
    std::string name;
    std::uint64_t inode = 0;   ///< of the file; 0: unknown
    std::string path{};        ///< the path that opens the file; empty: found when it is needed
    std::uint64_t device = 0;  ///< of the file system that holds the file; 0: unknown
  };

  void map(const Mapping& mapping);
  [[nodiscard]] const std::vector<Mapping>& mappings() const { return mappings_; }
  /// How often something was mapped: what was unwound before may be wrong.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

  /// Copies memory of the process; false if it cannot be read.
  using ReadMemory = std::function<bool(std::uint64_t address, void* to, std::size_t bytes)>;

  /// The user part of a sample's stack, outermost first, with calls of malloc's family that a jump has hidden, and with
  /// a script's functions, where the process has a perf map, in place of the interpreter's loop. It is cut where the
  /// copied stack ends, or a function cannot be unwound; the innermost function is always known. `read`: of a sample
  /// with few registers, where the process stands still meanwhile: then the frame pointer is looked for where it is
  /// needed.
  Stack frames(const PerfEvent& sample, const ReadMemory& read = {});
  /// How the sampled thread was filling memory, if that is what it was doing in user mode.
  Fill fill(const PerfEvent& sample);
  /// What is mapped at an address, or nullptr.
  [[nodiscard]] const Mapping* mapping_of(std::uint64_t address) const;
  /// The function at an address.
  const Frame& name(std::uint64_t address);
  /// Adds the interpreters among the files, and whether they name their scripts' functions.
  void note_scripts(ScriptNames& names);
  /// What names its scripts' functions.
  const std::shared_ptr<PerfMap>& scripts();

 private:
  /// Where unwinding begins: the sample's registers, or the known registers of an outer frame.
  struct Start {
    Registers registers{};
    std::uint64_t known = 0;  ///< a bit for each register
    bool exact = true;        ///< the program counter points to an instruction, not one byte before a return address

    void set(int number, std::uint64_t value) {
      registers[static_cast<std::size_t>(number)] = value;
      known |= std::uint64_t{1} << number;
    }
  };
  /// Addresses on a stack, innermost first.
  struct Unwound {
    std::vector<std::uint64_t> addresses;
    std::vector<bool> exact;  ///< not one byte before a return address
  };
  /// The begin of the code at an address, by its call frame information; 0 if it has none.
  struct CodeStart {
    std::uint64_t in_file = 0;
    std::uint64_t in_memory = 0;
  };
  struct FrameRule {
    bool by_frame_pointer = false;
    bool outermost = false;
  };
  /// The function of malloc's family that is called before a return address; the address is 0 if no such function is.
  struct Called {
    std::string name;
    std::string module;
    std::uint64_t address = 0;
  };

  struct OpenedFile {
    FileId id;
    std::shared_ptr<ForeignFile> file;
    std::optional<std::uint64_t> bias;  ///< address in memory minus address in the file; empty: not mapped
  };

  /// The files that were mapped since are opened: only of a process that is sampled.
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
  /// The file of a mapping, or nullptr.
  [[nodiscard]] const OpenedFile* opened_file(const Mapping* mapping) const;
  /// The name of a function that was named before: a search in a symbol table takes as long as the table.
  const Frame* name_again(std::uint64_t address);
  /// The function of a script at an address that is in no file, or nullptr.
  const PerfMapNames::Entry* script(std::uint64_t address);

  std::uint32_t pid_;
  std::shared_ptr<PerfMap> scripts_;
  std::vector<Mapping> mappings_;
  std::vector<Mapping> new_files_;
  std::map<std::uint64_t, OpenedFile> opened_;  ///< by the begin of their mappings
  std::vector<std::uint64_t> files_;            ///< an address in each mapping
  std::uint64_t changes_ = 0;
  std::unique_ptr<ReadClient> reader_;
  std::unordered_map<std::uint64_t, Frame> names_;
  std::map<std::uint64_t, std::pair<std::uint64_t, Frame>> functions_;  ///< by their begin: their end, and their name
  Frame script_frame_;  ///< the last one: memory that is no file's may be used for other code
  std::unordered_map<std::uint64_t, CodeStart> starts_;
  std::unordered_map<std::uint64_t, Called> called_;
};

}  // namespace zerotax
