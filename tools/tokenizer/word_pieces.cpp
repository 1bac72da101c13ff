#include "tools/tokenizer/word_pieces.hpp"

#include <array>
#include <stdexcept>
#include <unordered_map>

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

namespace potluck {

namespace {

using sentencepiece::SentencePieceProcessor;
using sentencepiece::SentencePieceTrainer;

constexpr std::array<const char*, 5> special_pieces{"<pad>", "<unk>", "[CLS]",
                                                    "[SEP]", "[MASK]"};

/// The next special piece that is written out in a text.
struct written_piece {
  std::size_t at; ///< The text's length: there is none.
  int id;
  std::size_t size;
};

written_piece next_special(std::string_view text) {
  for (auto at = text.find_first_of("<["); at != std::string_view::npos;
       at = text.find_first_of("<[", at + 1))
    for (std::size_t id = 0; id < special_pieces.size(); ++id) {
      const std::string_view piece{special_pieces[id]};
      if (text.compare(at, piece.size(), piece) == 0)
        return {at, static_cast<int>(id), piece.size()};
    }
  return {text.size(), 0, 0};
}

/// Two backquotes or two apostrophes are a quotation mark.
std::string with_one_quote(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool twice = (text[i] == '`' || text[i] == '\'')
                       && i + 1 < text.size() && text[i + 1] == text[i];
    result += twice ? '"' : text[i];
    i += twice ? 1 : 0;
  }
  return result;
}

/// What is to be learnt from a text: no special piece.
std::string learnable(std::string_view text) {
  std::string result;
  for (;;) {
    const auto next = next_special(text);
    result += with_one_quote(text.substr(0, next.at));
    if (next.size == 0)
      return result;
    result += ' ';
    text.remove_prefix(next.at + next.size);
  }
}

/// Shares of the text's characters that get pieces of their own, tried in this
/// order: a small vocabulary has no room for all of a large alphabet.
constexpr std::array<const char*, 3> coverages{"0.9995", "0.995", "0.98"};

/// Hands the texts to the trainer one by one.
class text_walk : public sentencepiece::SentenceIterator {
public:
  explicit text_walk(const std::vector<std::string>& texts) : texts_(texts) {
    prepare();
  }
  bool done() const override {
    return at_ == texts_.size();
  }
  void Next() override {
    ++at_;
    prepare();
  }
  const std::string& value() const override {
    return now_;
  }
  sentencepiece::util::Status status() const override {
    return {};
  }

private:
  void prepare() {
    if (!done())
      now_ = learnable(texts_[at_]);
  }

  const std::vector<std::string>& texts_;
  std::size_t at_ = 0;
  std::string now_;
};

} // namespace

expected<std::string> learn_word_pieces(const std::vector<std::string>& texts,
                                        std::uint32_t vocabulary) {
  std::string reason;
  for (const char* coverage : coverages) {
    // One thread and no shuffling: the same text gives the same model.
    const std::unordered_map<std::string, std::string> options{
        {"model_type", "unigram"},
        {"vocab_size", std::to_string(vocabulary)},
        {"hard_vocab_limit", "false"},
        {"character_coverage", coverage},
        {"num_threads", "1"},
        {"shuffle_input_sentence", "false"},
        {"byte_fallback", "false"},
        {"pad_id", "0"},
        {"unk_id", "1"},
        {"bos_id", "-1"},
        {"eos_id", "-1"},
        {"pad_piece", special_pieces[0]},
        {"unk_piece", special_pieces[1]},
        {"control_symbols", "[CLS],[SEP],[MASK]"},
        {"minloglevel", "3"},
    };
    text_walk walk{texts};
    std::string model;
    const auto status = SentencePieceTrainer::Train(options, &walk, &model);
    if (status.ok())
      return model;
    reason = status.ToString();
  }
  return failure{reason};
}

word_pieces::word_pieces()
    : processor_(std::make_unique<SentencePieceProcessor>()) {
}
word_pieces::word_pieces(word_pieces&&) noexcept = default;
word_pieces& word_pieces::operator=(word_pieces&&) noexcept = default;
word_pieces::~word_pieces() = default;

expected<word_pieces> word_pieces::open(const std::string& bytes) {
  word_pieces result;
  const auto status = result.processor_->LoadFromSerializedProto(bytes);
  if (!status.ok())
    return failure{status.ToString()};
  if (result.vocabulary() <= special_pieces.size())
    return failure{"there are no pieces"};
  for (std::size_t id = 0; id < special_pieces.size(); ++id)
    if (result.processor_->IdToPiece(static_cast<int>(id))
        != special_pieces[id])
      return failure{"the first pieces are not the special ones"};
  return result;
}

std::uint32_t word_pieces::vocabulary() const {
  return static_cast<std::uint32_t>(processor_->GetPieceSize());
}

std::vector<int> word_pieces::encode(std::string_view text) const {
  std::vector<int> result, part;
  for (;;) {
    const auto next = next_special(text);
    const auto status
        = processor_->Encode(with_one_quote(text.substr(0, next.at)), &part);
    if (!status.ok())
      throw std::runtime_error(status.ToString());
    result.insert(result.end(), part.begin(), part.end());
    if (next.size == 0)
      return result;
    result.push_back(next.id);
    text.remove_prefix(next.at + next.size);
  }
}

} // namespace potluck
