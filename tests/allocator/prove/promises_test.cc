#include "prove/promises.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.h"
#include "files/document.h"

namespace zerotax::prove {
namespace {

TEST(Promises, BecomeLinesThatTheProcessReads) {
  Zeros zeros;
  zeros.functions.resize(2);
  zeros.functions[0] = {.symbol = "sn_rust_realloc",
                        .arguments = {"block", "alignment", "block_size", "size"},
                        .promise = Promise::kKeep,
                        .release = "sn_rust_dealloc",
                        .release_arguments = {"block", "alignment", "size"},
                        .most_bytes = {}};
  zeros.functions[1] = {.symbol = "xallocx",
                        .arguments = {"block", "size", "0", "zero_flag"},
                        .promise = Promise::kGrownInPlace,
                        .release = "dallocx",
                        .release_arguments = {"block", "0"},
                        .most_bytes = 1024};
  EXPECT_EQ(lines_of(zeros),
            "sn_rust_realloc p,a,b,n keep sn_rust_dealloc p,a,n\n"
            "xallocx p,n,0,f grown_in_place dallocx p,0 1024\n");
}

TEST(Promises, OfAllAllocatorsAreOfTheSchemaAndNameEachFunctionOnce) {
  std::set<std::string> symbols;
  std::size_t files = 0;
  for (const auto& folder : std::filesystem::directory_iterator(ZEROTAX_SOURCE_DIR "/allocators")) {
    const std::string path = folder.path().string() + "/zeros.json";
    if (!std::filesystem::exists(path)) continue;
    ++files;
    const auto zeros = read_document(path, "zeros", "").get<Zeros>();
    EXPECT_EQ(zeros.allocator, folder.path().filename().string());
    for (const PromisedFunction& each : zeros.functions) EXPECT_TRUE(symbols.insert(each.symbol).second) << each.symbol;
  }
  EXPECT_GE(files, 6U);
  EXPECT_EQ(functions_of(built_in_lines(), "built in").size(), functions_of("", "").size() + symbols.size());
}

TEST(Promises, OfADamagedFileAreRefused) {
  const std::string path = testing::TempDir() + "/damaged.json";
  std::ofstream(path) << R"({"schema": "zerotax.zeros/1", "allocator": "mine", "source": "https://x", "functions": [
    {"symbol": "my_zalloc", "arguments": ["bytes"], "promise": "zero", "release": "my_free", "release_arguments": ["block"]}]})";
  try {
    read_lines(path);
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("/functions/0/arguments/0"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace zerotax::prove
