// Loads a plugin that uses libcrypto, and unloads it again, several times; then exits. libcrypto
// may stay, and kaccel and its sessions with it: but no more of them than after the first time.
//
//   life-plugin-host PLUGIN

#include <dlfcn.h>
#include <fcntl.h>

#include <cstdio>

namespace {

int open_descriptors() {
  int open = 0;
  for (int number = 0; number < 1024; ++number) open += fcntl(number, F_GETFD) >= 0 ? 1 : 0;
  return open;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int descriptors = 0;
  for (int round = 0; round < 5; ++round) {
    void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    auto* run = reinterpret_cast<int (*)()>(dlsym(plugin, "life_plugin_run"));
    const int result = run == nullptr ? 3 : run();
    if (result != 0) {
      std::fprintf(stderr, "the plugin answers %d in round %d\n", result, round);
      return 1;
    }
    dlclose(plugin);
    if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != nullptr) {
      std::fprintf(stderr, "the plugin is still loaded in round %d\n", round);
      return 1;
    }
    const int now = open_descriptors();
    if (round == 0) descriptors = now;
    if (now != descriptors) {
      std::fprintf(stderr, "%d descriptors in round %d, not %d\n", now, round, descriptors);
      return 1;
    }
  }
  return 0;
}
