// Reads damaged and hostile program files and perf maps, from random seeds, for some seconds. The server of read-files
// runs in processes of this program, a few hundred files each. If a process dies within elfutils, the death is only
// counted, because in zerotax it would only cost the names in that file. Any other death is a failure. Usage:
// read_files_random [--seconds N] [--seed N] [--save FOLDER] LIBRARY...
#include <elf.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "observe/file_reader_messages.h"
#include "observe/perf_map.h"
#include "observe/process/server.h"
#include "os/processor.h"

namespace {

using namespace zerotax;
using Random = std::mt19937_64;

constexpr unsigned kFilesAProcess = 200;
constexpr unsigned kSecondsAFile = 10;
constexpr std::uint64_t kWhere = 0x7f0000000000;

std::uint64_t some_number(Random& random, std::uint64_t size) {
  switch (random() % 6) {
    case 0:
      return random();
    case 1:
      return (std::uint64_t{1} << random() % 64) - random() % 2;
    case 2:
      return ~std::uint64_t{0} - random() % 64;
    case 3:
      return size - random() % 64;
    default:
      return random() % (size + 1);
  }
}

template <typename Header>
Header header_at(const std::string& file, std::uint64_t offset) {
  Header header{};
  if (offset <= file.size() && file.size() - offset >= sizeof header)
    std::memcpy(&header, file.data() + offset, sizeof header);
  return header;
}

/// Returns a part of the file that is worth damaging: a header, or a section's contents.
std::pair<std::uint64_t, std::uint64_t> some_part(const std::string& file, Random& random) {
  const auto head = header_at<Elf64_Ehdr>(file, 0);
  switch (random() % 8) {
    case 0:
      return {0, sizeof head};
    case 1:
      return {head.e_phoff, head.e_phnum * sizeof(Elf64_Phdr)};
    case 2:
    case 3:
      return {head.e_shoff, head.e_shnum * sizeof(Elf64_Shdr)};
    default:
      break;
  }
  const std::uint64_t number = head.e_shnum != 0 ? random() % head.e_shnum : 0;
  const auto section = header_at<Elf64_Shdr>(file, head.e_shoff + number * sizeof(Elf64_Shdr));
  return {section.sh_offset, section.sh_type == SHT_NOBITS ? 0 : section.sh_size};
}

std::string damaged(std::string file, Random& random) {
  for (std::uint64_t left = 1 + random() % 12; left > 0; --left) {
    auto [begin, bytes] = some_part(file, random);
    if (begin >= file.size() || bytes == 0) continue;
    bytes = std::min<std::uint64_t>(bytes, file.size() - begin);
    const std::uint64_t at = begin + random() % bytes;
    if (random() % 3 == 0) {
      file[at] = static_cast<char>(random());
      continue;
    }
    // Most fields are aligned to their size.
    const std::size_t width = std::size_t{1} << random() % 4;
    const std::uint64_t value = some_number(random, file.size());
    const std::uint64_t aligned = at / width * width;
    if (aligned + width <= file.size()) std::memcpy(file.data() + aligned, &value, width);
  }
  if (random() % 16 == 0) file.resize(random() % file.size());
  return file;
}

UniqueFd in_memory(const std::string& contents) {
  UniqueFd file(::memfd_create("fuzzed", MFD_CLOEXEC));
  for (std::size_t at = 0; at < contents.size();) {
    const ssize_t written = ::pwrite(file.get(), contents.data() + at, contents.size() - at, static_cast<off_t>(at));
    if (written <= 0) std::abort();
    at += static_cast<std::size_t>(written);
  }
  return file;
}

/// All requests that FileReader can make about a file.
class Questions {
 public:
  Questions(const std::string& file, Random& random) : file_(file), random_(random) {}

  void ask_all() {
    ask(ReadRequest::kHeaders, {}, true);
    ask(ReadRequest::kFunctions, MessageWriter().number(2).text("mem").text("bzero"), true);
    const std::uint64_t begin = kWhere + 0x1000;
    ask(ReadRequest::kMap, MessageWriter().text("seed").text("/seed").number(begin).number(0x1000), true);
    ask(ReadRequest::kOpen, MessageWriter().text("/seed"), true, 2);
    for (int i = 0; i < 24; ++i) {
      const std::uint64_t address = some_address();
      ask(ReadRequest::kName, MessageWriter().number(address));
      ask(ReadRequest::kStart, MessageWriter().number(address));
      ask(ReadRequest::kRule, MessageWriter().number(address));
      ask(ReadRequest::kCalled, MessageWriter().number(address).number(1).number(begin));
      ask(ReadRequest::kPlace, MessageWriter().number(address - kWhere), false, 2);
      ask(ReadRequest::kUnwind, stack(address));
    }
    ask(ReadRequest::kEnd, {});
    ask(ReadRequest::kEnd, {}, false, 2);
    const std::string nonsense = damaged_request();
    server_.answer(nonsense, {});
  }

 private:
  std::uint64_t some_address() { return random_() % 8 == 0 ? random_() : kWhere + 0x1000 + random_() % 0x400; }

  MessageWriter stack(std::uint64_t address) {
    MessageWriter request;
    std::string words(random_() % 64 * 8 + random_() % 8, '\0');
    for (std::size_t at = 0; at + 8 <= words.size(); at += 8) {
      const std::uint64_t word = some_address();
      std::memcpy(words.data() + at, &word, sizeof word);
    }
    for (std::size_t i = 0; i < kRegisters; ++i) {
      std::uint64_t value = random_() % 2 == 0 ? some_number(random_, 4096) : 0x7ffd00000000 + random_() % 512;
      if (i == static_cast<std::size_t>(kProgramCounter)) value = address;
      request.number(value);
    }
    return request.number(random_()).number(random_() % 2).text(words);
  }

  std::string damaged_request() {
    std::string bytes(stack(kWhere).bytes());
    const std::uint64_t what = random_() % 14;
    std::memcpy(bytes.data(), &what, sizeof what);
    bytes.resize(random_() % bytes.size());
    return bytes;
  }

  void ask(ReadRequest what, const MessageWriter& rest, bool with_file = false, std::uint64_t session = 1) {
    MessageWriter request;
    request.number(static_cast<std::uint64_t>(what)).number(session).number(with_file ? 1 : 0).all(rest);
    const MessageWriter answer = server_.answer(request.bytes(), with_file ? in_memory(file_) : UniqueFd());
    if (answer.bytes().size() > MessageSocket::kMostBytes) std::abort();
  }

  const std::string& file_;
  Random& random_;
  std::atomic<std::uint32_t> current_{0};
  ReadServer server_{current_};
};

void read_a_perf_map(Random& random) {
  static constexpr const char* kPieces[] = {"0x7f00",
                                            "7f0010 ",
                                            " ",
                                            "\n",
                                            "10 ",
                                            "ffffffffffffffff ",
                                            "py::f:/a.py",
                                            "JS:*f /b.js:1:2",
                                            "LazyCompile:~g file:",
                                            "-",
                                            ":99999999999",
                                            "\xff\xfe",
                                            "\0x",
                                            "\t",
                                            "py::",
                                            "0 0 \n"};
  PerfMapNames names;
  for (std::uint64_t parts = random() % 20; parts > 0; --parts) {
    std::string text;
    for (std::uint64_t left = random() % 60; left > 0; --left) {
      text += kPieces[random() % std::size(kPieces)];
      if (random() % 16 == 0) text += static_cast<char>(random());
      if (random() % 512 == 0) text.append(random() % 20'000, 'x');
    }
    names.add(text);
    for (int i = 0; i < 8; ++i) {
      const PerfMapNames::Entry* entry = names.find(random() >> random() % 64);
      if (entry != nullptr && entry->end <= entry->begin) std::abort();
    }
  }
  if (names.damage().size() > 200) std::abort();
}

/// The seed of the file that a process is reading, and the number of files that it has begun. This memory is shared
/// with the parent process.
struct Progress {
  std::uint64_t seed;
  std::uint64_t files;
};

void read_files(const std::vector<std::string>& libraries, std::uint64_t seed, Progress& progress) {
  for (unsigned i = 0; i < kFilesAProcess; ++i) {
    progress.seed = seed + i;
    ++progress.files;
    Random random(seed + i);
    const std::string file = damaged(libraries[random() % libraries.size()], random);
    ::alarm(kSecondsAFile);
    Questions(file, random).ask_all();
    for (int maps = 0; maps < 4; ++maps) read_a_perf_map(random);
    ::alarm(0);
  }
}

/// Whether a process died within elfutils, according to a sanitizer's report. Without a sanitizer, the answer is
/// unknown.
bool is_of_library(const std::string& report) {
  const std::size_t first = report.find("#0 ");
  const std::size_t tenth = report.find("#6 ", first);
  const std::string top = first == std::string::npos ? "" : report.substr(first, tenth - first);
  return first == std::string::npos ? report.find("runtime error") == std::string::npos
                                    : top.find("libdw") != std::string::npos || top.find("libelf") != std::string::npos;
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Options {
  std::uint64_t seconds = 10;
  std::uint64_t seed = std::random_device{}();
  std::string save;
  std::vector<std::string> libraries;
};

/// Reads the command line. Ends the process if there is no library to damage.
Options options_of(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--seconds" && i + 1 < count) {
      options.seconds = std::strtoull(words[++i], nullptr, 10);
    } else if (word == "--seed" && i + 1 < count) {
      options.seed = std::strtoull(words[++i], nullptr, 10);
    } else if (word == "--save" && i + 1 < count) {
      options.save = words[++i];
    } else {
      options.libraries.push_back(contents_of(word));
      if (options.libraries.back().empty()) std::fprintf(stderr, "%s cannot be read\n", word.c_str()), std::exit(2);
    }
  }
  if (options.libraries.empty()) std::fprintf(stderr, "no library to damage is given\n"), std::exit(2);
  return options;
}

struct Ending {
  int status = 0;
  std::string report;  ///< standard error
};

/// Reads files from `seed` on in a new process, until its end.
Ending read_in_a_process(const std::vector<std::string>& libraries, std::uint64_t seed, Progress& progress) {
  std::FILE* errors = std::tmpfile();
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::fileno(errors), STDERR_FILENO);
    read_files(libraries, seed, progress);
    ::_exit(0);
  }
  Ending ending;
  ::waitpid(child, &ending.status, 0);
  std::rewind(errors);
  ending.report.resize(1 << 16);
  ending.report.resize(std::fread(ending.report.data(), 1, ending.report.size(), errors));
  std::fclose(errors);
  return ending;
}

void save_file(const Options& options, std::uint64_t seed) {
  if (options.save.empty()) return;
  Random random(seed);
  std::ofstream(options.save + "/" + std::to_string(seed), std::ios::binary)
      << damaged(options.libraries[random() % options.libraries.size()], random);
}

}  // namespace

int main(int count, char** words) {
  const Options options = options_of(count, words);
  auto* progress = static_cast<Progress*>(
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  prepare_unwinding();
  std::uint64_t ended = 0;
  std::uint64_t slow = 0;
  std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options.seconds);
  for (std::uint64_t next = options.seed; std::chrono::steady_clock::now() < end;) {
    const Ending ending = read_in_a_process(options.libraries, next, *progress);
    const bool whole = WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 0 && ending.report.empty();
    next = whole ? next + kFilesAProcess : progress->seed + 1;
    if (whole) continue;
    const bool late = WIFSIGNALED(ending.status) && WTERMSIG(ending.status) == SIGALRM;
    late ? ++slow : ++ended;
    std::printf("%s: seed %llu, status %x\n", late ? "slow" : "ended", static_cast<unsigned long long>(progress->seed),
                static_cast<unsigned>(ending.status));
    save_file(options, progress->seed);
    if (!late && !is_of_library(ending.report)) {
      std::printf("%s\nnot within elfutils\n", ending.report.c_str());
      return 1;
    }
    std::fflush(stdout);
  }
  std::printf("%llu files: %llu ended their process within elfutils, %llu took more than %u s\n",
              static_cast<unsigned long long>(progress->files), static_cast<unsigned long long>(ended),
              static_cast<unsigned long long>(slow), kSecondsAFile);
  return 0;
}
