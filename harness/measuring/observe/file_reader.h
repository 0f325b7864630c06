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
#include "observe/file_reader_messages.h"
#include "observe/frame.h"
#include "os/helper_process.h"
#include "os/unique_fd.h"

namespace zerotax {

class ReadClient;

/// A foreign program file, which only FileReader's process parses.
struct ForeignFile {
  UniqueFd fd;
  FileOrigin origin;
  std::uint32_t number = 0;  ///< in messages
  std::string why;           ///< why the file is no longer read; empty: it still is
  unsigned failures = 0;     ///< processes that ended while they read this file
  std::int64_t slow_ns = 0;  ///< CPU time of requests that were not answered at once
  /// Names that were found in the file, kept for all processes: a longer symbol table takes longer to search.
  struct Name {
    std::string function;
    std::uint64_t offset = 0;  ///< of the address in the function
  };
  std::unordered_map<std::uint64_t, Name> names{};
  std::map<std::uint64_t, std::pair<std::uint64_t, std::string>> functions{};  ///< end and name of each, by its begin
};

/// Reads foreign program files in a process that may open no files, and that is ended if it takes too much time or
/// memory. A file is no longer read once two processes have ended over it, or one by its CPU time. All other work
/// continues in a new process. Thread-safe.
class FileReader {
 public:
  /// The only reader of this process.
  static FileReader& shared();
  /// `program` is started in place of read-files.
  explicit FileReader(std::string program = "") : program_(std::move(program)) {}
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  /// Starts the process unless it runs. Call it before anything counts or samples the processes that this thread
  /// starts.
  void start();
  /// Returns the same object for the same file.
  std::shared_ptr<ForeignFile> file(UniqueFd opened, const FileOrigin& origin);
  /// Adds the kept name at an address of a file to `frame`. Returns false if none is kept yet.
  bool name_again(ForeignFile& file, std::uint64_t address, Frame& frame);
  /// Keeps a name for name_again(). `bytes`: the size of the function; 0: unknown.
  void keep_name(ForeignFile& file, std::uint64_t address, const Frame& frame, std::uint64_t bytes);
  /// Why a file is no longer read; empty if it still is.
  std::string why_unread(const ForeignFile& file);
  /// Lines for people about files that are no longer read; empty if there are none.
  std::string problem_lines();
  /// The PID of the process; -1 if none runs.
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
  /// Ends the process if it is past a limit. Returns whether it was.
  bool is_over_limit(std::int64_t begin_ns, std::int64_t& cpu_ns);
  void send_debug_file(MessageReader& question);
  /// The file of this number, or nullptr.
  ForeignFile* numbered(std::uint32_t number);
  std::string spawn();
  /// Ends the process, and blames the file that it was reading. `certainly`: one such end is enough to stop reading the
  /// file.
  void end(const std::string& why, bool certainly);
  [[nodiscard]] std::string why_ended() const;

  const std::string program_;
  std::mutex mutex_;
  pid_t pid_ = -1;
  pid_t owner_ = -1;          ///< the process that started the reader: a child of fork leaves the reader alone
  std::vector<pid_t> ended_;  ///< waited for at our end: earlier, their CPU time would count as a watched program's
  MessageSocket socket_;
  std::atomic<std::uint32_t>* current_ = nullptr;  ///< number of the file that the process is reading
  std::uint64_t generation_ = 0;                   ///< number of processes started so far
  std::uint64_t last_session_ = 0;
  std::uint32_t last_file_ = 0;
  std::map<Identity, std::shared_ptr<ForeignFile>> files_;
  std::string unavailable_;  ///< why no more processes are started
  unsigned unexplained_ = 0;
  std::int64_t limit_ns_;
};

/// A session of FileReader's process, which is set up again in each new process.
class ReadClient {
 public:
  explicit ReadClient(FileReader& reader = FileReader::shared()) : reader_(reader) {}
  ~ReadClient();
  ReadClient(const ReadClient&) = delete;
  ReadClient& operator=(const ReadClient&) = delete;

  /// Sends a request with a file, whose contents belong to the session from now on.
  std::optional<std::string> add(ReadRequest what, const std::shared_ptr<ForeignFile>& file, const MessageWriter& rest);
  /// The answer to a request; nothing if the file concerned is no longer read.
  std::optional<std::string> ask(ReadRequest what, const MessageWriter& rest);
  /// The same about a file that belongs to no session.
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
  std::uint64_t generation_ = 0;  ///< the process that knows all parts
  std::vector<Part> parts_;
};

/// Whether a process is this one or its reader, which are no part of what is watched.
bool is_own_process(pid_t pid);

/// Lines for people about program files that could not be read, so that their functions have no names; empty if there
/// are none.
std::string unread_files_lines();

}  // namespace zerotax
