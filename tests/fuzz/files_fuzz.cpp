/// What Potluck finds in files that it wrote itself, or that somebody put in
/// their place: checkpoints, experts, addresses, keys, certificates,
/// configuration files and lists of artifacts.
///
/// The first byte says which; of checkpoints and experts it also says whether
/// the check sum is mended, so that more than sums is looked at. tools/fuzz
/// runs it with libFuzzer, files_fuzz_test.cpp without.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <openssl/x509.h>
#include <unistd.h>

#include "runtime/experts/expert_shelf.hpp"
#include "runtime/identity/certificate.hpp"
#include "runtime/membership/kept_addresses.hpp"
#include "runtime/state/artifact_list.hpp"
#include "runtime/state/checkpoint.hpp"
#include "tools/potluck/options_file.hpp"

using namespace potluck;

namespace {

bool try_checkpoint(std::string_view bytes, bool mended) {
  safeguard_set guards;
  if (mended)
    guards = guards.without(safeguard::checkpoint_sum);
  std::size_t at = 0;
  auto take = [&](void* out, std::size_t size) {
    if (size > bytes.size() - at)
      return false;
    if (size > 0)
      std::memcpy(out, bytes.data() + at, size);
    at += size;
    return true;
  };
  const auto x = read_checkpoint("it", bytes.size(), take, guards);
  // It holds what the file can hold.
  if (x && state_bytes(x->state) > bytes.size())
    std::abort();
  return static_cast<bool>(x);
}

/// A folder of this process, for files that need a name.
const std::string& folder() {
  static const struct made {
    made()
        : path(std::filesystem::temp_directory_path()
               / ("potluck_fuzz_" + std::to_string(getpid()))) {
      std::filesystem::create_directories(path);
    }
    ~made() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    std::string path;
  } it;
  return it.path;
}

bool try_expert(std::string_view bytes, bool mended) {
  constexpr char uid[] = "ffn.0.1";
  // Magic, the uid with its length, term, version and digest.
  constexpr std::size_t front = 4 + 4 + (sizeof(uid) - 1) + 4 + 8;
  std::string file{bytes};
  if (mended && file.size() >= front + digest::size) {
    const auto begin = front + digest::size;
    const auto sum = digest_of(file.data() + begin, file.size() - begin);
    std::copy(sum.bytes.begin(), sum.bytes.end(), file.begin() + front);
  }
  std::ofstream{folder() + "/" + uid + ".expert", std::ios::binary} << file;
  expert_shelf shelf{folder()};
  const auto x = shelf.get(uid);
  if (x && !file.empty()
      && x->bytes.size() + front + digest::size != file.size())
    std::abort();
  return static_cast<bool>(x);
}

bool try_addresses(const std::string& text) {
  const auto x = kept_addresses::read(text);
  if (!x)
    return false;
  const auto again = kept_addresses::read(x->text());
  if (!again || again->text() != x->text())
    std::abort();
  return true;
}

bool try_key(const std::string& pem) {
  const auto x = key_pair::parse(pem);
  if (!x)
    return false;
  const auto again = key_pair::parse(x->pem());
  if (!again || again->id() != x->id())
    std::abort();
  return true;
}

bool try_certificate(std::string_view bytes) {
  auto next = reinterpret_cast<const unsigned char*>(bytes.data());
  const std::shared_ptr<X509> shown{
      d2i_X509(nullptr, &next, static_cast<long>(bytes.size())), X509_free};
  const auto x = check_certificate(shown.get());
  if (x.what != certificate_check::verdict::sound) {
    if (std::string{in_words(x.what)}.empty())
      std::abort();
    return false;
  }
  return !x.id.empty();
}

/// CAF's own options, as a configuration file may set them.
struct caf_options : caf::actor_system_config {
  const caf::config_option_set& all() const {
    return custom_options_;
  }
};

/// Of a command with an option of each kind.
bool try_options(const std::string& text) {
  static const cli::command_spec spec{
      "join",
      "",
      "",
      {{"data", cli::option_kind::text, "", "", ""},
       {"peer", cli::option_kind::list, "", "", ""},
       {"steps", cli::option_kind::integer, "1", "", "", cli::at_least(1)},
       {"rate", cli::option_kind::real, "0.5", "", "", cli::between(0, 1)},
       {"insecure", cli::option_kind::flag, "", "", ""}},
      0,
      {"bootstrap"}};
  static const caf_options cafs;
  static CLI::App app;
  static const auto named = app.set_config("--config-file", "it.ini");
  (void)named;
  const cli::options_file file{spec, cafs.all(), app};
  std::istringstream in{text};
  try {
    for (const auto& x : file.from_config(in))
      if (x.inputs.empty())
        std::abort();
    return true;
  } catch (const cli::mistake& x) {
    if (x.sentence.empty())
      std::abort();
    return false;
  }
}

bool try_artifacts(const std::string& text) {
  const auto x = read_artifacts_text(text);
  if (x && to_artifacts_text(*x) != text)
    std::abort();
  return x && !x->empty();
}

} // namespace

/// @returns Whether it was one.
std::size_t fuzz_files(const std::uint8_t* data, std::size_t size) {
  if (size < 1)
    return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool mended = data[0] & 128;
  switch (data[0] % 128 % 7) {
    case 0:
      return try_checkpoint(bytes, mended);
    case 1:
      return try_artifacts(bytes);
    case 2:
      return try_expert(bytes, mended);
    case 3:
      return try_addresses(bytes);
    case 4:
      return try_key(bytes);
    case 5:
      return try_certificate(bytes);
    default:
      return try_options(bytes);
  }
}
