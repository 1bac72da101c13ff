#include "tools/script/script_service.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <unistd.h>

#include "models/blas_kernels.hpp"
#include "models/flushed_denormals.hpp"
#include "models/script/script_archive.hpp"
#include "models/tensor_memory.hpp"
#include "runtime/sandbox/frames.hpp"
#include "runtime/sandbox/inside/confinement.hpp"
#include "runtime/sandbox/inside/service.hpp"
#include "runtime/state/layout_text.hpp"
#include "tools/script/script_module.hpp"

namespace potluck {

namespace {

struct lent_part {
  char* data = nullptr;
  std::size_t bytes = 0;
};

/// Maps what the owner lends.
bool map_lent(std::size_t bytes, lent_part& out) {
  if (bytes == 0)
    return true;
  auto* all = static_cast<char*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                        MAP_SHARED, sandbox::lent_memory, 0));
  if (all == MAP_FAILED)
    return false;
  out = {all, bytes};
  return true;
}

/// Bytes of addresses that this process has by now.
std::uint64_t addresses_in_use() {
  std::uint64_t pages = 0;
  std::ifstream{"/proc/self/statm"} >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// LibTorch makes threads and looks at the machine when it first computes: that
/// has to be done while it can.
void warm_up(int threads) {
  at::set_num_interop_threads(1);
  at::set_num_threads(threads);
  at::parallel_for(0, threads, 1, [](std::int64_t, std::int64_t) {});
  const auto image = at::ones({2, 4, 16, 16}).requires_grad_(true);
  const auto kernel = at::ones({8, 4, 3, 3}).requires_grad_(true);
  const auto matrix = at::ones({256, 256}).requires_grad_(true);
  const auto scores = at::conv2d(image, kernel, {}, 1, 1).sum()
                      + at::matmul(matrix, matrix).sum();
  scores.backward();
  at::manual_seed(0); // The first generator reads /dev/urandom.
}

class confined_script {
public:
  confined_script(lent_part memory, const script_checks& checks)
      : memory_(memory), checks_(checks) {
  }

  expected<std::string> answer(std::uint8_t kind, const std::string& body) {
    switch (static_cast<scripting::request>(kind)) {
      case scripting::request::describe:
        return describe(body);
      case scripting::request::open:
        return open(body);
      case scripting::request::pass:
        return pass(byte_reader{body});
    }
    return failure{"there is no such request"};
  }

private:
  struct loaded {
    script_module module;
    model_layout layout;
    std::string head; ///< Of an answer: arguments and layout.
  };

  /// @param body Of a request: whether buffers are averaged, and the file.
  expected<loaded> load(const std::string& body) const {
    byte_reader from{body};
    const bool averages = from.integer<std::uint8_t>() != 0;
    const std::string file{from.bytes(body.empty() ? 0 : body.size() - 1)};
    auto archive = checks_.archive ? checked_archive(file) : file;
    if (!archive)
      return failure{archive.error()};
    auto module = script_module::load(*archive, averages);
    if (!module)
      return failure{module.error()};
    if (const auto refused = module->refused_operators();
        checks_.operators && !refused.empty()) {
      std::string names;
      for (const auto& name : refused)
        names += (names.empty() ? "" : ", ") + name;
      return failure{"uses operators that a run's model may not use: " + names
                     + "; compute without them"};
    }
    auto arguments = module->arguments();
    if (!arguments)
      return failure{arguments.error()};
    auto layout = module->layout();
    if (!layout)
      return failure{layout.error()};
    std::string names;
    for (const auto& name : *arguments)
      names += (names.empty() ? "" : ",") + name;
    std::string head;
    scripting::append_part(head, names);
    scripting::append_part(head, to_layout_text(*layout));
    return loaded{std::move(*module), std::move(*layout), std::move(head)};
  }

  expected<std::string> describe(const std::string& body) const {
    auto x = load(body);
    if (!x)
      return failure{x.error()};
    std::vector<float> values(x->layout.values());
    x->module.copy_values(values.data());
    // Once more, without what loading does not need.
    auto rest = checked_archive(x->module.without_values());
    if (!rest)
      return failure{rest.error()};
    auto result = std::move(x->head);
    scripting::append_part(result, *rest);
    result.append(reinterpret_cast<const char*>(values.data()),
                  values.size() * sizeof(float));
    return result;
  }

  expected<std::string> open(const std::string& body) {
    auto x = load(body);
    if (!x)
      return failure{x.error()};
    const auto values = x->layout.values();
    if (memory_.bytes != scripting::lent_bytes(values))
      return failure{"has other tensors than the run"};
    const auto offset = scripting::gradient_offset(values);
    if (::mprotect(memory_.data, offset, PROT_READ) != 0)
      return failure{"cannot be kept from its parameters"};
    x->module.use_memory(reinterpret_cast<const float*>(memory_.data),
                         reinterpret_cast<float*>(memory_.data + offset));
    module_ = std::move(x->module);
    return std::move(x->head);
  }

  expected<std::string> pass(byte_reader from) {
    if (!module_)
      return failure{"is not open"};
    scripting::pass_head how;
    how.kind = static_cast<scripting::pass_kind>(from.integer<std::uint8_t>());
    how.seed = from.integer<std::uint64_t>();
    how.samples = from.integer<std::uint64_t>();
    std::vector<c10::IValue> batch;
    while (!from.done() && !from.lacks())
      batch.emplace_back(next_tensor(from));
    const auto result = module_->pass(how, std::move(batch));
    if (!result)
      return failure{result.error()};
    std::string answer;
    const auto add = [&](double x) {
      answer.append(reinterpret_cast<const char*>(&x), sizeof x);
    };
    add(result->loss);
    for (const auto& [name, value] : result->metrics) {
      scripting::append_part(answer, name);
      add(value);
    }
    return answer;
  }

  static at::Tensor next_tensor(byte_reader& from) {
    const auto type
        = static_cast<scripting::element>(from.integer<std::uint8_t>());
    std::vector<std::int64_t> shape(from.integer<std::uint8_t>());
    for (auto& extent : shape)
      extent = static_cast<std::int64_t>(from.integer<std::uint64_t>());
    auto result = at::empty(
        shape, type == scripting::element::int64 ? at::kLong : at::kFloat);
    const auto bytes = from.bytes(result.nbytes());
    std::memcpy(result.data_ptr(), bytes.data(), bytes.size());
    return result;
  }

  const lent_part memory_;
  const script_checks checks_;
  std::optional<script_module> module_;
};

} // namespace

int serve_script(int argc, char** argv, const script_checks& checks) {
  if (::fcntl(sandbox::channel, F_GETFD) < 0 || argc != 4) {
    std::fputs("potluck-script: potluck starts this program where it needs it; "
               "there is nothing to type.\n",
               stderr);
    return 2;
  }
  use_better_kernels(argv);
  const auto memory_bytes = std::strtoull(argv[1], nullptr, 10);
  const auto threads = std::atoi(argv[2]);
  lent_part lent;
  if (!map_lent(std::strtoull(argv[3], nullptr, 10), lent)) {
    sandbox::decline("lent memory cannot be mapped");
    return 1;
  }
  // LibTorch's threads begin as this one is.
  const flushed_denormals flushed;
  recycle_tensor_memory();
  torch::jit::setGraphExecutorOptimize(false);
  warm_up(threads);
  const auto problem
      = sandbox::confine({addresses_in_use() + memory_bytes, 0, true});
  if (!problem.empty()) {
    sandbox::decline(problem);
    return 1;
  }
  confined_script script{lent, checks};
  sandbox::serve(scripting::greeting, scripting::largest_request,
                 [&](std::uint8_t kind, const std::string& body) {
                   return script.answer(kind, body);
                 });
  return 0;
}

} // namespace potluck
