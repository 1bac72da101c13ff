/// Artifacts: files of a run that are too large for its charter, which lists
/// them in its file `artifacts`, one a line and ordered by their names,
///
///     NAME BYTES CONTENT PIECES
///
/// CONTENT is the SHA-256 of the file. PIECES is that of the list of its
/// pieces, which is the SHA-256 of each, as bytes, one behind the other: so a
/// piece can be checked when it comes, and charters stay small. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/identity/sha256.hpp"

namespace potluck {

class charter;

/// The charter's file that lists them.
constexpr auto artifacts_file = "artifacts";

/// Of one run, and bytes of each.
constexpr std::size_t max_artifacts = 16;
constexpr std::uint64_t max_artifact_bytes = std::uint64_t{256} << 20;
/// Of a piece, but for the last one; its frame is small beside a gradient's.
constexpr std::uint32_t artifact_piece_bytes = 64u << 10;

struct artifact {
  std::string name;        ///< As a charter's files have: `problem_with`.
  std::uint64_t bytes = 0; ///< Not zero.
  sha256_digest content;
  sha256_digest pieces;

  std::uint32_t piece_count() const {
    return static_cast<std::uint32_t>((bytes + artifact_piece_bytes - 1)
                                      / artifact_piece_bytes);
  }
};

/// By their names.
using artifact_list = std::vector<artifact>;
/// The SHA-256 of each piece.
using piece_sums = std::vector<sha256_digest>;

/// Why a file of this name and length is no artifact; empty when it is.
std::string problem_with_artifact(const std::string& name, std::uint64_t bytes);

/// @param all At most `max_artifacts`, ordered by names, each once.
std::string to_artifacts_text(const artifact_list& all);

/// Reads what `to_artifacts_text` wrote, and nothing else. Fails with a
/// sentence.
expected<artifact_list> read_artifacts_text(const std::string& text);

/// What a run's charter lists; none where it lists nothing.
artifact_list artifacts_of(const charter& x);
/// The one of this name.
std::optional<artifact> artifact_of(const charter& x, const std::string& name);

/// The charter with these in the place of those that it lists.
charter with_artifacts(const charter& x, const artifact_list& all);

/// The list of pieces as bytes, and back; none where they are none.
std::string to_bytes(const piece_sums& sums);
std::optional<piece_sums> read_piece_sums(const artifact& of,
                                          std::string_view bytes);

} // namespace potluck
