#pragma once

#include <elfutils/libdwfl.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "observe/process/frame_information.h"
#include "os/helper_process.h"
#include "os/processor.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Opens everything that unwinding needs besides the files. Call this function while this process may still open files.
void prepare_unwinding();

/// The mapped files of one process, or one file that is not mapped. elfutils' libdwfl unwinds and finds the names. Each
/// function reads its arguments from a request, and adds the results to the answer.
class ReadSession {
 public:
  explicit ReadSession(std::atomic<std::uint32_t>& current) : current_(current) {}
  ~ReadSession();
  ReadSession(const ReadSession&) = delete;
  ReadSession& operator=(const ReadSession&) = delete;

  void map(MessageReader& in, UniqueFd file, MessageWriter& out);
  void open(MessageReader& in, UniqueFd file, MessageWriter& out);
  void unwind(MessageReader& in, MessageWriter& out);
  void name(MessageReader& in, MessageWriter& out);
  void start(MessageReader& in, MessageWriter& out);
  void rule(MessageReader& in, MessageWriter& out);
  void called(MessageReader& in, MessageWriter& out);
  void place(MessageReader& in, MessageWriter& out);

  std::uint64_t file_bytes = 0;  ///< total size of the session's open files

 private:
  struct Frame {
    std::uint64_t address = 0;  ///< address within an instruction; for a caller, the return address minus one
    bool exact = false;
    bool in_file = false;
    std::uint64_t known = 0;  ///< bit mask of the known registers: only preserved registers and the stack pointer
    Registers registers{};
  };

  void begin(const Dwfl_Callbacks& callbacks);
  /// Returns the module at an address, and marks its file as the one being parsed.
  Dwfl_Module* module_at(std::uint64_t address);

  static pid_t next_thread(Dwfl* dwfl, void* argument, void** thread);
  static bool read_memory(Dwfl* dwfl, Dwarf_Addr address, Dwarf_Word* word, void* argument);
  static bool set_registers(Dwfl_Thread* thread, void* argument);
  static int on_frame(Dwfl_Frame* frame, void* argument);

  std::atomic<std::uint32_t>& current_;
  Dwfl* dwfl_ = nullptr;
  bool attached_ = false;
  std::set<std::pair<std::uint32_t, std::uint64_t>> mapped_;  ///< number and load bias of each mapped file
  HiddenCalls hidden_calls_;
  ExportedFunctions exported_;
  // State for a single file that is not mapped.
  Dwfl_Module* file_ = nullptr;
  std::uint64_t bias_ = 0;  ///< difference between addresses in libdwfl and addresses in the file
  // State for the stack that is being unwound.
  Registers registers_{};
  std::uint64_t known_ = 0;
  bool exact_ = true;
  std::string_view stack_;
  std::vector<Frame> frames_;
};

/// Answers the requests of FileReader. Only this part of zerotax parses foreign program files. The server runs in a
/// separate process (main.cc), and in a fuzzer.
class ReadServer {
 public:
  /// `current` receives the number of the file being parsed. If this process dies, FileReader attributes the failure to
  /// this file.
  explicit ReadServer(std::atomic<std::uint32_t>& current) : current_(current) {}

  /// Answers a request. `file` is the descriptor that came with the request. For an invalid request, the answer is
  /// empty.
  MessageWriter answer(std::string_view request, UniqueFd file);

  /// Total size of all open files.
  [[nodiscard]] std::uint64_t file_bytes() const;
  /// Adds the size of a debug file that was opened for the current session.
  void add_file_bytes(std::uint64_t bytes) { answered_->file_bytes += bytes; }

 private:
  std::atomic<std::uint32_t>& current_;
  std::map<std::uint64_t, std::unique_ptr<ReadSession>> sessions_;
  ReadSession* answered_ = nullptr;
};

/// Returns the size of an open file; 0 if unknown.
std::uint64_t size_of(int file);

}  // namespace zerotax
