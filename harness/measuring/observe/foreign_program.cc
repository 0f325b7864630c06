#include "observe/foreign_program.h"

#include <unistd.h>

#include <cstring>
#include <utility>

#include "observe/file_reader.h"
#include "os/regular_file.h"

namespace zerotax {

ForeignProgram::ForeignProgram(const std::string& path) {
  UniqueFd opened = open_program_file(path);
  if (!opened) return;
  FileReader& reader = FileReader::shared();
  const FileId id = file_id(opened.get());
  file_ = reader.file(std::move(opened), {0, path, id});
  const auto answer = ReadClient::ask_about(reader, *file_, ReadRequest::kHeaders, MessageWriter());
  MessageReader in(answer);
  machine_ = static_cast<unsigned>(in.number());
  for (std::size_t left = in.count(sizeof(std::uint64_t)); left > 0; --left) {
    const std::string_view bytes = in.text();
    GElf_Phdr header{};
    if (bytes.size() != sizeof header) break;
    std::memcpy(&header, bytes.data(), sizeof header);
    segments_.push_back(header);
  }
  build_id_ = in.text();
}

std::optional<std::string> ForeignProgram::bytes(std::uint64_t offset, std::uint64_t count) const {
  std::string read(count, '\0');
  if (!file_ || ::pread(file_->fd.get(), read.data(), count, static_cast<off_t>(offset)) != static_cast<ssize_t>(count))
    return std::nullopt;
  return read;
}

std::vector<ElfFile::Function> ForeignProgram::functions(const std::vector<std::string>& words) const {
  std::vector<ElfFile::Function> found;
  if (!file_) return found;
  MessageWriter request;
  request.number(words.size());
  for (const std::string& word : words) request.text(word);
  const auto answer = ReadClient::ask_about(FileReader::shared(), *file_, ReadRequest::kFunctions, request);
  MessageReader in(answer);
  for (std::size_t left = in.count(3 * sizeof(std::uint64_t)); left > 0; --left) {
    ElfFile::Function function;
    function.name = in.text();
    function.address = in.number();
    function.file_offset = in.number();
    if (in.intact()) found.push_back(std::move(function));
  }
  return found;
}

}  // namespace zerotax
