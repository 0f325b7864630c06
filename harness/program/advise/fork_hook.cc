#include "advise/fork_hook.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "files/output_file.h"
#include "run/program_launch.h"

namespace zerotax::advise {
namespace {

constexpr const char* kChanges = "ZEROTAX_BEFORE_FORK";
constexpr const char* kPython = "PYTHONPATH";
constexpr const char* kRuby = "RUBYOPT";
constexpr const char* kNotes = "ZEROTAX_FORK_NOTES";

constexpr const char* kPythonHook = R"(
# zerotax advise --goal shared puts this file first on PYTHONPATH. Before each fork, the file changes the garbage
# collector as ZEROTAX_BEFORE_FORK says. The program's own sitecustomize runs afterwards.
import gc
import os
import sys

CHANGES = os.environ.get("ZEROTAX_BEFORE_FORK", "").split(",")
FOLDER = os.path.dirname(os.path.abspath(__file__))
NOTED = set()


def note(words):
    if "note" not in CHANGES or words in NOTED:
        return
    NOTED.add(words)
    try:
        file = os.open(os.path.join(FOLDER, "notes"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(file, (words + "\n").encode())
        os.close(file)
    except OSError:
        pass


def before_fork():
    note("python fork")
    if "multiprocessing.popen_fork" in sys.modules:
        note("python multiprocessing")
    before_fork.enabled = gc.isenabled()
    if "disable" in CHANGES:
        gc.disable()
    if "freeze" in CHANGES:
        gc.collect()
        gc.freeze()


def after_fork_in_parent():
    if before_fork.enabled:
        gc.enable()


if getattr(sys, "implementation", None) and sys.implementation.name == "cpython":
    note("python version %d.%d.%d" % sys.version_info[:3])
    if hasattr(gc, "freeze") and hasattr(os, "register_at_fork"):
        note("python freeze")
        os.register_at_fork(before=before_fork, after_in_parent=after_fork_in_parent)
sys.path[:] = [each for each in sys.path if os.path.abspath(each) != FOLDER]
own = sys.modules.pop("sitecustomize")
try:
    import sitecustomize
except ImportError as error:
    if getattr(error, "name", "sitecustomize") != "sitecustomize":
        raise
    sys.modules["sitecustomize"] = own
)";

constexpr const char* kRubyHook = R"(
# zerotax advise --goal shared loads this file by RUBYOPT. Before the first fork, the file changes the heap as
# ZEROTAX_BEFORE_FORK says.
module ZerotaxBeforeFork
  CHANGES = ENV.fetch("ZEROTAX_BEFORE_FORK", "").split(",")

  def self.note(words)
    return unless CHANGES.include?("note")
    File.open(File.join(__dir__, "notes"), "a", 0o600) { |file| file.write(words + "\n") }
  rescue SystemCallError
    nil
  end

  def self.change
    return if @changed
    @changed = true
    note("ruby fork")
    if CHANGES.include?("compact")
      GC.start
      GC.compact
    end
    Process.warmup if CHANGES.include?("warmup")
  rescue NotImplementedError
    nil
  end

  def _fork
    ZerotaxBeforeFork.change
    super
  end
end

ZerotaxBeforeFork.note("ruby version #{RUBY_VERSION}")
ZerotaxBeforeFork.note("ruby compact") if GC.respond_to?(:compact)
ZerotaxBeforeFork.note("ruby warmup") if Process.respond_to?(:warmup)
if Process.respond_to?(:_fork)
  ZerotaxBeforeFork.note("ruby hook")
  Process.singleton_class.prepend(ZerotaxBeforeFork)
end
)";

/// Returns our own value of a variable, after `first` and a separator.
std::string before_own(const std::string& first, const char* variable, char separator) {
  const char* const own = std::getenv(variable);
  return own == nullptr || *own == '\0' ? first : first + separator + own;
}

void set_note(HookNotes& notes, const std::string& line) {
  std::istringstream words(line);
  std::string language;
  std::string what;
  std::string version;
  words >> language >> what >> version;
  if (language == "blocks") {
    if (what == "read") notes.reads_large = true;
    if (what == "fork")
      notes.large_bytes = std::max<std::uint64_t>(notes.large_bytes, std::strtoull(version.c_str(), nullptr, 10));
    return;
  }
  const bool is_python = language == "python";
  if (what == "version") (is_python ? notes.python : notes.ruby) = version;
  if (what == "fork") (is_python ? notes.python_forks : notes.ruby_forks) = true;
  if (what == "freeze") notes.python_can_freeze = true;
  if (what == "multiprocessing") notes.multiprocessing = true;
  if (what == "hook") notes.ruby_can_hook = true;
  if (what == "compact") notes.ruby_can_compact = true;
  if (what == "warmup") notes.ruby_can_warm_up = true;
}

}  // namespace

std::string source_line(const std::vector<ForkChange>& changes) {
  if (changes.empty()) return "";
  std::string line = changes.front() <= ForkChange::kFreeze ? "import gc" : "";
  constexpr const char* kCalls[] = {"gc.disable()", "gc.collect(); gc.freeze()", "GC.start; GC.compact",
                                    "Process.warmup", "madvise(p, n, MADV_DONTFORK);"};  // in the order of ForkChange
  for (const ForkChange change : changes) {
    line += (line.empty() ? "" : "; ") + std::string(kCalls[static_cast<std::size_t>(change)]);
  }
  return line;
}

std::vector<ForkChange> changes_in(const HookVariables& variables) {
  std::vector<ForkChange> changes;
  const auto found = variables.find(kChanges);
  if (found == variables.end()) return changes;
  for (const ForkChange change :
       {ForkChange::kDisable, ForkChange::kFreeze, ForkChange::kCompact, ForkChange::kWarmup, ForkChange::kDontFork}) {
    // No word contains another word.
    if (found->second.find(word(change)) != std::string::npos) changes.push_back(change);
  }
  return changes;
}

bool can_join_hooks(const HookVariables& one, const HookVariables& other) {
  return one.empty() || other.empty() || (one.contains(kPython) && other.contains(kPython));
}

HookVariables joined_hooks(const HookVariables& one, const HookVariables& other) {
  if (one.empty() || other.empty()) return one.empty() ? other : one;
  HookVariables joined = one;
  joined[kChanges] += "," + other.at(kChanges);
  return joined;
}

ForkHook::ForkHook() {
  write_file(folder_.file("sitecustomize.py"), kPythonHook);
  write_file(folder_.file("before_fork.rb"), kRubyHook);
}

HookVariables ForkHook::variables(ForkChange change) const {
  const char* const variable = change <= ForkChange::kFreeze     ? kPython
                               : change == ForkChange::kDontFork ? kPreload
                                                                 : kRuby;
  return {{kChanges, word(change)}, {variable, observing()[variable]}};
}

HookVariables ForkHook::observing() const {
  HookVariables all{{kChanges, "note"},
                    {kNotes, folder_.file("notes")},
                    {kPython, before_own(folder_.path(), kPython, ':')},
                    {kRuby, before_own("-r" + folder_.file("before_fork.rb"), kRuby, ' ')}};
#ifdef ZEROTAX_HAS_PRELOADS
  all[kPreload] = before_own(project_library("libzerotax-dontfork.so"), kPreload, ':');
#endif
  return all;
}

HookNotes ForkHook::notes() const {
  HookNotes notes;
  std::ifstream file(folder_.file("notes"));
  for (std::string line; std::getline(file, line);) set_note(notes, line);
  return notes;
}

}  // namespace zerotax::advise
