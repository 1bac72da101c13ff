#include "tools/script/script_module.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <new>
#include <set>
#include <sstream>

#include <ATen/ATen.h>
#include <caffe2/serialize/in_memory_adapter.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/serialization/import.h>

#include "runtime/state/layout_text.hpp"
#include "tools/script/operator_list.hpp"

namespace potluck {

namespace {

constexpr std::size_t longest_reason = 400;

/// Of what LibTorch throws: its last line, which is the reason, and where in
/// the code it was.
std::string reason_in(const std::string& text) {
  std::string reason, where;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos)
      continue;
    line.erase(0, begin);
    if (line.compare(0, 6, "File \"") == 0)
      where = line;
    else if (line.find("~~~") == std::string::npos
             && line.compare(0, 5, "frame") != 0)
      reason = line;
  }
  auto result = where.empty() ? reason : reason + " (" + where + ")";
  for (auto& c : result)
    if (c < 0x20 || c > 0x7e)
      c = ' ';
  return result.substr(0, longest_reason);
}

/// Calls `job`, and turns what LibTorch throws into the reason.
template <class Result, class Job>
expected<Result> guarded(const char* what, Job job) {
  const auto failed = [&](const std::string& text) {
    // LibTorch has no exception of its own for it.
    if (text.find("can't allocate memory") != std::string::npos
        || text.find("std::bad_alloc") != std::string::npos)
      throw std::bad_alloc{};
    return failure{std::string{what} + reason_in(text)};
  };
  try {
    return job();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const c10::Error& e) {
    return failed(e.what_without_backtrace());
  } catch (const std::exception& e) {
    return failed(e.what());
  }
}

/// Of functions that call functions.
constexpr int deepest_calls = 100;

bool has_calls(const torch::jit::Block* block) {
  for (const auto* node : block->nodes()) {
    if (node->kind() == torch::jit::prim::CallFunction
        || node->kind() == torch::jit::prim::CallMethod)
      return true;
    for (const auto* inner : node->blocks())
      if (has_calls(inner))
        return true;
  }
  return false;
}

void add_refused(const torch::jit::Block* block, std::set<std::string>& to) {
  for (const auto* node : block->nodes()) {
    const std::string name = node->kind().toQualString();
    if (!is_allowed_operator(name))
      to.insert(name);
    for (const auto* inner : node->blocks())
      add_refused(inner, to);
  }
}

/// As the Python package has it (decays_by_default).
bool decays(std::string name, std::int64_t dimensions) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  return dimensions > 1 && name.find("bias") == std::string::npos
         && name.find("norm") == std::string::npos;
}

/// The loss that forward has given; undefined, and `problem` set, where it is
/// none.
at::Tensor loss_in(const c10::IValue& answer, std::string& problem) {
  c10::IValue found = answer;
  if (answer.isGenericDict()) {
    const auto table = answer.toGenericDict();
    const auto at = table.find("loss");
    if (at == table.end()) {
      problem = "gives no loss: forward's dictionary has no entry \"loss\"";
      return {};
    }
    found = at->value();
  }
  if (!found.isTensor() || !found.toTensor().defined()) {
    problem = "gives no loss: forward gives " + answer.tagKind()
              + ", and has to give the loss, a tensor of one value, or a "
                "dictionary with an entry \"loss\"";
    return {};
  }
  const auto loss = found.toTensor();
  if (loss.numel() == 1 && loss.is_floating_point())
    return loss.reshape({});
  std::ostringstream shape;
  shape << loss.sizes();
  problem = "gives no loss: what forward gives has the shape " + shape.str()
            + " of " + std::string{toString(loss.scalar_type())}
            + ", and has to be one value; take its mean over the samples";
  return {};
}

std::vector<std::pair<std::string, double>>
metrics_in(const c10::IValue& answer) {
  std::vector<std::pair<std::string, double>> result;
  if (!answer.isGenericDict())
    return result;
  for (const auto& x : answer.toGenericDict()) {
    if (!x.key().isString() || !x.value().isTensor()
        || !scripting::names_metric(x.key().toStringRef())
        || result.size() == scripting::most_metrics)
      continue;
    const auto value = x.value().toTensor();
    if (value.defined() && value.numel() == 1 && !value.is_complex())
      result.emplace_back(x.key().toStringRef(), value.item<double>());
  }
  return result;
}

} // namespace

expected<script_module> script_module::load(std::string_view archive,
                                            bool averages) {
  return guarded<script_module>(
      "cannot be loaded: ", [&]() -> expected<script_module> {
        auto reader = std::make_shared<caffe2::serialize::MemoryReadAdapter>(
            archive.data(), static_cast<off_t>(archive.size()));
        auto module = torch::jit::load(std::move(reader), at::kCPU);
        if (!module.find_method("forward"))
          return failure{"has no method forward; the module that is saved has "
                         "to have one, which gives the loss"};
        return script_module{std::move(module), averages};
      });
}

script_module::script_module(torch::jit::Module module, bool averages)
    : module_(std::move(module)) {
  std::set<const void*> seen;
  for (const auto& x : module_.named_parameters())
    if (x.value.requires_grad()
        && seen.insert(x.value.unsafeGetTensorImpl()).second)
      trained_.push_back({x.name, x.value});
  if (!averages)
    return;
  for (const auto& x : module_.named_buffers())
    if (x.value.defined() && x.value.scalar_type() == at::kFloat
        && x.value.layout() == at::kStrided && x.value.device().is_cpu()
        && seen.insert(x.value.unsafeGetTensorImpl()).second)
      averaged_.push_back({x.name, x.value});
}

std::vector<std::string> script_module::refused_operators() const {
  const auto graph = module_.get_method("forward").graph()->copy();
  // One level at a time. What cannot be inlined stays a call, and is refused.
  for (int i = 0; i < deepest_calls && has_calls(graph->block()); ++i)
    torch::jit::Inline(*graph);
  std::set<std::string> found;
  add_refused(graph->block(), found);
  return {found.begin(), found.end()};
}

expected<std::vector<std::string>> script_module::arguments() const {
  const auto method = module_.get_method("forward");
  std::vector<std::string> result;
  const auto& all = method.function().getSchema().arguments();
  for (std::size_t i = 1; i < all.size(); ++i) { // The first is the module.
    const auto& x = all[i];
    if (x.type()->kind() != c10::TypeKind::TensorType)
      return failure{"has a forward whose argument " + x.name() + " is a "
                     + x.type()->str() + ", and has to be a tensor"};
    result.push_back(x.name());
  }
  return result;
}

expected<model_layout> script_module::layout() const {
  model_layout result;
  for (const auto& x : trained_) {
    if (x.values.scalar_type() != at::kFloat || !x.values.device().is_cpu()
        || x.values.layout() != at::kStrided)
      return failure{"has a tensor " + x.name + " of "
                     + toString(x.values.scalar_type())
                     + ", which has to be float32; save the module after "
                       "model.float()"};
    const auto sizes = x.values.sizes();
    std::vector<std::int64_t> shape{sizes.begin(), sizes.end()};
    if (auto problem = problem_with_tensor(result, x.name, shape);
        !problem.empty())
      return failure{"cannot be trained: " + problem};
    result.add(x.name, std::move(shape),
               decays(x.name, static_cast<std::int64_t>(sizes.size())), 0, 0);
  }
  if (result.entries().empty())
    return failure{"has no parameters that require gradients, so there is "
                   "nothing to train"};
  for (const auto& x : averaged_) {
    auto shape = x.values.sizes().vec();
    if (auto problem = problem_with_tensor(result, x.name, shape);
        !problem.empty())
      return failure{"cannot be trained: " + problem};
    result.add_buffer(x.name, std::move(shape), 0);
  }
  return result;
}

void script_module::copy_values(float* to) const {
  for (const auto* all : {&trained_, &averaged_})
    for (const auto& x : *all) {
      const auto values = x.values.detach().contiguous();
      std::copy_n(values.data_ptr<float>(), values.numel(), to);
      to += values.numel();
    }
}

std::string script_module::without_values() {
  const at::NoGradGuard guard;
  for (auto* all : {&trained_, &averaged_})
    for (auto& x : *all)
      x.values.set_data(at::zeros({1}).expand(x.values.sizes().vec()));
  std::ostringstream out;
  module_.save(out);
  return out.str();
}

void script_module::use_memory(const float* parameters, float* gradient) {
  const at::NoGradGuard guard;
  for (auto& x : trained_) {
    const auto sizes = x.values.sizes().vec();
    const auto count = x.values.numel();
    x.values.set_data(at::from_blob(const_cast<float*>(parameters), sizes));
    gradients_.push_back(at::from_blob(gradient, sizes));
    x.values.mutable_grad() = gradients_.back();
    parameters += count;
    gradient += count;
  }
  for (auto& x : averaged_) {
    const auto sizes = x.values.sizes().vec();
    const auto count = x.values.numel();
    x.values.set_data(at::zeros(sizes)); // Which forward may write to.
    x.values = at::from_blob(const_cast<float*>(parameters), sizes);
    changes_.push_back(at::from_blob(gradient, sizes));
    parameters += count;
    gradient += count;
  }
}

expected<std::vector<at::Tensor>> script_module::buffers() const {
  std::map<std::string, at::Tensor> all;
  for (const auto& x : module_.named_buffers())
    all[x.name] = x.value;
  std::vector<at::Tensor> result;
  for (const auto& x : averaged_) {
    const auto here = all.find(x.name);
    if (here == all.end() || !here->second.defined()
        || here->second.sizes() != x.values.sizes()
        || here->second.scalar_type() != at::kFloat)
      return failure{"changes the buffer " + x.name
                     + " to another shape or type"};
    result.push_back(here->second);
  }
  return result;
}

expected<bool> script_module::put_buffers() {
  const at::NoGradGuard guard;
  auto here = buffers();
  if (!here)
    return failure{here.error()};
  for (std::size_t i = 0; i < averaged_.size(); ++i)
    (*here)[i].copy_(averaged_[i].values);
  return true;
}

expected<bool> script_module::add_changes(std::uint64_t samples) {
  const at::NoGradGuard guard;
  auto here = buffers();
  if (!here)
    return failure{here.error()};
  for (std::size_t i = 0; i < averaged_.size(); ++i)
    changes_[i].add_(averaged_[i].values - (*here)[i],
                     static_cast<double>(samples));
  return true;
}

expected<pass_result> script_module::pass(const scripting::pass_head& how,
                                          std::vector<c10::IValue> batch) {
  const bool trains = how.kind == scripting::pass_kind::training;
  const auto compute = [&]() -> expected<pass_result> {
    if (module_.is_training() != trains)
      module_.train(trains);
    if (!averaged_.empty())
      if (auto done = put_buffers(); !done)
        return failure{done.error()};
    at::manual_seed(how.seed);
    const at::AutoGradMode recording(trains);
    const auto answer = module_.get_method("forward")(std::move(batch));
    std::string problem;
    auto loss = loss_in(answer, problem);
    if (!loss.defined())
      return failure{problem};
    pass_result result{loss.item<double>()};
    if (!trains)
      result.metrics = metrics_in(answer);
    if (!trains || !std::isfinite(result.loss))
      return result;
    if (!loss.requires_grad())
      return failure{"gives a loss that does not depend on any parameter"};
    (loss * static_cast<double>(how.samples)).backward();
    for (std::size_t i = 0; i < trained_.size(); ++i) {
      const auto& sum = trained_[i].values.grad();
      if (!sum.defined() || sum.data_ptr() != gradients_[i].data_ptr())
        return failure{"moves the gradient of " + trained_[i].name
                       + " elsewhere"};
    }
    if (!averaged_.empty())
      if (auto done = add_changes(how.samples); !done)
        return failure{done.error()};
    return result;
  };
  return guarded<pass_result>("fails in forward: ", compute);
}

} // namespace potluck
