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
#include <utility>
#include <vector>

#include "observe/debug_files.h"
#include "observe/file_reader_messages.h"
#include "os/message.h"
#include "os/unique_fd.h"

namespace zerotax {

class ReadClient;

/// A program file of somebody else, which only FileReader's process parses.
struct ForeignFile {
  UniqueFd fd;
  FileOrigin origin;
  std::uint32_t number = 0;  ///< in messages
  std::string why;           ///< it is not read any more; empty: it is
  unsigned failures = 0;     ///< processes that ended while they read it
  std::int64_t slow_ns = 0;  ///< CPU time of requests that were not answered at once
};

/// Reads program files of others: in a process that may open nothing, and that is ended where it takes too much time
/// or memory. A file that ends the process twice, or once by its time, is not read any more, and all else goes on in
/// a new process. Safe to call from several threads.
class FileReader {
 public:
  /// The one of this process.
  static FileReader& shared();
  /// `program`: started in place of read-files.
  explicit FileReader(std::string program = "") : program_(std::move(program)) {}
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  /// Starts the process unless it runs. Call it before anything counts or samples what this thread starts.
  void start();
  /// The same object for the same file.
  std::shared_ptr<ForeignFile> file(UniqueFd opened, const FileOrigin& origin);
  /// Why a file is not read any more; empty: it is.
  std::string why_unread(const ForeignFile& file);
  /// Lines for people about files that are not read any more; empty if there are none.
  std::string problem_lines();
  /// Of the process; -1: none runs.
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
  /// Whether the process must be ended: it is past a limit.
  bool is_over_limit(std::int64_t begin_ns, std::int64_t& cpu_ns);
  void send_debug_file(MessageReader& question);
  /// The file of this number, or nullptr.
  ForeignFile* numbered(std::uint32_t number);
  std::string spawn();
  /// Ends the process. The file that it was reading is at fault; `certainly`: even if that was the first time.
  void end(const std::string& why, bool certainly);
  std::string why_ended() const;

  const std::string program_;
  std::mutex mutex_;
  pid_t pid_ = -1;
  pid_t owner_ = -1;          ///< that started it: a child of fork leaves it alone
  std::vector<pid_t> ended_;  ///< waited for at the end: until then their CPU time is not that of a watched program
  MessageSocket socket_;
  std::atomic<std::uint32_t>* current_ = nullptr;  ///< number of the file that the process is reading
  std::uint64_t generation_ = 0;                   ///< number of processes that were started
  std::uint64_t last_session_ = 0;
  std::uint32_t last_file_ = 0;
  std::map<Identity, std::shared_ptr<ForeignFile>> files_;
  std::string unavailable_;  ///< why no process is started any more
  unsigned unexplained_ = 0;
  std::int64_t limit_ns_;
};

/// A session of the process of FileReader: it is set up again in each new process.
class ReadClient {
 public:
  explicit ReadClient(FileReader& reader = FileReader::shared()) : reader_(reader) {}
  ~ReadClient();
  ReadClient(const ReadClient&) = delete;
  ReadClient& operator=(const ReadClient&) = delete;

  /// Sends a request with a file, whose contents belong to the session from now on.
  std::optional<std::string> add(ReadRequest what, const std::shared_ptr<ForeignFile>& file, const MessageWriter& rest);
  /// The answer to a request; nothing if there is none, for the file concerned is not read any more.
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

}  // namespace zerotax
