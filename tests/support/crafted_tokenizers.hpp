/// SentencePiece models that nobody learnt: a stranger's, written byte by byte.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>

namespace potluck::support {

namespace crafted {

inline std::string varint(std::uint64_t x) {
  std::string result;
  for (; x > 127; x >>= 7)
    result += static_cast<char>((x & 127) | 128);
  return result + static_cast<char>(x);
}
inline std::string field(unsigned tag, const std::string& bytes) {
  return varint(tag << 3 | 2) + varint(bytes.size()) + bytes;
}
inline std::string field(unsigned tag, std::uint64_t x) {
  return varint(tag << 3) + varint(x);
}
inline std::string four_bytes(std::uint32_t x) {
  std::string result;
  for (int i = 0; i < 32; i += 8)
    result += static_cast<char>(x >> i);
  return result;
}

/// Of types of pieces: 1 is usual, 2 unknown, 3 a control symbol.
inline std::string piece(const std::string& text, float score,
                         std::uint64_t type = 1) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &score, sizeof(bits));
  return field(1, field(1, text) + varint(2 << 3 | 5) + four_bytes(bits)
                      + field(3, type));
}
inline std::string special() {
  return piece("<pad>", 0, 3) + piece("<unk>", 0, 2) + piece("[CLS]", 0, 3)
         + piece("[SEP]", 0, 3) + piece("[MASK]", 0, 3);
}
/// Letters alone, and at a word's beginning.
inline std::string letters(float score = -3) {
  std::string result;
  for (char c = 'a'; c <= 'z'; ++c)
    result += piece(std::string(1, c), score)
              + piece("\xE2\x96\x81" + std::string(1, c), score);
  return result;
}
/// A unigram model, with <unk> at 1, and neither <s> nor </s>.
inline std::string trainer() {
  const auto none = static_cast<std::uint64_t>(-1);
  return field(2, field(3, 1) + field(40, 1) + field(41, none) + field(42, none)
                      + field(43, 0));
}
/// What is written for characters: a trie of four-byte units, then texts.
inline std::string written_as(const std::string& trie, const std::string& texts,
                              std::uint32_t trie_bytes) {
  return field(3,
               field(1, "x") + field(2, four_bytes(trie_bytes) + trie + texts));
}
inline std::string written_as(const std::string& trie,
                              const std::string& texts) {
  return written_as(trie, texts, static_cast<std::uint32_t>(trie.size()));
}
inline std::string units(std::size_t count, std::uint32_t each) {
  std::string result;
  for (std::size_t i = 0; i < count; ++i)
    result += four_bytes(each);
  return result;
}
/// A sound trie in which the letter a leads to the first text.
inline std::string trie_of_a() {
  auto result = units(1024, 0);
  auto put = [&](std::size_t at, std::uint32_t x) {
    result.replace(4 * at, 4, four_bytes(x));
  };
  put(0, 256u << 10);
  put(256 ^ 'a', 'a' | 1u << 8 | 512u << 10);
  put(256 ^ 'a' ^ 512, 1u << 31);
  return result;
}

} // namespace crafted

/// One that does no harm: it has a token for each letter from a to z.
inline std::string harmless_tokenizer() {
  using namespace crafted;
  return special() + letters() + trainer();
}

/// What each is about, and its bytes. SentencePiece 0.1.97 reads some of them,
/// refuses others, and does not survive the rest.
inline std::map<std::string, std::string> crafted_tokenizers() {
  using namespace crafted;
  const auto usual = special() + letters() + trainer();
  const auto quiet = std::numeric_limits<float>::quiet_NaN();
  const auto endless = std::numeric_limits<float>::infinity();
  return {
      {"a piece of 200 KB",
       special() + letters() + piece(std::string(200000, 'a'), -1) + trainer()},
      {"a character map that leads nowhere",
       usual + written_as(units(1, 0x7FFFFE00), std::string(1, '\0'))},
      {"a character map full of ones",
       usual + written_as(units(256, 0xFFFFFFFF), "abc")},
      {"a character map that leads far away",
       usual + written_as(units(256, 0x7FFFFFFF), "abc")},
      {"a character map cut short", usual + written_as("abc", "", 4000)},
      {"a character map whose texts do not end",
       usual + written_as(trie_of_a(), std::string(64, 'b'))},
      {"a character map that makes much of little",
       usual
           + written_as(trie_of_a(),
                        std::string(60000, 'b') + std::string(1, '\0'))},
      {"half a model", usual.substr(0, usual.size() / 2)},
      {"a length beyond the end",
       usual + varint(1 << 3 | 2) + varint(INT32_MAX)},
      {"groups in groups", usual + std::string(1 << 20, '\x0B')},
      {"no pieces", trainer()},
      {"scores that are no numbers", special() + letters(quiet) + trainer()},
      {"endless scores",
       special() + letters(endless) + piece("aa", -endless) + trainer()},
      {"every piece twice", special() + letters() + letters() + trainer()},
      {"a piece of nothing", special() + piece("", -1) + letters() + trainer()},
      {"a piece of zeros",
       special() + piece(std::string(3, '\0'), -1) + letters() + trainer()},
      {"a piece that is not UTF-8",
       special() + piece("\xFF\xFE\x80", -1) + letters() + trainer()},
      {"an unknown piece that is not there",
       special() + letters() + field(2, field(3, 1) + field(40, 1000000))},
  };
}

} // namespace potluck::support
