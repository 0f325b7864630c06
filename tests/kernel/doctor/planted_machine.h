#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace zerotax::doctor {

/// A folder of planted files, which doctor examines instead of a machine's files.
class PlantedMachine {
 public:
  PlantedMachine() : path_(std::filesystem::temp_directory_path() / ("zerotax-machine-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~PlantedMachine() { std::filesystem::remove_all(path_); }
  PlantedMachine(const PlantedMachine&) = delete;
  PlantedMachine& operator=(const PlantedMachine&) = delete;

  void file(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace zerotax::doctor
