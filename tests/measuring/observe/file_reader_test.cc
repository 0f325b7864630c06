// In this test, this program replaces the process that reads files. The program does what the file says: end, loop,
// take memory, lie.
#include "observe/file_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "observe/symbols.h"
#include "os/page.h"
#include "temporary_folder.h"

namespace zerotax {
namespace {

/// The path of this program, which is started in place of read-files. The program gets its role from its name.
constexpr const char* kSelf = "/proc/self/exe";

void misbehave(const std::string& contents) {
  if (contents == "crash") {
    ::signal(SIGSEGV, SIG_DFL);  // needed because a sanitizer's handler would end the process
    ::raise(SIGSEGV);
  }
  if (contents == "stop") ::raise(SIGSTOP);
  if (contents == "memory") ::_exit(kReadNoMemory);
  while (contents == "loop") {
  }
  while (contents == "leak") {
    // One call populates all pages, because page by page this may take longer than the time limit.
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
    static_cast<void>(::mmap(nullptr, 1 << 24, PROT_READ | PROT_WRITE, kFlags, -1, 0));
  }
}

[[noreturn]] void serve() {
  auto* current = static_cast<std::atomic<std::uint32_t>*>(
      ::mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, kReadPage, 0));
  MessageSocket socket{UniqueFd(kReadSocket)};
  const MessageWriter done = MessageWriter().number(static_cast<std::uint64_t>(ReadAnswer::kDone));
  socket.send(done.bytes());
  std::string contents;
  UniqueFd file;
  while (const auto request = socket.receive(&file)) {
    MessageReader in(*request);
    in.number();
    in.number();
    const std::uint64_t number = in.number();
    if (number != 0) current->store(static_cast<std::uint32_t>(number));
    char text[64]{};
    if (file && ::pread(file.get(), &text[0], sizeof text - 1, 0) > 0) contents = text;
    file.reset();
    misbehave(contents);
    socket.send(contents == "lie" ? std::string(100, '\xff') : std::string(MessageWriter(done).text(contents).bytes()));
  }
  ::_exit(0);
}

[[gnu::constructor]] void serve_if_started_as_reader() {
  if (std::strcmp(program_invocation_name, "read-files") == 0) serve();
}

class FileReaderTest : public WithTemporaryFolder {
 protected:
  std::shared_ptr<ForeignFile> file(const std::string& contents) {
    const std::string name = path(contents);
    std::ofstream(name) << contents;
    return reader_.file(UniqueFd(::open(name.c_str(), O_RDONLY | O_CLOEXEC)), {0, name, {}});
  }
  /// The answer of the process; empty if the process gave no answer.
  std::string answer(const std::shared_ptr<ForeignFile>& file) {
    const auto bytes = ReadClient::ask_about(reader_, *file, ReadRequest::kHeaders, MessageWriter());
    MessageReader in(bytes);
    return std::string(in.text());
  }

  FileReader reader_{kSelf};
};

TEST_F(FileReaderTest, AFileThatEndsTheProcessIsNotReadAgainAndOthersAre) {
  const auto good = file("good");
  const auto bad = file("crash");
  EXPECT_EQ(answer(good), "good");
  EXPECT_EQ(answer(bad), "");
  EXPECT_NE(reader_.why_unread(*bad).find("SIGSEGV"), std::string::npos) << reader_.why_unread(*bad);
  EXPECT_EQ(answer(good), "good");
  EXPECT_EQ(reader_.why_unread(*good), "");
  const std::vector<std::string> problems = reader_.problems();
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems.front().find("/crash"), std::string::npos) << problems.front();
  // The reader does not start another process for the bad file.
  const pid_t pid = reader_.pid();
  EXPECT_EQ(answer(bad), "");
  EXPECT_EQ(reader_.pid(), pid);
}

TEST_F(FileReaderTest, AnEndlessReadIsEndedAndTheNextOneSooner) {
  const auto first = file("loop");
  EXPECT_EQ(answer(first), "");
  EXPECT_NE(reader_.why_unread(*first).find("takes more than 4 s"), std::string::npos) << reader_.why_unread(*first);
  EXPECT_EQ(answer(file("good")), "good");
}

TEST_F(FileReaderTest, MemoryIsLimited) {
  const auto exhausted = file("memory");
  EXPECT_EQ(answer(exhausted), "");
  EXPECT_NE(reader_.why_unread(*exhausted).find("MiB"), std::string::npos) << reader_.why_unread(*exhausted);
  const auto leak = file("leak");
  EXPECT_EQ(answer(leak), "");
  EXPECT_NE(reader_.why_unread(*leak).find("MiB"), std::string::npos) << reader_.why_unread(*leak);
  EXPECT_EQ(answer(file("good")), "good");
}

TEST_F(FileReaderTest, AStoppedProcessIsReplaced) {
  const auto good = file("good");
  EXPECT_EQ(answer(good), "good");
  for (const int signal : {SIGSTOP, SIGKILL, SIGSEGV}) {
    const pid_t pid = reader_.pid();
    ::kill(pid, signal);
    EXPECT_EQ(answer(good), "good") << signal;
    EXPECT_NE(reader_.pid(), pid);
  }
  EXPECT_EQ(reader_.why_unread(*good), "");
  EXPECT_EQ(answer(file("stop")), "");
}

TEST_F(FileReaderTest, ASessionIsSetUpAgainInANewProcess) {
  ReadClient client(reader_);
  ASSERT_TRUE(client.add(ReadRequest::kMap, file("first"), MessageWriter()));
  const auto crash = file("crash");
  ReadClient::ask_about(reader_, *crash, ReadRequest::kHeaders, MessageWriter());
  const auto bytes = client.ask(ReadRequest::kName, MessageWriter().number(1));
  ASSERT_TRUE(bytes);
  EXPECT_EQ(MessageReader(bytes).text(), "first");
}

TEST_F(FileReaderTest, AnAnswerThatLiesNamesNothing) {
  EXPECT_EQ(answer(file("lie")), "");
  EXPECT_EQ(answer(file("good")), "good");
}

TEST(FileReader, WithoutItsProgramNothingIsRead) {
  FileReader reader("/no/such/program");
  ReadClient client(reader);
  EXPECT_FALSE(client.ask(ReadRequest::kName, MessageWriter().number(1)));
  const std::vector<std::string> problems = reader.problems();
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems.front().find("No such file"), std::string::npos) << problems.front();
}

TEST(FileReader, TheRealOneNamesAfterItWasKilled) {
  // A small file: under a sanitizer, reading this program takes longer than a request may take.
  const std::string file = "/bin/true";
  Symbols().frame(file, {}, 1);
  const pid_t pid = FileReader::shared().pid();
  ASSERT_GT(pid, 0);
  ::kill(pid, SIGSEGV);
  const NamedFrame frame = Symbols().frame(file, {}, 1);
  EXPECT_EQ(frame.function.why(), "no symbol there");
  EXPECT_NE(FileReader::shared().pid(), pid);
}

}  // namespace
}  // namespace zerotax
