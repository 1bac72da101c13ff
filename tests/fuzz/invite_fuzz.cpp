/// What an invitation says behind a check sum that fits, and what an organiser
/// signs: as anybody may make them.
///
/// The first byte says which. Of a manifest the next two bytes say how long its
/// head is, behind the organiser's key. tools/fuzz runs it with libFuzzer,
/// invite_fuzz_test.cpp without.
#include <algorithm>
#include <cstdlib>

#include "runtime/identity/sha256.hpp"
#include "runtime/manifest/byte_reader.hpp"
#include "runtime/manifest/checked_text.hpp"
#include "runtime/manifest/invitation.hpp"
#include "runtime/manifest/manifest.hpp"

using namespace potluck;

namespace {

bool try_invitation(const std::string& bytes) {
  read_invitation(bytes); // As it stands, it is hardly ever one.
  const auto text = to_checked_text("potluck", bytes.substr(0, 600));
  const auto x = read_invitation(text);
  if (!x)
    return false;
  const auto again = to_text(*x);
  if (!again || *again != text)
    std::abort();
  return true;
}

bool try_manifest(const std::string& bytes) {
  manifest::read(bytes);
  if (bytes.size() < 2)
    return false;
  static const auto organiser = key_pair::generate();
  const auto size = static_cast<unsigned char>(bytes[0])
                    | static_cast<unsigned char>(bytes[1]) << 8;
  std::string head;
  append_id(head, organiser.public_half());
  head += bytes.substr(2, static_cast<std::size_t>(size));
  std::string covered = "potluck manifest\n";
  append_id(covered, sha256("potluck run\n" + head));
  std::string all = "PLKMANIF";
  append_little_endian(all, std::uint32_t{1});
  append_little_endian(all, static_cast<std::uint32_t>(head.size()));
  append_id(all, organiser.sign(covered));
  all += head;
  if (bytes.size() > static_cast<std::size_t>(size) + 2)
    all += bytes.substr(static_cast<std::size_t>(size) + 2);
  const auto x = manifest::read(all);
  if (x && x->to_bytes() != all)
    std::abort();
  return static_cast<bool>(x);
}

} // namespace

/// @returns Whether it was one.
std::size_t fuzz_invite(const std::uint8_t* data, std::size_t size) {
  if (size < 1)
    return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  return data[0] % 2 == 0 ? try_invitation(bytes) : try_manifest(bytes);
}
