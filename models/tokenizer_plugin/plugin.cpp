/// SentencePiece behind the C interface: the only file that includes it.
///
/// No exception leaves this file, and no memory changes hands.
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include "models/tokenizer_plugin/interface.h"

namespace {

using sentencepiece::SentencePieceProcessor;
using sentencepiece::SentencePieceTrainer;

void sink_text(potluck_bytes_sink sink, void* context, std::string_view text) {
  sink(context, text.data(), text.size());
}

/// Runs `body`, which returns a status and sinks its own result; sinks the
/// reason when it fails.
template <class Body>
int guarded(potluck_bytes_sink sink, void* context, Body body) {
  try {
    sentencepiece::util::Status status = body();
    if (status.ok())
      return 1;
    sink_text(sink, context, status.ToString());
  } catch (const std::exception& e) {
    sink_text(sink, context, e.what());
  } catch (...) {
    sink_text(sink, context, "unknown exception");
  }
  return 0;
}

/// Hands the caller's sentences to the trainer one by one.
class sentence_walk : public sentencepiece::SentenceIterator {
public:
  sentence_walk(const char* const* sentences, const size_t* sizes, size_t count)
      : sentences_(sentences), sizes_(sizes), count_(count) {
    load();
  }
  bool done() const override {
    return at_ == count_;
  }
  void Next() override {
    ++at_;
    load();
  }
  const std::string& value() const override {
    return current_;
  }
  sentencepiece::util::Status status() const override {
    return {};
  }

private:
  void load() {
    if (at_ < count_)
      current_.assign(sentences_[at_], sizes_[at_]);
  }

  const char* const* sentences_;
  const size_t* sizes_;
  size_t count_;
  size_t at_ = 0;
  std::string current_;
};

int learn(const char* const* sentences, const size_t* sizes, size_t count,
          uint32_t vocabulary, double character_coverage,
          potluck_bytes_sink sink, void* context) {
  return guarded(sink, context, [&] {
    // One thread and no shuffling: the same text gives the same model.
    const std::unordered_map<std::string, std::string> options{
        {"model_type", "unigram"},
        {"vocab_size", std::to_string(vocabulary)},
        {"hard_vocab_limit", "false"},
        {"character_coverage", std::to_string(character_coverage)},
        {"num_threads", "1"},
        {"shuffle_input_sentence", "false"},
        {"byte_fallback", "false"},
        {"pad_id", "0"},
        {"unk_id", "1"},
        {"bos_id", "-1"},
        {"eos_id", "-1"},
        {"pad_piece", "<pad>"},
        {"unk_piece", "<unk>"},
        {"control_symbols", "[CLS],[SEP],[MASK]"},
        {"minloglevel", "3"},
    };
    sentence_walk walk(sentences, sizes, count);
    std::string model;
    auto status = SentencePieceTrainer::Train(options, &walk, &model);
    if (status.ok())
      sink_text(sink, context, model);
    return status;
  });
}

int open(const void* model, size_t size, void** handle, potluck_bytes_sink sink,
         void* context) {
  *handle = nullptr;
  return guarded(sink, context, [&] {
    auto opened = std::make_unique<SentencePieceProcessor>();
    auto status = opened->LoadFromSerializedProto(
        std::string(static_cast<const char*>(model), size));
    if (status.ok())
      *handle = opened.release();
    return status;
  });
}

void close(void* handle) {
  delete static_cast<SentencePieceProcessor*>(handle);
}

const SentencePieceProcessor& processor(const void* handle) {
  return *static_cast<const SentencePieceProcessor*>(handle);
}

uint32_t vocabulary(const void* handle) {
  return static_cast<uint32_t>(processor(handle).GetPieceSize());
}

void piece(const void* handle, uint32_t id, potluck_bytes_sink sink,
           void* context) {
  if (id < vocabulary(handle))
    sink_text(sink, context, processor(handle).IdToPiece(static_cast<int>(id)));
  else
    sink_text(sink, context, "");
}

int encode(const void* handle, const char* text, size_t size,
           potluck_bytes_sink sink, void* context) {
  return guarded(sink, context, [&] {
    std::vector<int> ids;
    auto status = processor(handle).Encode(std::string_view(text, size), &ids);
    static_assert(sizeof(int) == sizeof(int32_t));
    if (status.ok())
      sink(context, ids.data(), ids.size() * sizeof(int));
    return status;
  });
}

int decode(const void* handle, const int32_t* ids, size_t count,
           potluck_bytes_sink sink, void* context) {
  return guarded(sink, context, [&] {
    std::vector<int> known;
    known.reserve(count);
    for (size_t i = 0; i < count; ++i)
      if (ids[i] >= 0 && static_cast<uint32_t>(ids[i]) < vocabulary(handle))
        known.push_back(ids[i]);
    std::string text;
    auto status = processor(handle).Decode(known, &text);
    if (status.ok())
      sink_text(sink, context, text);
    return status;
  });
}

} // namespace

extern "C" __attribute__((visibility("default")))
const potluck_tokenizer_interface*
potluck_tokenizer_plugin() {
  static const potluck_tokenizer_interface table{
      POTLUCK_TOKENIZER_INTERFACE_VERSION,
      learn,
      open,
      close,
      vocabulary,
      piece,
      encode,
      decode,
  };
  return &table;
}
