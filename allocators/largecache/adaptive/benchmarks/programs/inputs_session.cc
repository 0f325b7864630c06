#include <fmt/format.h>

#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/statistics.h"
#include "inputs.h"
#include "os/child.h"
#include "os/elf_file.h"
#include "run/interrupt.h"

using namespace zerotax;
namespace fs = std::filesystem;

namespace {

void put(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text << std::flush;
  if (!stream) throw MachineError("cannot write " + file.string(), "make room there, or set TMPDIR");
}

/// A vocabulary of words of two to ten letters. The earlier a word, the more often it is drawn.
class Words {
 public:
  explicit Words(std::uint64_t seed) : random_(seed) {
    for (std::string& word : words_) {
      word.resize(2 + random_.below(9));
      for (char& letter : word) letter = static_cast<char>('a' + random_.below(26));
    }
  }

  std::string line() {
    std::string text;
    for (std::size_t left = 4 + random_.below(10); left > 0; --left) {
      text += words_[random_.below(1 + random_.below(words_.size()))];
      text += left == 1 ? '\n' : ' ';
    }
    return text;
  }

  Random& random() { return random_; }

 private:
  Random random_;
  std::array<std::string, 4000> words_;
};

void git(const fs::path& folder, const std::vector<std::string>& words) {
  ChildCommand command;
  command.program = find_program("git");
  command.arguments = {"-C", folder.string(), "-c", "gc.auto=0", "-c", "user.name=nobody", "-c", "user.email=nobody"};
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  command.environment = {{"HOME", folder.string()},
                         {"GIT_CONFIG_NOSYSTEM", "1"},
                         {"GIT_CONFIG_GLOBAL", "/dev/null"},
                         {"GIT_AUTHOR_DATE", "2020-01-01T00:00:00Z"},
                         {"GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z"}};
  command.capture = true;
  const ChildResult result = run_child(command, stop_requested);
  if (stop_requested() || (result.end == ChildResult::End::kExited && result.code == 0)) return;
  throw MachineError(fmt::format("git {} failed: {}", words.at(0), result.errors),
                     "leave the program out of --programs");
}

}  // namespace

void make_text(const fs::path& file, std::size_t bytes) {
  Words words(1);
  std::string text;
  text.reserve(bytes + 200);
  while (text.size() < bytes) text += words.line();
  put(file, text);
}

void make_picture(const fs::path& file) {
  constexpr std::size_t kWidth = 3000;
  constexpr std::size_t kHeight = 2000;
  Random random(2);
  std::string text = fmt::format("P6\n{} {}\n255\n", kWidth, kHeight);
  for (std::size_t y = 0; y < kHeight; ++y) {
    for (std::size_t x = 0; x < kWidth; ++x) {
      const std::size_t noise = random.below(32);
      text += static_cast<char>((x * 200 / kWidth) + noise);
      text += static_cast<char>((y * 200 / kHeight) + noise);
      text += static_cast<char>(((x + y) * 200 / (kWidth + kHeight)) + noise);
    }
  }
  put(file, text);
}

void make_statements(const fs::path& file) {
  put(file, R"(CREATE TABLE item(id INTEGER PRIMARY KEY, kind INTEGER, text TEXT);
WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < 150000)
  INSERT INTO item SELECT i, i * 7919 % 50021, 'the text of number ' || i * 31 % 1009 FROM number;
CREATE INDEX item_kind ON item(kind);
CREATE TABLE kind AS SELECT kind, count(*) AS items, max(text) AS last FROM item GROUP BY kind;
CREATE INDEX kind_kind ON kind(kind);
SELECT sum(item.id), sum(kind.items), count(*) FROM item JOIN kind ON item.kind = kind.kind WHERE kind.items > 1;
SELECT text, count(*) FROM item GROUP BY text ORDER BY 2 DESC, 1 LIMIT 5;
)");
}

void make_source(const fs::path& file) {
  put(file, R"(#include <map>
#include <regex>

int main(int argc, char** argv) {
  std::map<std::string, std::vector<std::string>> values;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto at = word.find('=');
    if (at == std::string::npos) throw std::regex_error(std::regex_constants::error_collate);
    values[word.substr(0, at)].push_back(word.substr(at + 1));
  }
  return static_cast<int>(values.size());
}
)");
}

void make_commands(const fs::path& file) {
  constexpr int kKeys = 90'000;
  std::string text;
  for (int i = 1; i <= kKeys; ++i) {
    text += fmt::format("SET key:{} {:0>{}}\r\n", i, i, 6 + i % 400);
    if (i % 3 == 0) text += fmt::format("DEL key:{}\r\n", i / 2);
  }
  put(file, text);
}

void make_repository(const fs::path& folder) {
  constexpr std::size_t kFiles = 200;
  constexpr std::size_t kLines = 300;
  constexpr int kCommits = 6;
  Words words(3);
  std::vector<std::vector<std::string>> files(kFiles);
  git(folder, {"init", "--quiet", "--initial-branch=main"});
  for (int commit = 0; commit < kCommits && !stop_requested(); ++commit) {
    for (std::size_t i = 0; i < kFiles; ++i) {
      if (commit == 0) {
        for (std::size_t line = 0; line < kLines; ++line) files[i].push_back(words.line());
      } else {
        files[i][words.random().below(kLines)] = words.line();
      }
      put(folder / fmt::format("file{}", i), fmt::format("{}", fmt::join(files[i], "")));
    }
    git(folder, {"add", "."});
    git(folder, {"commit", "--quiet", "--message", fmt::format("change {}", commit)});
  }
}
