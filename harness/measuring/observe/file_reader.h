#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "observe/debug_files.h"
#include "observe/debuginfod.h"
#include "observe/file_reader_messages.h"
#include "observe/frame.h"
#include "os/helper_process.h"
#include "os/unique_fd.h"

namespace zerotax {

class ReadClient;

/// A foreign program file, which is parsed only in FileReader's process.
struct ForeignFile {
  UniqueFd fd;
  FileOrigin origin;
  std::uint32_t number = 0;  ///< number of the file in messages
  std::string why;           ///< reason why the file is no longer read; empty if it still is
  unsigned failures = 0;     ///< processes that ended while they read this file
  std::int64_t slow_ns = 0;  ///< CPU time of requests that were not answered at once
  /// Names that were found in the file, kept for all processes, because searching a long symbol table is slow.
  struct Name {
    std::string function;
    std::uint64_t offset = 0;  ///< offset of the address in the function
    std::string after;         ///< same as Frame::after, the nearest exported function
  };
  std::unordered_map<std::uint64_t, Name> names{};
  /// End and name of each function, by its start.
  std::map<std::uint64_t, std::pair<std::uint64_t, std::string>> functions{};
};

/// Reads foreign program files in a separate process that may open no files. If a process takes too much time or
/// memory, it is killed, and a new process continues the work. A file is no longer read after two processes ended while
/// reading it, or after one exceeded its CPU time. Thread-safe.
class FileReader {
 public:
  /// Returns the only reader of this program.
  static FileReader& shared();
  /// `program` is the path of a program to start in place of read-files.
  explicit FileReader(std::string program = "") : program_(std::move(program)) {}
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  /// Starts the process unless it already runs. Call this function before events or samples of processes that this
  /// thread starts are taken.
  void start();
  /// Returns the same object for each request with the same file.
  std::shared_ptr<ForeignFile> file(UniqueFd opened, const FileOrigin& origin);
  /// Adds the known name of an address in a file to `frame`. Returns false if no name is known yet.
  bool name_again(ForeignFile& file, std::uint64_t address, Frame& frame);
  /// Stores a name for name_again(). `bytes` is the size of the function; 0 if unknown.
  void keep_name(ForeignFile& file, std::uint64_t address, const Frame& frame, std::uint64_t bytes);
  /// Returns why a file is no longer read; empty if it is still read.
  std::string why_unread(const ForeignFile& file);
  /// Returns sentences about files that are no longer read.
  std::vector<std::string> problems();
  /// Returns the PID of the process, or -1 if it does not run.
  pid_t pid();

 private:
  friend class ReadClient;
  using Identity = std::tuple<std::uint64_t, std::uint64_t, std::int64_t>;

  std::optional<std::string> ask(ReadClient& client, ReadRequest what, const MessageWriter& rest, ForeignFile* file);
  void forget(const ReadClient& client);
  bool run();
  std::optional<std::string> exchange(std::uint64_t session, ReadRequest what, const MessageWriter& rest,
                                      const ForeignFile* file);
  std::optional<std::string> wait_for_answer();
  /// Ends the process if a limit is exceeded. Returns whether the process was ended.
  bool is_over_limit(std::int64_t begin_ns, std::int64_t& cpu_ns);
  void send_debug_file(MessageReader& question);
  /// Returns the file with this number, or nullptr.
  ForeignFile* numbered(std::uint32_t number);
  std::string spawn();
  /// Ends the process and attributes the failure to the file that the process was reading. If `certainly`, the file is
  /// not read again.
  void end(const std::string& why, bool certainly);
  [[nodiscard]] std::string why_ended() const;

  const std::string program_;
  std::mutex mutex_;
  pid_t pid_ = -1;
  pid_t owner_ = -1;          ///< process that started the reader; forked children do not use the reader
  std::vector<pid_t> ended_;  ///< ended processes, for which the destructor waits; waiting earlier would add their CPU
                              ///< time to the CPU time of a watched program
  MessageSocket socket_;
  std::atomic<std::uint32_t>* current_ = nullptr;  ///< number of the file that the process is reading
  std::uint64_t generation_ = 0;                   ///< number of reader processes started so far
  std::uint64_t last_session_ = 0;
  std::uint32_t last_file_ = 0;
  std::map<Identity, std::shared_ptr<ForeignFile>> files_;
  Debuginfod debuginfod_;
  ReadRequest asked_{};      ///< request that is being answered
  std::string unavailable_;  ///< reason why no more processes are started
  unsigned unexplained_ = 0;
  std::int64_t limit_ns_;
};

/// A session with FileReader's process. If a new process is started, it receives the session's files again.
class ReadClient {
 public:
  explicit ReadClient(FileReader& reader = FileReader::shared()) : reader_(reader) {}
  ~ReadClient();
  ReadClient(const ReadClient&) = delete;
  ReadClient& operator=(const ReadClient&) = delete;

  /// Sends a request with a file. The contents of the file then belong to the session.
  std::optional<std::string> add(ReadRequest what, const std::shared_ptr<ForeignFile>& file, const MessageWriter& rest);
  /// Returns the answer to a request, or nothing if the file is no longer read.
  std::optional<std::string> ask(ReadRequest what, const MessageWriter& rest);
  /// Sends a request about a file that belongs to no session, and returns the answer as ask() does.
  static std::optional<std::string> ask_about(FileReader& reader, ForeignFile& file, ReadRequest what,
                                              const MessageWriter& rest);

 private:
  friend class FileReader;
  struct Part {
    ReadRequest what;
    std::shared_ptr<ForeignFile> file;
    MessageWriter rest;
  };

  FileReader& reader_;
  std::uint64_t session_ = 0;
  std::uint64_t generation_ = 0;  ///< generation of the process that has received the whole session
  std::vector<Part> parts_;
};

/// Returns whether a process is zerotax or its reader, because neither must be watched.
bool is_own_process(pid_t pid);

/// Returns sentences about program files that could not be read, so that their functions have no names.
std::vector<std::string> unread_files();
/// Formats the sentences of unread_files() as lines for a terminal.
std::string unread_files_lines();

}  // namespace zerotax
