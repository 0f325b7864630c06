// Makes many live blocks and many forks. Usage: many_forks BLOCKS FORKS. Between forks, the program frees some blocks
// and allocates others. Each child frees some of the blocks that it inherits.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

int main(int count, char** words) {
  if (count < 3) return 2;
  const std::size_t blocks = std::strtoul(words[1], nullptr, 10);
  std::vector<void*> live(blocks);
  for (void*& block : live) block = std::malloc(24);
  std::size_t next = 0;
  const auto change = [&](int times) {
    for (; times > 0; --times, next = (next + 7919) % blocks) {
      std::free(live[next]);
      live[next] = std::malloc(40);
    }
  };
  for (long left = std::atol(words[2]); left > 0; --left) {
    const pid_t child = fork();
    if (child == 0) {
      change(100);
      return 0;
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return 3;
    change(100);
  }
}
