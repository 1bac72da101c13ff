#include "models/text/tokenizer.hpp"

#include <array>
#include <cstring>
#include <stdexcept>

#include "models/text/tokenizer_library.hpp"
#include "models/text/training_sentences.hpp"

namespace potluck {

namespace {

/// Encoding needs memory in proportion to the longest piece of text.
constexpr std::size_t max_encoded_bytes = 1 << 16;

/// Shares of the text's characters that get pieces of their own, tried in this
/// order: a small vocabulary has no room for all of a large alphabet.
constexpr std::array<double, 3> coverages{0.9995, 0.995, 0.98};

constexpr std::array<const char*, special_token::count> special_pieces{
    "<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"};

void keep_text(void* context, const void* bytes, std::size_t size) {
  static_cast<std::string*>(context)->assign(static_cast<const char*>(bytes),
                                             size);
}

/// Appends numbers. A failure's reason arrives here too and is appended as
/// nonsense, which does not matter: the caller throws.
void append_ids(void* context, const void* bytes, std::size_t size) {
  auto& ids = *static_cast<std::vector<std::int32_t>*>(context);
  const auto before = ids.size();
  ids.resize(before + size / sizeof(std::int32_t));
  if (ids.size() > before)
    std::memcpy(ids.data() + before, bytes,
                (ids.size() - before) * sizeof(std::int32_t));
}

/// An open tokenizer implies that the library is open.
const potluck_tokenizer_interface& library() {
  auto opened = tokenizer_library();
  if (!opened)
    throw std::runtime_error(opened.error());
  return **opened;
}

} // namespace

expected<std::string> tokenizer::learn(const std::string& text,
                                       unsigned vocabulary) {
  auto opened = tokenizer_library();
  if (!opened)
    return failure{opened.error()};
  const auto sentences = training_sentences(text);
  if (sentences.empty())
    return failure{"The text to train on holds nothing but white space: name "
                   "another file or folder."};
  if (vocabulary <= special_token::count)
    return failure{"A vocabulary needs more than "
                   + std::to_string(special_token::count)
                   + " tokens: raise the setting vocabulary."};
  std::vector<const char*> starts;
  std::vector<std::size_t> sizes;
  for (auto sentence : sentences) {
    starts.push_back(sentence.data());
    sizes.push_back(sentence.size());
  }
  std::string result;
  for (double coverage : coverages)
    if ((*opened)->learn(starts.data(), sizes.data(), starts.size(), vocabulary,
                         coverage, keep_text, &result))
      return result;
  return failure{"A vocabulary of " + std::to_string(vocabulary)
                 + " tokens cannot be learnt from this text: raise the setting "
                   "vocabulary or add text ("
                 + result + ")."};
}

expected<std::unique_ptr<tokenizer>>
tokenizer::open(const std::string& model_bytes) {
  auto opened = tokenizer_library();
  if (!opened)
    return failure{opened.error()};
  const failure mend{"The run's tokenizer is damaged or not one that potluck "
                     "wrote: start the run from its text again."};
  void* handle = nullptr;
  std::string reason;
  if (!(*opened)->open(model_bytes.data(), model_bytes.size(), &handle,
                       keep_text, &reason))
    return mend;
  std::unique_ptr<tokenizer> result(new tokenizer(handle));
  if (result->vocabulary() <= special_token::count)
    return mend;
  for (std::uint32_t id = 0; id < special_pieces.size(); ++id) {
    std::string piece;
    (*opened)->piece(handle, id, keep_text, &piece);
    if (piece != special_pieces[id])
      return mend;
  }
  return result;
}

tokenizer::~tokenizer() {
  library().close(handle_);
}

std::vector<std::int32_t> tokenizer::encode(std::string_view text) const {
  const auto& functions = library();
  std::vector<std::int32_t> result;
  for_each_sentence(text, max_encoded_bytes, [&](std::string_view part) {
    if (!functions.encode(handle_, part.data(), part.size(), append_ids,
                          &result))
      throw std::runtime_error("The tokenizer cannot encode this text.");
  });
  return result;
}

std::string tokenizer::decode(const std::vector<std::int32_t>& ids) const {
  std::string result;
  if (!library().decode(handle_, ids.data(), ids.size(), keep_text, &result))
    throw std::runtime_error("The tokenizer cannot decode these tokens.");
  return result;
}

unsigned tokenizer::vocabulary() const {
  return library().vocabulary(handle_);
}

} // namespace potluck
