#include "runtime/manifest/manifest.hpp"

#include <algorithm>
#include <set>

#include "runtime/identity/sha256.hpp"
#include "runtime/manifest/byte_reader.hpp"

namespace potluck {

namespace {

constexpr char magic[] = "PLKMANIF";
constexpr std::size_t magic_bytes = 8;
constexpr std::uint32_t format_version = 1;
/// Of the head, with room to spare: 32 sections take 2.3 KB.
constexpr std::uint32_t most_head_bytes = 4096;
// What is hashed and signed says what it is, so that neither can pass for
// something else.
constexpr char id_domain[] = "potluck run\n";
constexpr char signing_domain[] = "potluck manifest\n";

run_id id_of_head(std::string_view head) {
  run_id result;
  result.bytes = sha256(id_domain + std::string{head}).bytes;
  return result;
}

std::string signed_bytes(const run_id& id) {
  std::string result = signing_domain;
  append_id(result, id);
  return result;
}

bool is_section_name(const std::string& x) {
  return !x.empty() && x.size() <= manifest::longest_section_name
         && std::all_of(x.begin(), x.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
                     || c == '-';
            });
}

} // namespace

std::string manifest::head() const {
  std::string head;
  append_id(head, organiser_);
  append_text(head, name_);
  head += static_cast<char>(sections_.size());
  for (const auto& x : sections_) {
    append_text(head, x.name);
    append_little_endian(head, static_cast<std::uint32_t>(x.bytes.size()));
    append_id(head, sha256(x.bytes));
  }
  return head;
}

expected<manifest> manifest::sign(std::string name,
                                  std::vector<manifest_section> sections,
                                  const key_pair& organiser) {
  if (auto problem = problem_with_run_name(name); !problem.empty())
    return failure{problem};
  std::set<std::string> names;
  std::size_t bytes = magic_bytes + 8 + signature::size + most_head_bytes;
  for (const auto& x : sections) {
    if (!is_section_name(x.name) || !names.insert(x.name).second)
      return failure{"a section of a manifest has no name of its own"};
    bytes += x.bytes.size();
  }
  if (sections.size() > most_sections || bytes > most_bytes)
    return failure{"the manifest is too large: it has at most "
                   + std::to_string(most_sections) + " sections and "
                   + std::to_string(most_bytes >> 20) + " MiB"};
  manifest result;
  result.name_ = std::move(name);
  result.sections_ = std::move(sections);
  result.organiser_ = organiser.public_half();
  result.id_ = id_of_head(result.head());
  result.proof_ = organiser.sign(signed_bytes(result.id_));
  return result;
}

run_id manifest::id_of(std::string name, std::vector<manifest_section> sections,
                       const public_key& organiser) {
  manifest unsigned_one;
  unsigned_one.name_ = std::move(name);
  unsigned_one.sections_ = std::move(sections);
  unsigned_one.organiser_ = organiser;
  return id_of_head(unsigned_one.head());
}

std::string manifest::to_bytes() const {
  const auto front = head();
  std::string bytes(magic, magic_bytes);
  append_little_endian(bytes, format_version);
  append_little_endian(bytes, static_cast<std::uint32_t>(front.size()));
  append_id(bytes, proof_);
  bytes += front;
  for (const auto& x : sections_)
    bytes += x.bytes;
  return bytes;
}

expected<manifest> manifest::read(const std::string& bytes,
                                  const run_id& wanted) {
  if (bytes.size() > most_bytes)
    return failure{"is larger than any manifest"};
  byte_reader all{bytes};
  if (all.bytes(magic_bytes) != std::string_view(magic, magic_bytes))
    return failure{"is no manifest of a run"};
  if (all.integer<std::uint32_t>() != format_version)
    return failure{"is a manifest of another version of Potluck; use the same "
                   "version everywhere"};
  const auto head_bytes = all.integer<std::uint32_t>();
  manifest result;
  result.proof_ = all.id<signature>();
  const auto head
      = all.bytes(std::min<std::size_t>(head_bytes, most_head_bytes + 1));
  if (all.lacks() || head_bytes > most_head_bytes)
    return failure{"is a manifest cut short"};
  result.id_ = id_of_head(head);
  if (!wanted.empty() && result.id_ != wanted)
    return failure{"is the manifest of another run"};
  byte_reader front{head};
  result.organiser_ = front.id<public_key>();
  if (!has_signed(result.organiser_, signed_bytes(result.id_), result.proof_))
    return failure{"is a manifest that its organiser has not signed"};

  // What the organiser has signed is still only believed within bounds.
  result.name_ = front.text();
  const std::size_t count = front.integer<std::uint8_t>();
  std::set<std::string> names;
  for (std::size_t i = 0; i < count && !front.lacks(); ++i) {
    manifest_section x;
    x.name = front.text();
    const auto content = all.bytes(front.integer<std::uint32_t>());
    const auto hash = front.id<sha256_digest>();
    if (all.lacks())
      return failure{"is a manifest cut short"};
    if (sha256(content) != hash)
      return failure{"is a manifest whose section '"
                     + (is_section_name(x.name) ? x.name : "?")
                     + "' was changed"};
    if (!is_section_name(x.name) || !names.insert(x.name).second)
      return failure{"is a manifest with a section that has no name"};
    x.bytes = content;
    result.sections_.push_back(std::move(x));
  }
  if (count > most_sections || !problem_with_run_name(result.name_).empty()
      || !front.done() || !all.done())
    return failure{"is a manifest that does not end where it should, or whose "
                   "names are none"};
  return result;
}

} // namespace potluck
