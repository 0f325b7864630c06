// read-files parses foreign program files for FileReader, without rights. A hostile file can only spoil the names in
// that file. The process serves the socket that it was started with, and ends when the other end is closed.
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <new>
#include <optional>
#include <string>

#include "observe/file_reader_messages.h"
#include "observe/process/debug_files.h"
#include "observe/process/server.h"
#include "os/confine.h"
#include "os/page.h"

namespace {

using namespace zerotax;

/// Maximum duration of a request. The limit ends this process if FileReader is killed during a request.
constexpr time_t kLongestRequestS = 30;

MessageSocket* connection = nullptr;
ReadServer* server = nullptr;
std::uint64_t base_bytes = 0;

void allow_file_bytes(std::uint64_t more) {
  limit_address_space(base_bytes + kReadMemory + (server != nullptr ? server->file_bytes() : 0) + more);
}

/// Ends this process after this number of seconds; 0 cancels the timer.
void end_after(time_t seconds) {
  const itimerval timer{{0, 0}, {seconds, 0}};
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

/// Asks FileReader to open a file of debug information.
UniqueFd ask_for_debug_file(const MessageWriter& question) {
  UniqueFd file;
  end_after(0);  // no time limit, because FileReader may be downloading the file
  if (!connection->send(question.bytes()) || !connection->receive(&file)) ::_exit(0);
  end_after(kLongestRequestS);
  if (file) {
    const std::uint64_t bytes = size_of(file.get());
    allow_file_bytes(bytes);
    server->add_file_bytes(bytes);
  }
  return file;
}

}  // namespace

int main() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT}) ::signal(signal, SIG_IGN);
  void* page = ::mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, kReadPage, 0);
  if (page == MAP_FAILED) return 1;
  ::close(kReadPage);
  static_cast<void>(::chdir("/"));
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  base_bytes = pages * page_bytes();
  prepare_unwinding();
  confine_process();

  MessageSocket socket{UniqueFd(kReadSocket)};
  ReadServer answering(*static_cast<std::atomic<std::uint32_t>*>(page));
  connection = &socket;
  server = &answering;
  set_ask_for_file(ask_for_debug_file);
  allow_file_bytes(0);
  if (!socket.send(MessageWriter().number(static_cast<std::uint64_t>(ReadAnswer::kDone)).bytes())) return 0;
  try {
    UniqueFd file;
    while (const std::optional<std::string_view> request = socket.receive(&file)) {
      end_after(kLongestRequestS);
      if (file) allow_file_bytes(size_of(file.get()));
      const std::string whole(*request);  // copied, because FileReader's replies overwrite the socket's buffer
      if (!socket.send(answering.answer(whole, std::move(file)).bytes())) return 0;
      end_after(0);
    }
  } catch (const std::bad_alloc&) {
    ::_exit(kReadNoMemory);
  }
  return 0;
}
