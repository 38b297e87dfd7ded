// Loads a plugin that uses libcrypto, and unloads it again, several times; then exits.
//
//   life-plugin-host PLUGIN

#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
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
  }
  return 0;
}
