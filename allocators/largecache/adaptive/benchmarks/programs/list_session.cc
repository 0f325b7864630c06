#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "inputs.h"
#include "os/elf_file.h"
#include "programs.h"
#include "run/allocators.h"

using namespace zerotax;
namespace fs = std::filesystem;

namespace {

// Uses Debian's python3, because python3 in PATH may be a private build without numpy.
const Need kPython = {"/usr/bin/python3", "python3"};

constexpr const char* kNumpy = R"(import numpy
def once():
    a = numpy.zeros((512, 1024))
    a[0, 0] = 1
    b = a + 1
    return b[0, 0] + b[1, 1]
print(sum(once() for i in range(400)))
)";

constexpr const char* kLists = R"(total = 0
for i in range(60):
    strings = [str(i * 100000 + j) for j in range(100000)]
    total += len(strings[-1])
print(total)
)";

constexpr const char* kJson = R"(import json
numbers = [i * 7919 for i in range(200000)]
for i in range(30):
    back = json.loads(json.dumps(numbers))
print(sum(back))
)";

constexpr const char* kNode = R"(let sum = 0;
for (let i = 0; i < 200; ++i) sum += Buffer.alloc(4 << 20).length;
console.log(sum);
)";

constexpr const char* kPerl = R"(for my $round (1 .. 4) {
  my %values;
  $values{"key$_"} = "value" x ($_ % 20) for 1 .. 50000;
  my $text = "";
  $text .= $values{$_} for sort keys %values;
  my @parts = split /v/, $text;
  print length($text), " ", scalar(@parts), "\n";
}
)";

// Waits up to ten seconds for the server to listen, then sends the commands. SHUTDOWN has no answer.
constexpr const char* kRedisClient = R"(tries=0
until redis-cli -s server.socket ping >/dev/null 2>&1 || [ $tries = 500 ]; do tries=$((tries + 1)); sleep 0.02; done
redis-cli -s server.socket --pipe <commands
redis-cli -s server.socket dbsize
redis-cli -s server.socket get key:50000
redis-cli -s server.socket shutdown nosave)";

std::function<void(const fs::path&)> text_of(std::size_t bytes) {
  return [bytes](const fs::path& folder) { make_text(folder / "text", bytes); };
}

template <typename Make>
std::function<void(const fs::path&)> in_file(const char* name, Make make) {
  return [name, make](const fs::path& folder) { make(folder / name); };
}

Program our_own(const char* name, const char* does, const char* file, std::vector<std::string> words = {}) {
  return {.name = name,
          .does = does,
          .needs = {{probe_folder() + "/../benchmarks/programs/" + file, ""}},
          .words = std::move(words)};
}

/// Interpreters, compilers and servers, which allocate many objects.
std::vector<Program> programs_with_objects() {
  return {{.name = "numpy",
           .does = "400 x zeros((512, 1024)) + 1",
           .needs = {kPython, {"/usr/lib/python3/dist-packages/numpy/__init__.py", "python3-numpy"}},
           .words = {"-c", kNumpy}},
          {.name = "lists", .does = "60 x a list of 100,000 new strings", .needs = {kPython}, .words = {"-c", kLists}},
          {.name = "json",
           .does = "200,000 numbers dumped and loaded, 30 times",
           .needs = {kPython},
           .words = {"-c", kJson}},
          {.name = "git",
           .does = "pack-objects of 6 commits of 200 files",
           .needs = {{"git", "git"}},
           .words = {"pack-objects", "--no-reuse-object", "--threads=1", "--all", "--stdout", "-q"},
           .prepare = make_repository},
          {.name = "node", .does = "200 x Buffer.alloc(4 MiB)", .needs = {{"node", "nodejs"}}, .words = {"-e", kNode}},
          {.name = "perl",
           .does = "hashes and strings, built and dropped",
           .needs = {{"perl", "perl"}},
           .words = {"-e", kPerl}},
          {.name = "g++",
           .does = "-O1 of a file with map, regex, string and vector",
           .needs = {{"g++", "g++"}},
           .words = {"-O1", "-S", "-o", "-", "source.cc"},
           .prepare = in_file("source.cc", make_source)},
          {.name = "clang",
           .does = "-O1 of the same file",
           .needs = {{"clang-14", "clang-14"}},
           .words = {"-O1", "-S", "-o", "-", "source.cc"},
           .prepare = in_file("source.cc", make_source)},
          {.name = "redis",
           .does = "a server that is sent 120,000 commands",
           .needs = {{"redis-server", "redis-server"}, {"redis-cli", "redis-tools"}},
           .words = {"--port", "0", "--unixsocket", "server.socket", "--save", "", "--appendonly", "no"},
           .prepare = in_file("commands", make_commands),
           .client = kRedisClient,
           .own_allocator = true},
          {.name = "sqlite3",
           .does = "inserts, an index and joins in memory",
           .needs = {{"sqlite3", "sqlite3"}},
           .words = {":memory:"},
           .prepare = in_file("statements", make_statements),
           .input = "statements",
           .quick = true}};
}

/// Tools that read a large file.
std::vector<Program> programs_with_files() {
  return {{.name = "xz",
           .does = "-9 of 1.5 MB of text",
           .needs = {{"xz", "xz-utils"}},
           .words = {"-9", "-T1", "-c", "text"},
           .prepare = text_of(1'500'000)},
          {.name = "sort",
           .does = "20 MB of text, two threads",
           .needs = {{"sort", "coreutils"}},
           .words = {"-S", "64M", "--parallel=2", "text"},
           .prepare = text_of(20'000'000)},
          {.name = "openssl",
           .does = "CMS of 60 MB with its digest",
           .needs = {{"openssl", "openssl"}},
           .words = {"cms", "-digest_create", "-binary", "-outform", "DER", "-in", "text"},
           .prepare = text_of(60'000'000)},
          {.name = "grep",
           .does = "-c of a pattern in 60 MB of text",
           .needs = {{"grep", "grep"}},
           .words = {"-c", "-E", "a[bc]*d e|x[a-f]+z$", "text"},
           .prepare = text_of(60'000'000)},
          {.name = "imagemagick",
           .does = "blur and resize of 3000 x 2000 pixels",
           .needs = {{"convert-im6.q16", "imagemagick"}},
           .words = {"-limit", "thread", "1", "picture.ppm", "-blur", "0x0.5", "-resize", "50%", "ppm:-"},
           .prepare = in_file("picture.ppm", make_picture)}};
}

}  // namespace

std::vector<Program> all_programs() {
  std::vector<Program> programs = programs_with_objects();
  std::ranges::move(programs_with_files(), std::back_inserter(programs));
  programs.push_back(our_own("threads", "four threads: vectors, strings, callocs, blocks handed on", "threads"));
  programs.push_back(our_own("unread",
                             "the same threads, which write to what calloc gave them and do not read it first",
                             "threads", {"unread"}));
  programs.push_back(our_own("blocks", "300 x (80 blocks of 100 KiB filled, then freed)", "blocks"));
  programs.back().quick = true;
  programs.push_back(our_own("growing", "20 buffers grown by an eighth to 64 MiB", "growing"));
  return programs;
}

std::vector<Program> chosen_programs(const std::vector<std::string>& names) {
  std::vector<Program> programs = all_programs();
  std::vector<std::string> known;
  known.reserve(programs.size());
  for (const Program& program : programs) known.push_back(program.name);
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end()) {
      throw UsageError(fmt::format("unknown program '{}'", name), fmt::format("choose: {}", fmt::join(known, ", ")));
    }
  }
  if (!names.empty()) {
    std::erase_if(programs,
                  [&](const Program& program) { return std::ranges::find(names, program.name) == names.end(); });
  }
  return programs;
}

std::string installed(const Program& program, std::string& why) {
  std::string first;
  for (const Need& need : program.needs) {
    const std::string path =
        need.what.starts_with('/') ? (fs::exists(need.what) ? need.what : "") : find_program(need.what);
    if (path.empty()) {
      why = fmt::format("{} is not installed: ", need.what);
      why += need.package.empty() ? "build the target benchmark-programs" : "apt-get install " + need.package;
      return "";
    }
    if (first.empty()) first = path;
  }
  return first;
}
