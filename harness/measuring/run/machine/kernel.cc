#include "run/machine/kernel.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "files/folders.h"
#include "os/input_file.h"
#include "run/debian_packages.h"

namespace zerotax::machine {
namespace {

namespace fs = std::filesystem;

// Modules that a guest needs to see the host's files and to communicate with zerotax. The dependencies between modules
// differ by kernel, so the guest retries modules that failed to load.
constexpr const char* kModules[] = {"virtio",
                                    "virtio_ring",
                                    "virtio_pci_modern_dev",
                                    "virtio_pci_legacy_dev",
                                    "virtio_pci",
                                    "fscache",
                                    "netfs",
                                    "9pnet",
                                    "9pnet_virtio",
                                    "9p",
                                    "virtio_console"};

std::optional<fs::path> image_in(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::directory_entry& each : fs::directory_iterator(folder, ignored)) {
    if (each.path().filename().string().starts_with("vmlinuz-")) return each.path();
  }
  return std::nullopt;
}

/// Returns the name of a module file, such as "virtio_pci" for "virtio-pci.ko.xz".
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

/// Returns the kernel of an image /…/boot/vmlinuz-VERSION, whose modules are in /…/lib/modules/VERSION.
GuestKernel kernel_at(const std::string& path) {
  if (::access(path.c_str(), R_OK) != 0 || fs::is_directory(path)) {
    require_folder_of(path);
    throw UsageError(fmt::format("cannot read a kernel image at {}", path),
                     "give the path of a kernel image, as in --on vm:/boot/vmlinuz-6.1.0-13-amd64, or a release, as in "
                     "--on vm:bookworm");
  }
  GuestKernel kernel{absolute_path(path), {}, version_of(path)};
  const fs::path root = fs::path(kernel.image).parent_path().parent_path();
  for (const char* lib : {"lib/modules", "usr/lib/modules"}) {
    if (kernel.modules.empty()) kernel.modules = modules_in(root / lib / kernel.name);
  }
  return kernel;
}

/// Moves the image to the folder boot. Since Linux 7, Debian's image is beside the modules.
void take_image(const fs::path& files) {
  fs::create_directories(files / "boot");
  std::error_code ignored;
  for (const fs::directory_entry& each : fs::directory_iterator(files / "usr/lib/modules", ignored)) {
    if (!fs::exists(each.path() / "vmlinuz")) continue;
    fs::rename(each.path() / "vmlinuz", files / "boot" / ("vmlinuz-" + each.path().filename().string()));
  }
}

/// Returns Debian's name for the flavor of the kernel, such as "arm64-16k".
std::string flavour(const MachinePlace& place) {
  return place.emulator->debian + (place.page.empty() ? "" : "-" + place.page);
}

void fetch(const MachinePlace& place, const fs::path& cache, const std::string& name) {
  // A release's kernel package depends on the package of the newest kernel. That package may in turn depend on packages
  // with parts of the kernel.
  DebianPackages packages("the kernel", place.kernel, cache, place.emulator->debian);
  const std::string newest = "linux-image-" + flavour(place);
  const auto images = packages.needed_by(newest, {"linux-image-"});
  if (images.empty()) packages.cannot_fetch("it has no " + newest);
  std::vector<std::string> all = packages.needed_by(images.front(), {"linux-binary-", "linux-modules-"});
  all.push_back(images.front());
  std::vector<std::string> patterns{"./boot/vmlinuz-*", "./usr/lib/modules/*/vmlinuz"};
  for (std::string name : kModules) {
    patterns.push_back("*/" + name + ".ko*");
    std::replace(name.begin(), name.end(), '_', '-');
    patterns.push_back("*/" + name + ".ko*");
  }
  for (const std::string& package : all) packages.unpack(package, patterns);
  take_image(packages.files());
  if (!image_in(packages.files() / "boot")) packages.cannot_fetch("its package has no kernel image");
  packages.keep(name);
}

}  // namespace

GuestKernel find_kernel(const MachinePlace& place) {
  if (!place.is_release()) return kernel_at(place.kernel);
  const fs::path cache = cache_folder("kernels");
  const bool usual = !place.is_other_processor() && place.page.empty();
  const std::string name = usual ? place.kernel : place.kernel + "-" + flavour(place);
  const fs::path folder = cache / name;
  if (!image_in(folder / "boot")) fetch(place, cache, name);
  return kernel_at(image_in(folder / "boot").value());
}

}  // namespace zerotax::machine
