#include "runtime/state/pieces.hpp"

#include <algorithm>

#include "runtime/manifest/byte_reader.hpp"
#include "runtime/state/limits.hpp"
#include "runtime/state/little_endian.hpp"

namespace potluck {

namespace {

piece_extent extent(std::uint64_t bytes, std::uint32_t piece_bytes,
                    std::uint32_t piece) {
  std::uint64_t offset = std::uint64_t{piece} * piece_bytes;
  if (offset >= bytes)
    return {};
  return {offset, static_cast<std::size_t>(
                      std::min<std::uint64_t>(piece_bytes, bytes - offset))};
}

} // namespace

std::uint32_t piece_bytes_for(std::uint64_t bytes) {
  std::uint32_t size = limits::least_piece_bytes;
  auto more_than = [&](std::uint32_t pieces) {
    return bytes > std::uint64_t{size} * pieces;
  };
  while (size < limits::usual_piece_bytes
         && more_than(limits::pieces_passed_on))
    size *= 2;
  while (size < max_body_bytes && more_than(limits::pieces_wanted))
    size *= 2;
  return size;
}

piece_extent extent_of(const state_manifest& manifest, std::uint32_t piece) {
  return extent(manifest.bytes, manifest.piece_bytes, piece);
}

digest listing_of(const state_manifest& x) {
  std::string all;
  for (auto number :
       {x.step, x.history_samples, x.bytes, std::uint64_t{x.piece_bytes},
        x.samples, std::uint64_t{x.mean}})
    append_little_endian(all, number);
  append_id(all, x.state);
  for (auto& piece : x.pieces)
    append_id(all, piece);
  return digest_of(all.data(), all.size());
}

std::string shape_problem(const state_manifest& x, std::uint64_t values,
                          unsigned moments) {
  const std::string what = x.mean ? "mean" : "training state";
  auto bytes = x.mean ? sizeof(float) * values : state_bytes(values, moments);
  if (values > max_state_values || x.bytes != bytes)
    return "the donor offers a " + what + " of " + std::to_string(x.bytes)
           + " bytes, but this model's has " + std::to_string(bytes);
  if (x.piece_bytes != piece_bytes_for(bytes)
      || x.pieces.size() != (bytes + x.piece_bytes - 1) / x.piece_bytes)
    return "the donor cuts its " + what + " into other pieces ("
           + std::to_string(x.piece_bytes)
           + " bytes); use the same version of Potluck everywhere";
  if (!x.mean
      && (x.recent.empty() || x.recent.size() > max_recent_digests
          || x.recent.front() != x.state))
    return "the donor's list of recent digests is malformed";
  return {};
}

state_manifest manifest_of(const passed_mean& mean) {
  state_manifest x;
  x.available = true;
  x.mean = true;
  x.step = mean.step;
  x.samples = mean.samples;
  x.history_samples = mean.history_samples;
  x.state = mean.after;
  x.bytes = sizeof(float) * mean.values->size();
  x.piece_bytes = piece_bytes_for(x.bytes);
  for (std::uint32_t i = 0; extent_of(x, i).size > 0; ++i) {
    auto piece = piece_of(mean, i);
    x.pieces.push_back(digest_of(piece.data, piece.size));
  }
  return x;
}

shared_bytes piece_of(const passed_mean& mean, std::uint32_t piece) {
  auto bytes = sizeof(float) * mean.values->size();
  auto place = extent(bytes, piece_bytes_for(bytes), piece);
  if (place.size == 0)
    return {};
  auto data = reinterpret_cast<const std::uint8_t*>(mean.values->data());
  return {mean.values, data + place.offset, place.size};
}

} // namespace potluck
