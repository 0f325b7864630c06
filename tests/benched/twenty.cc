// Twenty small programs of Google Benchmark that cost the same in any order (twenty_main.cc). Each function is one
// program, run with the sizes 1, 4 and 16. Several use blocks of more than 128 KiB, which glibc maps by default.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <numeric>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
constexpr std::size_t kKiB = 1024;

std::size_t size_of(const benchmark::State& state) { return static_cast<std::size_t>(state.range(0)); }

void touch(char* block, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kPage) block[at] = 1;
  benchmark::ClobberMemory();
}

char* map(std::size_t bytes) {
  return static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

}  // namespace

void vectors(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    std::vector<int> numbers;
    for (std::size_t i = 0; i < 200 * size_of(state); ++i) numbers.push_back(static_cast<int>(i));
    benchmark::DoNotOptimize(numbers.data());
  }
}

void strings(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    std::string text;
    for (std::size_t i = 0; i < 100 * size_of(state); ++i) text += "some words ";
    benchmark::DoNotOptimize(text.data());
  }
}

void maps(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    std::map<std::size_t, std::string> map;
    for (std::size_t i = 0; i < 50 * size_of(state); ++i) map[i * 7 % 211] = "value";
    benchmark::DoNotOptimize(map.size());
  }
}

void hashes(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    std::unordered_map<std::string, std::size_t> map;
    for (std::size_t i = 0; i < 50 * size_of(state); ++i) map[std::to_string(i)] = i;
    benchmark::DoNotOptimize(map.size());
  }
}

void sorting(benchmark::State& state) {
  std::vector<unsigned> numbers(1000 * size_of(state));
  for ([[maybe_unused]] auto _ : state) {
    unsigned seed = 1;
    for (unsigned& number : numbers) number = seed = seed * 1664525U + 1013904223U;
    std::sort(numbers.begin(), numbers.end());
    benchmark::DoNotOptimize(numbers.data());
  }
}

void kept_buffer(benchmark::State& state) {
  std::vector<char> buffer(512 * kKiB * size_of(state));
  for ([[maybe_unused]] auto _ : state) {
    std::fill(buffer.begin(), buffer.end(), 'x');
    benchmark::ClobberMemory();
  }
}

void mapped_once(benchmark::State& state) {
  const std::size_t bytes = 256 * kKiB * size_of(state);
  char* const block = map(bytes);
  for ([[maybe_unused]] auto _ : state) touch(block, bytes);
  munmap(block, bytes);
}

void mapped_each_time(benchmark::State& state) {
  const std::size_t bytes = 256 * kKiB * size_of(state);
  for ([[maybe_unused]] auto _ : state) {
    char* const block = map(bytes);
    touch(block, bytes);
    munmap(block, bytes);
  }
}

// Uses at most 66 KiB at a time. From 128 KiB on, free trims the heap by an amount that depends on memory allocated
// earlier.
void small_callocs(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    std::vector<void*> blocks(20 * size_of(state));
    for (void*& block : blocks) block = std::calloc(1, 200);
    benchmark::DoNotOptimize(blocks.data());
    for (void* const block : blocks) std::free(block);
  }
}

// Uses blocks above the highest threshold that glibc adopts, so the blocks are mapped in any order of the benchmarks.
void huge_callocs(benchmark::State& state) {
  const std::size_t bytes = 40 * kKiB * kKiB;
  for ([[maybe_unused]] auto _ : state) {
    auto* const block = static_cast<char*>(std::calloc(1, bytes));
    touch(block, 16 * kPage * size_of(state));
    std::free(block);
  }
}

// Fixes the threshold, so that blocks are mapped in any order of the benchmarks.
void fixed_threshold(benchmark::State& state) {
  mallopt(M_MMAP_THRESHOLD, 128 * kKiB);
  const std::size_t bytes = 256 * kKiB * size_of(state);
  for ([[maybe_unused]] auto _ : state) {
    auto* const block = static_cast<char*>(std::malloc(bytes));
    touch(block, bytes);
    std::free(block);
  }
}

void patterns(benchmark::State& state) {
  const std::regex pattern("([a-z]+)([0-9]+)");
  for ([[maybe_unused]] auto _ : state) {
    for (std::size_t i = 0; i < size_of(state); ++i) {
      std::smatch match;
      const std::string text = "word" + std::to_string(i);
      benchmark::DoNotOptimize(std::regex_match(text, match, pattern));
    }
  }
}

void streams(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    std::ostringstream stream;
    for (std::size_t i = 0; i < 50 * size_of(state); ++i) stream << i << ' ' << 1.5 << '\n';
    benchmark::DoNotOptimize(stream.str().size());
  }
}

void queues(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    std::deque<std::size_t> queue;
    for (std::size_t i = 0; i < 200 * size_of(state); ++i) {
      queue.push_back(i);
      if (i % 3 == 0) queue.pop_front();
    }
    benchmark::DoNotOptimize(queue.size());
  }
}

void matrices(benchmark::State& state) {
  const std::size_t rows = 64 * size_of(state) / 4 + 16;
  std::vector<double> matrix(rows * rows, 1.5);
  std::vector<double> vector(rows, 2.5);
  std::vector<double> result(rows);
  for ([[maybe_unused]] auto _ : state) {
    for (std::size_t row = 0; row < rows; ++row) {
      result[row] = std::inner_product(vector.begin(), vector.end(),
                                       matrix.begin() + static_cast<std::ptrdiff_t>(row * rows), 0.0);
    }
    benchmark::DoNotOptimize(result.data());
  }
}

void shared_pointers(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    std::vector<std::shared_ptr<std::string>> all;
    for (std::size_t i = 0; i < 50 * size_of(state); ++i) all.push_back(std::make_shared<std::string>(40, 'x'));
    std::vector<std::shared_ptr<std::string>> copy = all;
    benchmark::DoNotOptimize(copy.data());
  }
}

void arenas(benchmark::State& state) {
  std::vector<char> buffer(1024 * kKiB);
  for ([[maybe_unused]] auto _ : state) {
    std::pmr::monotonic_buffer_resource arena(buffer.data(), buffer.size(), std::pmr::null_memory_resource());
    std::pmr::vector<int> numbers(&arena);
    for (std::size_t i = 0; i < 500 * size_of(state); ++i) numbers.push_back(static_cast<int>(i));
    benchmark::DoNotOptimize(numbers.data());
  }
}

void files(benchmark::State& state) {
  std::FILE* const file = std::tmpfile();
  std::vector<char> buffer(64 * kKiB * size_of(state), 'x');
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(pwrite(fileno(file), buffer.data(), buffer.size(), 0));
    benchmark::DoNotOptimize(pread(fileno(file), buffer.data(), buffer.size(), 0));
  }
  std::fclose(file);
}

void random_numbers(benchmark::State& state) {
  std::mt19937_64 engine(1);
  std::uniform_int_distribution<int> numbers(0, 100);
  for ([[maybe_unused]] auto _ : state) {
    int sum = 0;
    for (std::size_t i = 0; i < 100 * size_of(state); ++i) sum += numbers(engine);
    benchmark::DoNotOptimize(sum);
  }
}

void functions(benchmark::State& state) {
  std::vector<std::function<std::size_t(std::size_t)>> all;
  for (std::size_t i = 0; i < 20 * size_of(state); ++i)
    all.emplace_back([i, j = i + 1, k = i + 2](std::size_t n) { return n + i * j * k; });
  for ([[maybe_unused]] auto _ : state) {
    std::variant<std::string, std::size_t> last;
    std::size_t number = 0;
    for (const auto& each : all) last = number = each(number);
    benchmark::DoNotOptimize(last);
  }
}
