/// What an organiser hands out: an invitation behind a check sum that fits, a
/// manifest that is signed, and charters; as anybody may make them.
///
/// The first byte says which. Of a manifest the next two bytes say how long its
/// head is, behind the organiser's key. tools/fuzz runs it with libFuzzer,
/// organiser_fuzz_test.cpp without.
#include <algorithm>
#include <cstdlib>

#include "runtime/identity/sha256.hpp"
#include "runtime/manifest/byte_reader.hpp"
#include "runtime/manifest/checked_text.hpp"
#include "runtime/manifest/invitation.hpp"
#include "runtime/manifest/manifest.hpp"
#include "runtime/state/run_manifest.hpp"

using namespace potluck;

namespace {

const key_pair& organiser() {
  static const auto made = key_pair::generate();
  return made;
}

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

/// What is accepted says the same when it is written and read again.
void check_charter(const charter& x) {
  const auto again = charter::from_bytes(x.to_bytes());
  if (!again || again->digest() != x.digest()
      || !differences(again->table(), x.table()).empty())
    std::abort();
}

bool try_charter(const std::string& bytes) {
  const auto x = charter::from_bytes(bytes);
  if (x)
    check_charter(*x);
  return static_cast<bool>(x);
}

/// Of a run's name and sections, each with a name and two bytes of length, the
/// charter that they come to once they are signed.
bool try_sections(const std::string& bytes) {
  byte_reader from{bytes};
  auto name = from.text();
  std::vector<manifest_section> sections;
  while (!from.done() && !from.lacks()) {
    manifest_section x;
    x.name = from.text();
    x.bytes = from.bytes(from.integer<std::uint16_t>());
    sections.push_back(std::move(x));
  }
  const auto x = manifest::sign(name, std::move(sections), organiser());
  if (!x)
    return false;
  const auto all = x->to_bytes();
  const auto read = manifest::read(all, x->id());
  if (!read || read->to_bytes() != all)
    std::abort();
  const auto terms = read_charter(x->run(), all);
  if (!terms)
    return false;
  check_charter(*terms);
  const auto again = sign_charter(*terms, organiser());
  if (again && charter_of(*again)->files() != terms->files())
    std::abort();
  return true;
}

bool try_manifest(const std::string& bytes) {
  manifest::read(bytes);
  if (bytes.size() < 2)
    return false;
  const auto size = static_cast<unsigned char>(bytes[0])
                    | static_cast<unsigned char>(bytes[1]) << 8;
  std::string head;
  append_id(head, organiser().public_half());
  head += bytes.substr(2, static_cast<std::size_t>(size));
  std::string covered = "potluck manifest\n";
  append_id(covered, sha256("potluck run\n" + head));
  std::string all = "PLKMANIF";
  append_little_endian(all, std::uint32_t{1});
  append_little_endian(all, static_cast<std::uint32_t>(head.size()));
  append_id(all, organiser().sign(covered));
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
std::size_t fuzz_organiser(const std::uint8_t* data, std::size_t size) {
  if (size < 1)
    return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      return try_invitation(bytes);
    case 1:
      return try_manifest(bytes);
    case 2:
      return try_sections(bytes);
    default:
      return try_charter(bytes);
  }
}
