#include "run/wait_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/lines.h"
#include "files/new_file.h"
#include "os/file_lock.h"
#include "os/print.h"
#include "run/interrupt.h"

namespace zerotax {
namespace {

void wait(const UniqueFd& fd, const std::string& path) {
  constexpr std::chrono::milliseconds kLook{20};
  bool told = false;
  for (;;) {
    const LockResult result = try_lock(fd.get());
    if (result == LockResult::kTaken) return;
    if (result == LockResult::kNoLocks) {
      print_text(stderr, "zerotax: {} cannot be locked ({}): let no other command write to this path meanwhile\n",
                 one_line(path), std::strerror(errno));
      return;
    }
    if (!told)
      print_text(stderr, "zerotax: waiting for {}, which holds {}\n", one_line(lock_holder(fd.get())), one_line(path));
    told = true;
    end_if_stopped();
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

UniqueFd wait_for_lock(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
  if (!fd) cannot_write(path, errno);
  wait(fd, path);
  return fd;
}

UniqueFd wait_for_folder_lock(const std::string& file) {
  const std::string parent = std::filesystem::path(file).parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A user who may not open the folder may still write files in it, so the lock is omitted.
  if (fd) wait(fd, folder);
  return fd;
}

}  // namespace zerotax
