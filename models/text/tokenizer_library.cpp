#include "models/text/tokenizer_library.hpp"

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>

#include <dlfcn.h>

namespace potluck {

namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "libpotluck_tokenizer.so";

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define POTLUCK_UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)        \
    || __has_feature(memory_sanitizer)
#define POTLUCK_UNDER_SANITIZER 1
#endif
#endif

/// The plugin's libraries must bind to their own copies of the symbols that
/// LibTorch's libraries define too (protobuf's), not to the program's.
void* open_isolated(const std::string& path) {
#ifdef POTLUCK_UNDER_SANITIZER
  // The sanitizers end the process at RTLD_DEEPBIND. A namespace of its own
  // keeps the plugin away from their allocator as well.
  return dlmopen(LM_ID_NEWLM, path.c_str(), RTLD_NOW | RTLD_LOCAL);
#else
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
#endif
}

std::string last_dl_error() {
  const char* text = dlerror();
  return text ? text : "unknown error";
}

expected<const potluck_tokenizer_interface*> open_at(const std::string& path) {
  const failure mend{"The tokenizer plugin " + path
                     + " does not belong to this potluck: install both from "
                       "the same build."};
  void* library = open_isolated(path);
  if (!library)
    return failure{
        "The tokenizer plugin " + path + " cannot be opened (" + last_dl_error()
        + "): install libsentencepiece0 and the plugin of this potluck."};
  void* symbol = dlsym(library, POTLUCK_TOKENIZER_SYMBOL);
  if (!symbol)
    return mend;
  auto entry = reinterpret_cast<potluck_tokenizer_entry>(symbol);
  const potluck_tokenizer_interface* functions = entry();
  if (!functions || functions->version != POTLUCK_TOKENIZER_INTERFACE_VERSION)
    return mend;
  return functions;
}

} // namespace

std::vector<std::string> tokenizer_library_candidates() {
  std::vector<fs::path> folders;
  const char* chosen = std::getenv("POTLUCK_PLUGIN_DIR");
  if (chosen && *chosen) {
    folders.emplace_back(chosen);
  } else {
    std::error_code error;
    const auto self = fs::read_symlink("/proc/self/exe", error);
    if (!error) {
      folders.push_back(self.parent_path().parent_path() / "lib" / "potluck");
      folders.push_back(self.parent_path() / "lib" / "potluck");
    }
#ifdef POTLUCK_BUILD_PLUGIN_DIR
    folders.emplace_back(POTLUCK_BUILD_PLUGIN_DIR);
#endif
  }
  std::vector<std::string> result;
  for (const auto& folder : folders)
    result.push_back((folder / file_name).string());
  return result;
}

expected<const potluck_tokenizer_interface*>
open_tokenizer_library(const std::vector<std::string>& candidates) {
  std::string looked_at;
  for (const auto& path : candidates) {
    std::error_code error;
    if (fs::exists(path, error))
      return open_at(path);
    looked_at += (looked_at.empty() ? "" : ", ") + path;
  }
  return failure{std::string("The tokenizer plugin ") + file_name
                 + " is not installed (looked for " + looked_at
                 + "): install it, or name its folder in POTLUCK_PLUGIN_DIR."};
}

expected<const potluck_tokenizer_interface*> tokenizer_library() {
  static std::mutex guard;
  static const potluck_tokenizer_interface* opened = nullptr;
  const std::lock_guard<std::mutex> lock(guard);
  if (opened)
    return opened;
  auto result = open_tokenizer_library(tokenizer_library_candidates());
  if (result)
    opened = *result;
  return result;
}

} // namespace potluck
