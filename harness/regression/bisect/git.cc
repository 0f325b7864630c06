#include "bisect/git.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "base/error.h"
#include "files/output_file.h"
#include "os/input_file.h"
#include "os/regular_file.h"
#include "run/interrupt.h"
#include "run/metered_run.h"

namespace zerotax::bisect {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGiveRepository = "give a folder that git knows, as in --repo ~/src/mimalloc";
/// Limit on the size of files. The references of a million branches take 80 MiB.
constexpr std::uintmax_t kMostBytes = std::uintmax_t{256} << 20;
/// Maximum depth below the git folder. The deepest path is objects/info/commit-graphs/FILE.
constexpr int kLevels = 3;
/// Git follows alternates of alternates to the same depth (link_alt_odb_entries in its object-file.c).
constexpr int kMostAlternates = 5;

/// Accepts only regular files and folders: opening a pipe would wait, and opening a device may have an effect.
void check_kind(const fs::path& path) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (!fs::exists(status) || fs::is_regular_file(status) || fs::is_directory(status)) return;
  throw UsageError(fmt::format("{} is neither a file nor a folder", path.string()),
                   "remove this special file, or give a clone of the repository");
}

/// Returns the text of a file, or nothing if the file does not exist.
std::optional<std::string> text_at(const fs::path& path) {
  check_kind(path);
  std::error_code failure;
  if (!fs::is_regular_file(path, failure)) return std::nullopt;
  if (fs::file_size(path, failure) > kMostBytes) {
    throw UsageError(fmt::format("{} is larger than 256 MiB", path.string()), "give a clone of the repository");
  }
  try {
    return read_input_file(path.string());
  } catch (const UsageError&) {
    // Git itself may delete the file of a reference at any time, once the reference is in packed-refs.
    if (!is_there(path.string())) return std::nullopt;
    throw;
  }
}

/// Returns the first line of a text.
std::string line_in(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Returns the folder that all work trees of a repository share.
fs::path common_folder(const fs::path& own) {
  const auto common = text_at(own / "commondir");
  return common ? own / line_in(*common) : own;
}

bool is_git_folder(const fs::path& own) {
  std::error_code failure;
  if (!is_there((own / "HEAD").string())) return false;
  const fs::path common = common_folder(own);
  return fs::is_directory(common / "objects", failure) && fs::is_directory(common / "refs", failure);
}

/// Returns the git folder that belongs to a folder, or an empty path.
fs::path git_folder_at(const fs::path& folder) {
  constexpr std::string_view kMark = "gitdir: ";
  const fs::path inside = folder / ".git";
  if (const auto text = text_at(inside)) {
    fs::path own = text->starts_with(kMark) ? folder / line_in(*text).substr(kMark.size()) : fs::path();
    if (!own.empty() && is_git_folder(own)) return own;
    throw UsageError(fmt::format("{} does not point to a git repository", inside.string()), kGiveRepository);
  }
  for (const fs::path& own : {inside, folder}) {
    if (is_git_folder(own)) return own;
  }
  return {};
}

fs::path git_folder_of(const std::string& folder) {
  std::error_code failure;
  const fs::path start = fs::canonical(folder, failure);
  if (failure || !fs::is_directory(start, failure)) {
    throw UsageError(fmt::format("--repo '{}' is not a folder", folder), kGiveRepository);
  }
  for (fs::path at = start;; at = at.parent_path()) {
    fs::path found = git_folder_at(at);
    // Refuses the repository. Otherwise a stranger's repository in /tmp would decide what is built.
    if (!found.empty() && at != start && !is_of_trusted_user(found.string())) {
      throw UsageError(fmt::format("--repo '{}' is below {}, a repository of another user", folder, at.string()),
                       fmt::format("to build that user's code, give --repo {}", at.string()));
    }
    if (!found.empty()) return found;
    if (at == at.root_path()) {
      throw UsageError(fmt::format("--repo '{}' is not in a git repository", folder), kGiveRepository);
    }
  }
}

/// Reads the files that contain references.
class References {
 public:
  explicit References(std::map<std::string, std::string>& files) : files_(files) {}

  void read(const fs::path& root, const std::string& name) {
    const auto text = text_at(root / name);
    if (!text) return;
    bytes_ += text->size();
    if (bytes_ > kMostBytes) {
      throw UsageError(fmt::format("the references of {} take more than 256 MiB", root.string()),
                       "give a clone of the repository");
    }
    files_.emplace(name, *text);
  }

  void read_below(const fs::path& root, const std::string& name) {
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(root / name, failure)) {
      const std::string inner = name + "/" + entry.path().filename().string();
      if (entry.is_directory(failure) && !entry.is_symlink(failure)) {
        read_below(root, inner);
      } else if (!inner.ends_with(".lock")) {
        read(root, inner);
      }
    }
  }

 private:
  std::map<std::string, std::string>& files_;
  std::uintmax_t bytes_ = 0;
};

/// Returns the text of HEAD as a file, because git before 1.5 made HEAD a link.
std::string head_of(const fs::path& own) {
  std::error_code failure;
  const fs::path link = fs::read_symlink(own / "HEAD", failure);
  if (!failure && link.string().starts_with("refs/")) return fmt::format("ref: {}\n", link.string());
  return text_at(own / "HEAD").value_or("");
}

/// Returns the number of hexadecimal digits at a position of a text.
std::size_t digits_at(const std::string& text, std::size_t at) {
  return std::min(text.find_first_not_of("0123456789abcdef", at), text.size()) - at;
}

constexpr std::size_t kSha1Digits = 40;
constexpr std::size_t kSha256Digits = 64;

/// Returns whether the names of objects have 64 digits. Each reference is a line that begins with the name of an
/// object.
bool has_long_names(const std::map<std::string, std::string>& files) {
  for (const auto& [name, text] : files) {
    for (std::size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size()) + 1) {
      const std::size_t digits = digits_at(text, at);
      if (digits == kSha1Digits || digits == kSha256Digits) return digits == kSha256Digits;
    }
  }
  return false;
}

/// Checks all files that git may open below a folder. Returns whether a file there marks a partial clone.
bool check_objects(const fs::path& folder, int levels) {
  bool partial = false;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    check_kind(entry.path());
    partial |= entry.path().extension() == ".promisor";
    if (levels > 1 && entry.is_directory(failure)) partial |= check_objects(entry.path(), levels - 1);
  }
  return partial;
}

/// Adds a folder of objects, and the folders that its objects/info/alternates names.
void add_objects(const fs::path& folder, int depth, std::set<fs::path>& seen, ForeignRepository& found) {
  std::error_code failure;
  const fs::path objects = fs::canonical(folder, failure);
  if (failure || depth > kMostAlternates || !seen.insert(objects).second) return;
  found.partial |= check_objects(objects, kLevels);
  found.objects.push_back(objects.string());
  std::istringstream lines(text_at(objects / "info" / "alternates").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with('"')) {
      throw UsageError(fmt::format("{} contains a path in quotes", (objects / "info" / "alternates").string()),
                       "give a clone of the repository");
    }
    add_objects(objects / line, depth + 1, seen, found);
  }
}

/// Exit status of env(1) if it cannot find the program.
constexpr int kNotFound = 127;

/// Returns a line of objects/info/alternates. The path is in quotes, where any character is allowed
/// (gitrepository-layout(5)).
std::string alternate_of(const std::string& path) {
  std::string line = "\"";
  for (const char each : path) {
    if (each == '"' || each == '\\') line += '\\';
    line += each == '\n' ? "\\n" : std::string(1, each);
  }
  return line + "\"\n";
}

/// Returns the words of a git command line that precede the subcommand.
std::vector<std::string> git_words(const std::string& home, const std::string& repository) {
  std::vector<std::string> words{"/usr/bin/env"};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    if (text.starts_with("GIT_")) words.insert(words.end(), {"-u", std::string(text.substr(0, text.find('=')))});
  }
  // Git before 2.32 reads settings in HOME, even if GIT_CONFIG_GLOBAL is set.
  for (const char* set :
       {"LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
        "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL="}) {
    words.emplace_back(set);
  }
  words.insert(words.end(), {"HOME=" + home, "XDG_CONFIG_HOME=" + home, "git", "-C", home, "--git-dir=" + repository,
                             "--no-replace-objects", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never",
                             "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "advice.detachedHead=false", "-c",
                             "core.quotePath=false"});
  return words;
}

}  // namespace

ForeignRepository read_repository(const std::string& folder) {
  const fs::path own = git_folder_of(folder);
  const fs::path common = common_folder(own);
  if (is_there((common / "reftable").string())) {
    throw UsageError(fmt::format("--repo '{}' keeps its references in the format reftable", folder),
                     "give a clone of it: git clone --ref-format=files");
  }
  ForeignRepository found;
  const std::string head = head_of(own);
  if (!head.starts_with("ref: refs/") && digits_at(head, 0) < kSha1Digits) {
    throw UsageError(fmt::format("{} names no commit", (own / "HEAD").string()), kGiveRepository);
  }
  found.files.emplace("HEAD", head);
  References references(found.files);
  references.read_below(common, "refs");
  // Reads these files after refs, as git does, because `git pack-refs` moves references from refs to packed-refs.
  for (const char* name : {"packed-refs", "shallow"}) references.read(common, name);
  for (const char* name : {"ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "logs/HEAD"}) references.read(own, name);
  references.read_below(common, "logs/refs");
  found.sha256 = has_long_names(found.files);
  std::set<fs::path> seen;
  add_objects(common / "objects", 0, seen, found);
  return found;
}

Git::Git(const std::string& folder) : scratch_("git"), folder_(folder) {
  namespace fs = std::filesystem;
  const ForeignRepository theirs = read_repository(folder);
  partial_ = theirs.partial;
  const std::string own = repository();
  fs::create_directory(own);
  must({"init", "--quiet", "--bare", "--template=", theirs.sha256 ? "--object-format=sha256" : "--object-format=sha1"});
  // Git also searches these folders for objects that the private repository lacks (gitrepository-layout(5)).
  std::string alternates;
  for (const std::string& objects : theirs.objects) alternates += alternate_of(objects);
  fs::create_directories(own + "/objects/info");
  write_file(own + "/objects/info/alternates", alternates);
  for (const auto& [name, text] : theirs.files) {
    const std::string path = fmt::format("{}/{}", own, name);
    fs::create_directories(fs::path(path).parent_path());
    if (!(std::ofstream(path, std::ios::binary) << text).flush()) {
      throw MachineError(path + " cannot be written", "free some space, or point TMPDIR at another folder");
    }
  }
}

std::vector<std::string> clean_words() {
  std::vector<std::string> words{"/usr/bin/env"};
  // The variables that `git rev-parse --local-env-vars` lists, and the variables through which make passes options to
  // its child processes.
  for (const char* variable :
       {"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
        "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
        "GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE",
        "GIT_COMMON_DIR", "GIT_NAMESPACE", "MAKEFLAGS", "MFLAGS", "MAKELEVEL"}) {
    words.insert(words.end(), {"-u", variable});
  }
  words.insert(words.end(), {"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0"});
  return words;
}

std::string GitAnswer::complaint() const {
  const std::vector<std::string> said = lines_of(errors);
  for (const std::string& line : said) {
    for (const char* mark : {"fatal: ", "error: "}) {
      if (line.starts_with(mark)) return line.substr(std::string_view(mark).size());
    }
  }
  return said.empty() ? fmt::format("exit status {}", status) : said.back();
}

GitAnswer Git::run(const std::vector<std::string>& arguments, const std::function<void()>& watch) const {
  MeteredCommand command;
  command.words = git_words(scratch_.path(), repository());
  command.program = command.words.front();
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  command.output = scratch_.file("output");
  command.errors = scratch_.file("errors");
  command.timeout = std::chrono::hours(24 * 30);
  std::error_code ignored;
  std::filesystem::remove(command.errors, ignored);
  const MeteredRun run = run_metered(command, watch);
  if (run.end == MeteredRun::End::kStopped) throw Stop{};
  if (run.end != MeteredRun::End::kEnded) {
    throw MachineError("git could not be run: " + run.why_not_started, "check whether `git --version` runs");
  }
  GitAnswer answer{run.exited ? run.code : 128 + run.code, text_in(command.output), text_in(command.errors)};
  if (answer.status == kNotFound) throw MachineError("git is not installed", "apt-get install git");
  while (answer.output.ends_with('\n')) answer.output.pop_back();
  return answer;
}

void Git::must(const std::vector<std::string>& arguments) const { static_cast<void>(output_of(arguments)); }

std::string Git::output_of(const std::vector<std::string>& arguments) const {
  GitAnswer answer = run(arguments);
  if (answer.succeeded()) return answer.output;
  if (partial_) {
    throw UsageError(
        fmt::format("--repo '{}' is a partial clone, and an object is missing: {}", folder_, answer.complaint()),
        "give a whole clone: git clone without --filter");
  }
  throw MachineError(fmt::format("git {} failed: {}", arguments.front(), answer.complaint()),
                     "check with `git fsck` whether the repository is complete");
}

std::string text_in(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& text, char between) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line, between);) lines.push_back(line);
  return lines;
}

}  // namespace zerotax::bisect
