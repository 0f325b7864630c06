#include "run/machine/kernel.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "files/cache_folder.h"
#include "os/child.h"
#include "run/interrupt.h"

namespace zerotax::machine {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kFetchTimeout{20};
// What a guest needs to see the host's files, and to talk to us. Which of them another needs differs from kernel to
// kernel: the guest tries again those that were too early.
constexpr const char* kModules[] = {"virtio",         "virtio_ring", "virtio_pci_modern_dev", "virtio_pci_legacy_dev",
                                    "virtio_pci",     "fscache",     "netfs",                 "9pnet",
                                    "9pnet_virtio",   "9p",          "virtio_console"};

[[noreturn]] void cannot_fetch(const std::string& release, const std::string& why) {
  throw MachineError(fmt::format("cannot fetch the kernel of Debian {}: {}", release, why),
                     "see that apt-get reaches a mirror (ZEROTAX_DEBIAN_MIRROR names another one), or give the path of "
                     "a kernel, as in --on vm:/boot/vmlinuz-6.1.0-13-amd64");
}

/// The last line of what a program said that is not empty.
std::string last_line(const std::string& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

/// Debian's packages of one release, with lists and a cache of its own: nothing of the system is changed, and no right
/// is needed.
class Packages {
 public:
  Packages(std::string release, fs::path folder) : release_(std::move(release)), folder_(std::move(folder)) {
    for (const char* each : {"lists/partial", "cache/archives/partial", "packages"}) {
      fs::create_directories(folder_ / each);
    }
    const char* mirror = std::getenv("ZEROTAX_DEBIAN_MIRROR");
    const std::string source =
        fmt::format("deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {} {} main\n",
                    mirror != nullptr ? mirror : "http://deb.debian.org/debian", release_);
    const fs::path list = folder_ / "sources.list";
    std::FILE* file = std::fopen(list.c_str(), "w");
    if (file == nullptr || std::fputs(source.c_str(), file) < 0) cannot_fetch(release_, "cannot write " + list.string());
    std::fclose(file);
    options_ = {"-q", "-o", "Dir::Etc::sourcelist=" + list.string(), "-o", "Dir::Etc::sourceparts=/dev/null",
                "-o", "Dir::State::Lists=" + (folder_ / "lists").string(),
                "-o", "Dir::Cache=" + (folder_ / "cache").string(), "-o", "Dir::State::status=/dev/null",
                "-o", "Acquire::Languages=none", "-o", "APT::Architecture=amd64", "-o", "APT::Architectures=amd64",
                // As root it would write as a user of its own, who may not write here.
                "-o", fmt::format("APT::Sandbox::User={}", ::geteuid() == 0 ? "root" : "")};
    run("apt-get", {"update"});
  }

  /// The packages that one depends on whose names begin so.
  std::vector<std::string> needed_by(const std::string& package, const std::vector<std::string>& prefixes) {
    std::istringstream lines(run("apt-cache", {"depends", package}));
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);) {
      const std::size_t at = line.find("Depends: ");
      if (at == std::string::npos) continue;
      const std::string name = line.substr(line.find_first_not_of(' ', at + 9));
      const bool wanted = std::any_of(prefixes.begin(), prefixes.end(),
                                      [&](const std::string& prefix) { return name.starts_with(prefix); });
      if (wanted) found.push_back(name);
    }
    return found;
  }

  /// Unpacks the files of a package that match one of the patterns of tar(1).
  void unpack(const std::string& package, const std::vector<std::string>& patterns, const fs::path& target) {
    run("sh", {"-c", "cd \"$1\" && shift && exec apt-get \"$@\"", "sh", (folder_ / "packages").string()},
        {"download", package});
    for (const fs::directory_entry& each : fs::directory_iterator(folder_ / "packages")) {
      if (!each.path().filename().string().starts_with(package + "_")) continue;
      // No file may match: of a package that depends on others alone.
      std::vector<std::string> words{"-c", "dpkg-deb --fsys-tarfile \"$1\" | tar -x -C \"$2\" --wildcards \"${@:3}\" "
                                           "2>/dev/null; exit ${PIPESTATUS[0]}",
                                     "bash", each.path().string(), target.string()};
      words.insert(words.end(), patterns.begin(), patterns.end());
      run_plain("bash", words);
      fs::remove(each.path());
    }
  }

 private:
  std::string run(const std::string& program, std::vector<std::string> words, const std::vector<std::string>& more = {}) {
    words.insert(words.end(), options_.begin(), options_.end());
    words.insert(words.end(), more.begin(), more.end());
    return run_plain(program, words);
  }

  std::string run_plain(const std::string& program, const std::vector<std::string>& words) {
    ChildCommand command;
    command.program = "/usr/bin/env";  // which looks in PATH
    command.arguments = {program};
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    command.environment = {{"LC_ALL", "C"}};
    command.capture = true;
    command.fixed_layout = false;
    command.timeout = kFetchTimeout;
    const ChildResult done = run_child(command, stop_requested);
    end_if_stopped();
    if (done.end == ChildResult::End::kExited && done.code == 127) {
      cannot_fetch(release_, fmt::format("{} is missing (package apt)", program));
    }
    if (done.end != ChildResult::End::kExited || done.code != 0) {
      const std::string said = last_line(done.errors);
      cannot_fetch(release_, said.empty() ? fmt::format("{} failed", program) : said);
    }
    return done.output;
  }

  std::string release_;
  fs::path folder_;
  std::vector<std::string> options_;
};

/// A folder that goes with everything in it, unless it is kept.
class Temporary {
 public:
  explicit Temporary(const std::string& beside) : path_(fmt::format("{}.{}", beside, ::getpid())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::optional<fs::path> image_in(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::directory_entry& each : fs::directory_iterator(folder, ignored)) {
    if (each.path().filename().string().starts_with("vmlinuz-")) return each.path();
  }
  return std::nullopt;
}

/// "virtio_pci" of "virtio-pci.ko.xz".
std::string module_name(const fs::path& file) {
  std::string name = file.filename().string();
  const std::size_t end = name.find(".ko");
  if (end == std::string::npos) return "";
  name.resize(end);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<std::string> modules_in(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (auto each = fs::recursive_directory_iterator(folder, ignored); each != fs::recursive_directory_iterator();
       each.increment(ignored)) {
    const std::string name = module_name(each->path());
    if (std::find(std::begin(kModules), std::end(kModules), name) != std::end(kModules)) found.push_back(each->path());
  }
  return found;
}

std::string version_of(const fs::path& image) {
  const std::string name = image.filename().string();
  return name.starts_with("vmlinuz-") ? name.substr(std::string_view("vmlinuz-").size()) : name;
}

/// Of an image /…/boot/vmlinuz-VERSION the modules lie in /…/lib/modules/VERSION.
GuestKernel kernel_at(const std::string& path) {
  if (::access(path.c_str(), R_OK) != 0 || fs::is_directory(path)) {
    throw UsageError(fmt::format("cannot read a kernel image at {}", path),
                     "give the path of one, as in --on vm:/boot/vmlinuz-6.1.0-13-amd64, or a release, as in "
                     "--on vm:bookworm");
  }
  GuestKernel kernel{fs::absolute(path), {}, version_of(path)};
  const fs::path root = fs::path(kernel.image).parent_path().parent_path();
  for (const char* lib : {"lib/modules", "usr/lib/modules"}) {
    if (kernel.modules.empty()) kernel.modules = modules_in(root / lib / kernel.name);
  }
  return kernel;
}

/// Since Linux 7 Debian's image lies beside the modules.
void take_image(const fs::path& files) {
  fs::create_directories(files / "boot");
  std::error_code ignored;
  for (const fs::directory_entry& each : fs::directory_iterator(files / "usr/lib/modules", ignored)) {
    if (!fs::exists(each.path() / "vmlinuz")) continue;
    fs::rename(each.path() / "vmlinuz", files / "boot" / ("vmlinuz-" + each.path().filename().string()));
  }
}

void fetch(const std::string& release, const fs::path& target) {
  // A release's own package depends on that of its newest kernel, which may be in several parts.
  const Temporary made(target.string());
  Packages packages(release, made.path());
  const auto images = packages.needed_by("linux-image-amd64", {"linux-image-"});
  if (images.empty()) cannot_fetch(release, "it has no linux-image-amd64");
  std::vector<std::string> all = packages.needed_by(images.front(), {"linux-binary-", "linux-modules-"});
  all.push_back(images.front());
  std::vector<std::string> patterns{"./boot/vmlinuz-*", "./usr/lib/modules/*/vmlinuz"};
  for (std::string name : kModules) {
    patterns.push_back("*/" + name + ".ko*");
    std::replace(name.begin(), name.end(), '_', '-');
    patterns.push_back("*/" + name + ".ko*");
  }
  const fs::path files = made.path() / "files";
  fs::create_directories(files);
  for (const std::string& package : all) packages.unpack(package, patterns, files);
  take_image(files);
  if (!image_in(files / "boot")) cannot_fetch(release, "its package has no image");
  std::error_code failure;
  fs::rename(files, target, failure);
  // Another process may have fetched it meanwhile.
  if (failure && !image_in(target / "boot")) cannot_fetch(release, failure.message());
}

}  // namespace

GuestKernel find_kernel(const MachinePlace& place) {
  if (!place.is_release()) return kernel_at(place.kernel);
  const fs::path folder = fs::path(cache_folder("kernels")) / place.kernel;
  if (!image_in(folder / "boot")) {
    fmt::print(stderr, "zerotax: fetching the kernel of Debian {}, once, into {}\n", place.kernel, folder.string());
    fetch(place.kernel, folder);
  }
  return kernel_at(*image_in(folder / "boot"));
}

}  // namespace zerotax::machine
