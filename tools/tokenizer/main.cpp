/// `potluck-tokenizer`: SentencePiece for `models/text/tokenizer`, which starts
/// it and speaks to it through a socket; nobody types it.
///
/// A program of its own, since a run's model is a stranger's and SentencePiece
/// does not survive every one; and since Debian's libsentencepiece brings an
/// old protobuf whose symbols LibTorch's libraries would find instead of their
/// own. It links nothing of ours but the inside of the sandbox.
#include <cstdio>
#include <cstring>
#include <optional>

#include <fcntl.h>

#include "models/text/tokenizer_protocol.hpp"
#include "runtime/sandbox/frames.hpp"
#include "runtime/sandbox/inside/confinement.hpp"
#include "runtime/sandbox/inside/service.hpp"
#include "tools/tokenizer/word_pieces.hpp"

using namespace potluck;

namespace {

/// The next of the texts. A lack of bytes ends them, as the end does.
std::string_view next_text(byte_reader& from) {
  return from.bytes(from.integer<std::uint32_t>());
}

expected<std::string> learn(byte_reader wanted) {
  const auto vocabulary = wanted.integer<std::uint32_t>();
  std::vector<std::string> texts;
  while (!wanted.done() && !wanted.lacks())
    texts.emplace_back(next_text(wanted));
  return learn_word_pieces(texts, vocabulary);
}

class confined_model {
public:
  expected<std::string> answer(std::uint8_t kind, const std::string& body) {
    switch (static_cast<tokenizing::request>(kind)) {
      case tokenizing::request::open:
        return open(body);
      case tokenizing::request::encode:
        return encode(byte_reader{body});
      case tokenizing::request::learn:
        break;
    }
    return failure{"there is no such request"};
  }

private:
  expected<std::string> open(const std::string& bytes) {
    auto model = word_pieces::open(bytes);
    if (!model)
      return failure{model.error()};
    model_ = std::move(*model);
    std::string result;
    append_little_endian(result, model_->vocabulary());
    return result;
  }

  expected<std::string> encode(byte_reader texts) const {
    if (!model_)
      return failure{"there is no model"};
    std::string result;
    while (!texts.done() && !texts.lacks()) {
      const auto tokens = model_->encode(next_text(texts));
      for (auto token : tokens)
        append_little_endian(result, static_cast<std::uint32_t>(token));
      if (result.size() > tokenizing::largest_answer)
        return failure{"these are too many tokens"};
    }
    return result;
  }

  std::optional<word_pieces> model_;
};

} // namespace

int main(int argc, char** argv) {
  if (::fcntl(sandbox::channel, F_GETFD) < 0) {
    std::fputs("potluck-tokenizer: potluck starts this program where it needs "
               "it; there is nothing to type.\n",
               stderr);
    return 2;
  }
  if (argc > 1 && std::strcmp(argv[1], tokenizing::learning) == 0) {
    sandbox::serve(tokenizing::greeting, tokenizing::largest_request,
                   [](std::uint8_t, const std::string& body) {
                     return learn(byte_reader{body});
                   });
    return 0;
  }
  const auto problem
      = sandbox::confine({tokenizing::memory_bytes, tokenizing::cpu_seconds});
  if (!problem.empty()) {
    sandbox::decline(problem);
    return 1;
  }
  confined_model model;
  sandbox::serve(tokenizing::greeting, tokenizing::largest_request,
                 [&](std::uint8_t kind, const std::string& body) {
                   return model.answer(kind, body);
                 });
}
