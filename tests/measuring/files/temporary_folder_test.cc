#include "temporary_folder.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "files/folders.h"
#include "os/unique_fd.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

/// A forked process that sends a word, and then ends or waits to be killed.
class Process {
 public:
  using Say = std::function<void(const std::string& word)>;

  explicit Process(const std::function<void(const Say& say)>& body) : pipe_(make_pipe()), pid_(::fork()) {
    if (pid_ != 0) return;
    body(
        [&](const std::string& word) { static_cast<void>(::write(pipe_.write_end.get(), word.c_str(), word.size())); });
    ::_exit(0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { kill(); }

  std::string word() {
    std::string text(4096, '\0');
    const ssize_t got = ::read(pipe_.read_end.get(), text.data(), text.size());
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }
  int wait() {
    int status = -1;
    while (::waitpid(std::exchange(pid_, -1), &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  Pipe pipe_;
  pid_t pid_;
};

[[noreturn]] void sleep_forever() {
  for (;;) ::pause();
}

class TemporaryFolderTest : public WithTemporaryFolder {
 protected:
  void SetUp() override {
    WithTemporaryFolder::SetUp();
    ::setenv("TMPDIR", path("parent").c_str(), 1);
    fs::create_directory(path("parent"));
  }
  void TearDown() override {
    ::unsetenv("TMPDIR");
    WithTemporaryFolder::TearDown();
  }

  [[nodiscard]] std::string parent() const { return path("parent"); }
  void sweep() const { remove_dead_temporary_folders(parent()); }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(parent()), fs::directory_iterator()));
  }

  /// A folder whose process was killed. The process made the folder elsewhere, because a new process removes dead
  /// folders here.
  [[nodiscard]] std::string dead_folder(std::string name = {}) const {
    Process process([this](const auto& say) {
      ::setenv("TMPDIR", path("elsewhere").c_str(), 1);
      fs::create_directories(path("elsewhere"));
      const TemporaryFolder folder("history");
      fs::create_directories(folder.file("source/.git/objects"));
      std::ofstream(folder.file("source/.git/objects/1")) << "x";
      fs::create_symlink("/", folder.file("source/link"));
      say(folder.path());
      sleep_forever();
    });
    const fs::path made = process.word();
    process.kill();
    if (name.empty()) name = made.filename().string();
    fs::rename(made, parent() + "/" + name);
    return parent() + "/" + name;
  }
};

TEST_F(TemporaryFolderTest, IsGoneAtItsEnd) {
  Process process([this](const auto& say) {
    const TemporaryFolder folder("git");
    std::ofstream(folder.file("output")) << "x";
    say(std::to_string(entries()));
  });
  EXPECT_EQ(process.word(), "1");
  EXPECT_EQ(process.wait(), 0);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(TemporaryFolderTest, OfAKilledProcessIsRemoved) {
  const std::string folder = dead_folder();
  ASSERT_TRUE(fs::exists(folder + "/source/.git/objects/1"));
  sweep();
  EXPECT_EQ(entries(), 0U);
}

TEST_F(TemporaryFolderTest, OfAProcessThatLivesIsLeftAlone) {
  Process process([this](const auto& say) {
    const TemporaryFolder folder("history");
    sweep();  // its own
    say(folder.path());
    sleep_forever();
  });
  const std::string folder = process.word();
  sweep();
  EXPECT_TRUE(fs::exists(folder));
  process.kill();
  sweep();
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(TemporaryFolderTest, StaysWhileAForkedChildMayUseIt) {
  Process process([](const auto& say) {
    const TemporaryFolder folder("history");
    const pid_t child = ::fork();
    if (child == 0) sleep_forever();
    say(std::to_string(child) + " " + folder.path());
    sleep_forever();
  });
  const std::string word = process.word();
  process.kill();
  const std::string folder = word.substr(word.find(' ') + 1);
  sweep();
  EXPECT_TRUE(fs::exists(folder));
  const pid_t child = std::stoi(word);
  ::kill(child, SIGKILL);
  // Any process may have adopted the child. The child's files are closed before its last thread becomes a zombie (the
  // thread sanitizer adds a second thread).
  const auto runs = [&] {
    std::error_code gone;
    if (std::distance(fs::directory_iterator("/proc/" + std::to_string(child) + "/task", gone), {}) > 1) return true;
    std::ifstream file("/proc/" + std::to_string(child) + "/stat");
    std::string text;
    return std::getline(file, text) && text.substr(text.rfind(')')).find('Z') == std::string::npos;
  };
  while (runs()) ::usleep(1000);
  sweep();
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(TemporaryFolderTest, IsNotKeptByAProgramThatItsProcessStarted) {
  Process process([](const auto& say) {
    const TemporaryFolder folder("history");
    Pipe started = make_pipe();  // the program's exec closes this pipe
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl("/bin/sleep", "sleep", "1000", nullptr);
      ::_exit(1);
    }
    started.write_end.reset();
    char none = 0;
    static_cast<void>(::read(started.read_end.get(), &none, 1));
    say(std::to_string(child) + " " + folder.path());
    sleep_forever();
  });
  const std::string word = process.word();
  process.kill();
  sweep();
  EXPECT_EQ(entries(), 0U) << word;
  EXPECT_EQ(::kill(std::stoi(word), SIGKILL), 0) << "it lives still";
}

/// Uses up all file descriptors of this process.
void use_all_descriptors() {
  const rlimit few{32, 32};
  ::setrlimit(RLIMIT_NOFILE, &few);
  while (::open("/dev/null", O_RDONLY) >= 0) {
  }
}

TEST_F(TemporaryFolderTest, OfAProcessThatHasNoDescriptorLeftIsRemovedByTheNext) {
  Process process([](const auto& /*say*/) {
    const TemporaryFolder folder("history");
    std::ofstream(folder.file("output")) << "x";
    use_all_descriptors();
  });
  EXPECT_EQ(process.wait(), 0);
  sweep();
  EXPECT_EQ(entries(), 0U);
}

TEST_F(TemporaryFolderTest, IsNotMadeWithoutADescriptorForItsLock) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "with the address sanitizer, the sanitizer of undefined behavior needs a descriptor";
#endif
  Process process([this](const auto& /*say*/) {
    use_all_descriptors();
    try {
      const TemporaryFolder folder("history", parent());
      ::_exit(1);
    } catch (const MachineError&) {
    }
  });
  EXPECT_EQ(process.wait(), 0);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(TemporaryFolderTest, WithoutALockIsSomebodyElses) {
  const std::string folder = dead_folder();
  fs::remove(folder + "/lock");
  sweep();
  EXPECT_TRUE(fs::exists(folder + "/source/.git/objects/1"));
  // Without its lock, the folder looks like a folder that a process is just creating.
  std::ofstream(folder + "/new").flush();
  sweep();
  EXPECT_TRUE(fs::exists(folder + "/source/.git/objects/1"));
}

TEST_F(TemporaryFolderTest, WhoseLockIsNoFileIsSomebodyElses) {
  const std::string folder = dead_folder();
  fs::rename(folder + "/lock", path("lock"));
  fs::create_symlink(path("lock"), folder + "/lock");
  sweep();
  EXPECT_TRUE(fs::exists(folder));
  fs::remove(folder + "/lock");
  ASSERT_EQ(::mkfifo((folder + "/lock").c_str(), 0600), 0);
  sweep();
  EXPECT_TRUE(fs::exists(folder));
}

TEST_F(TemporaryFolderTest, ThatOthersMayEnterIsSomebodyElses) {
  const std::string folder = dead_folder();
  for (const mode_t mode : {0755U, 0711U, 0770U, 01700U}) {
    ASSERT_EQ(::chmod(folder.c_str(), mode), 0);
    sweep();
    EXPECT_TRUE(fs::exists(folder)) << mode;
  }
  ASSERT_EQ(::chmod(folder.c_str(), 0700), 0);
  sweep();
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(TemporaryFolderTest, OfAnotherUserIsLeftAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "root can make a folder of another user";
  constexpr uid_t kNobody = 65534;
  const std::string folder = dead_folder();
  ASSERT_EQ(::chown(folder.c_str(), kNobody, kNobody), 0);
  sweep();
  EXPECT_TRUE(fs::exists(folder));
}

TEST_F(TemporaryFolderTest, OfAnotherNameIsLeftAlone) {
  for (const char* name : {"zerotax-history", "zerotax-abcdef", "zerotax-history-abcde", "zerotax-history-abcd-f",
                           "zerotax-history-abcdefg", "history-abcdef", "my-zerotax-history-abcdef"}) {
    const std::string folder = dead_folder(name);
    sweep();
    EXPECT_TRUE(fs::exists(folder)) << name;
    fs::remove_all(folder);
  }
  const std::string folder = dead_folder("zerotax-my-own-Ab0dEf");
  sweep();
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(TemporaryFolderTest, OfALinkIsNotFollowed) {
  const std::string folder = dead_folder();
  fs::rename(folder, path("there"));
  fs::create_directory_symlink(path("there"), parent() + "/zerotax-history-abcdef");
  sweep();
  EXPECT_TRUE(fs::exists(path("there/source/.git/objects/1")));
  EXPECT_TRUE(fs::is_symlink(parent() + "/zerotax-history-abcdef"));
}

TEST_F(TemporaryFolderTest, OfTheDeadIsRemovedWhenTheFirstOfAProcessIsMade) {
  const std::string first = dead_folder();
  Process process([&](const auto& say) {
    const TemporaryFolder folder("git");
    std::string word = fs::exists(first) ? "kept " : "removed ";
    const std::string second = dead_folder();
    const TemporaryFolder another("git");
    word += fs::exists(second) ? "kept" : "removed";
    say(word);
  });
  EXPECT_EQ(process.word(), "removed kept");
}

TEST_F(TemporaryFolderTest, IsNeverRemovedWhileItIsMadeOrUsed) {
  constexpr int kFolders = 100;
  const std::string end = path("end");
  const auto sweeps = [&](const auto& /*say*/) {
    while (!fs::exists(end)) sweep();
  };
  const auto makes = [](const auto& say) {
    int lost = 0;
    for (int i = 0; i < kFolders; ++i) {
      const TemporaryFolder folder("git");
      std::ofstream(folder.file("output")) << "x";
      ::sched_yield();
      lost += fs::exists(folder.file("lock")) && fs::exists(folder.file("output")) ? 0 : 1;
    }
    say(std::to_string(lost));
  };
  Process sweepers[]{Process(sweeps), Process(sweeps)};
  Process makers[]{Process(makes), Process(makes)};
  for (Process& maker : makers) EXPECT_EQ(maker.word(), "0");
  std::ofstream(end).flush();
  for (Process& sweeper : sweepers) EXPECT_EQ(sweeper.wait(), 0);
  for (Process& maker : makers) EXPECT_EQ(maker.wait(), 0);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(TemporaryFolderTest, ThatSomebodyStillWritesToIsRemovedByALaterSweep) {
  for (int i = 0; i < 12; ++i) {
    const std::string folder = dead_folder();
    Process writer([&](const auto& say) {
      say("here");
      for (unsigned number = 0; ::access(folder.c_str(), F_OK) == 0; ++number) {
        const UniqueFd file(::open((folder + "/" + std::to_string(number)).c_str(), O_WRONLY | O_CREAT, 0600));
      }
    });
    ASSERT_EQ(writer.word(), "here");
    for (int sweeps = 0; sweeps < 20 && fs::exists(folder); ++sweeps) sweep();
    writer.kill();
    sweep();
    ASSERT_EQ(entries(), 0U);
  }
}

TEST_F(TemporaryFolderTest, WhoseRemovalIsCutShortIsRemovedByTheNext) {
  constexpr int kFiles = 200;
  int cut = 0;
  for (int i = 0; i < 12 && cut < 2; ++i) {
    const std::string folder = dead_folder();
    for (int file = 0; file < kFiles; ++file) std::ofstream(folder + "/" + std::to_string(file)).flush();
    Process sweeper([&](const auto& /*say*/) { sweep(); });
    std::error_code gone;
    const auto left = [&] { return std::distance(fs::directory_iterator(folder, gone), fs::directory_iterator()); };
    while (left() > kFiles / 2) ::sched_yield();
    sweeper.kill();
    // The kill may have come just before the folder itself was removed.
    if (left() == 0) fs::remove(folder, gone);
    cut += fs::exists(folder) ? 1 : 0;
    sweep();
    ASSERT_EQ(entries(), 0U) << "after " << cut;
  }
}

TEST_F(TemporaryFolderTest, OfManyDeadIsRemovedByTwoAtOnce) {
  for (int i = 0; i < 10; ++i) static_cast<void>(dead_folder());
  const auto sweeps = [&](const auto& /*say*/) { sweep(); };
  Process sweepers[]{Process(sweeps), Process(sweeps), Process(sweeps)};
  for (Process& sweeper : sweepers) EXPECT_EQ(sweeper.wait(), 0);
  EXPECT_EQ(entries(), 0U);
}

}  // namespace
}  // namespace zerotax
