#include "observe/process/server.h"

#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "observe/file_reader_messages.h"
#include "os/elf_file.h"

namespace zerotax {
namespace {

/// No library has more functions of one kind than this.
constexpr std::size_t kMostFunctions = 256;
constexpr std::size_t kMostSegments = 1024;
constexpr std::size_t kLongestFunction = 256;

void headers(const ElfFile& file, MessageWriter& out) {
  const auto& head = file.header();
  out.number(head && head->e_ident[EI_CLASS] == ELFCLASS64 ? head->e_machine : 0);
  const auto& segments = file.segments();
  const std::size_t count = segments ? std::min(segments->size(), kMostSegments) : 0;
  out.number(count);
  for (std::size_t i = 0; i < count; ++i) {
    out.text({reinterpret_cast<const char*>(&(*segments)[i]), sizeof(GElf_Phdr)});
  }
  out.text(file.build_id().substr(0, kLongestFunction));
}

void functions(const ElfFile& file, MessageReader& in, MessageWriter& out) {
  std::vector<std::string> words(in.count(1));
  for (std::string& word : words) word = in.text();
  std::vector<ElfFile::Function> found;
  for (const ElfFile::Function& each : file.functions()) {
    const bool asked = std::any_of(words.begin(), words.end(),
                                   [&](const std::string& word) { return each.name.find(word) != std::string::npos; });
    if (asked && each.name.size() <= kLongestFunction && found.size() < kMostFunctions) found.push_back(each);
  }
  out.number(found.size());
  for (const ElfFile::Function& each : found) out.text(each.name).number(each.address).number(each.file_offset);
}

}  // namespace

std::uint64_t size_of(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::uint64_t ReadServer::file_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [number, session] : sessions_) bytes += session->file_bytes;
  return bytes;
}

MessageWriter ReadServer::answer(std::string_view request, UniqueFd file) {
  MessageReader in(request);
  MessageWriter out;
  out.number(static_cast<std::uint64_t>(ReadAnswer::kDone));
  const auto what = static_cast<ReadRequest>(in.number());
  const std::uint64_t number = in.number();
  current_ = static_cast<std::uint32_t>(in.number());
  if (!in.intact()) return out;
  if (what == ReadRequest::kEnd) {
    sessions_.erase(number);
    return out;
  }
  if (what == ReadRequest::kHeaders || what == ReadRequest::kFunctions) {
    const ElfFile program(std::move(file));
    what == ReadRequest::kHeaders ? headers(program, out) : functions(program, in, out);
    return out;
  }
  std::unique_ptr<ReadSession>& session = sessions_[number];
  if (!session) session = std::make_unique<ReadSession>(current_);
  answered_ = session.get();
  if (file) session->file_bytes += size_of(file.get());
  switch (what) {
    case ReadRequest::kMap:
      session->map(in, std::move(file), out);
      break;
    case ReadRequest::kOpen:
      session->open(in, std::move(file), out);
      break;
    case ReadRequest::kUnwind:
      session->unwind(in, out);
      break;
    case ReadRequest::kName:
      session->name(in, out);
      break;
    case ReadRequest::kStart:
      session->start(in, out);
      break;
    case ReadRequest::kRule:
      session->rule(in, out);
      break;
    case ReadRequest::kCalled:
      session->called(in, out);
      break;
    case ReadRequest::kPlace:
      session->place(in, out);
      break;
    default:
      break;
  }
  return out;
}

}  // namespace zerotax
