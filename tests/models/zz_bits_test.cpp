#include <doctest/doctest.h>
#include <atomic>
#include <iostream>
#include "tests/models/fixture.hpp"
#include "tests/support/memory_experts.hpp"
using namespace potluck;
using namespace potluck::test;
using support::memory_experts;
TEST_CASE("zz bits") {
  for (std::string name : {"albert", "gpt", "mnist-ffn", "albert-dmoe", "mnist-dmoe"})
    for (std::string bits : {"float32", "bf16"}) {
      const bool moe = name.find("dmoe") != std::string::npos;
      if (moe && bits == "bf16") continue;
      const bool text = name[0] == 'a' || name[0] == 'g';
      std::vector<setting> own{{"hidden-size", "12"}, {"layers", "2"}};
      if (moe) { own.push_back({"expert-grid", "2x3"}); own.push_back({"experts-per-sample", "2"}); }
      else own.push_back({"intermediate-size", "24"});
      if (text) { own.push_back({"vocabulary", "32"}); own.push_back({"sequence-length", "10"}); own.push_back({"heads", "2"}); }
      if (name[0] == 'a') { own.push_back({"embedding-size", "4"}); own.push_back({"mask-probability", "0.25"}); }
      std::set<std::string> uids;
      for (auto l : {"0", "1"}) for (auto i : {"0", "1"}) for (auto j : {"0", "1", "2"})
        uids.insert(std::string{"ffn."} + l + "." + i + "." + j);
      memory_experts::settings how; how.inputs = how.outputs = 12;
      scratch_folder folder;
      const auto path = text ? folder.write("text", toy_text(1, 300)) : std::string{"digits"};
      auto agreed = propose_charter(settings_of(name, own), path);
      REQUIRE(agreed);
      trainer_options options;
      options.data_path = path; options.device = "cpu"; options.threads = 1; options.micro_batch = 8; options.in_flight = 1; options.precision = bits;
      options.experts = std::make_shared<memory_experts>(how, uids);
      auto model = make_trainer_factory(options)(*agreed);
      auto p = draw_parameters(model->layout(), 3, 5);
      const std::atomic<bool> never{false};
      double losses = 0;
      for (int s = 0; s < 4; ++s) {
        std::vector<float> g(p.size());
        losses += model->accumulate({5, 32ull * s, 32, 1}, p.data(), g.data(), never).loss_sum;
        model->collect(g.data());
        for (std::size_t i = 0; i < p.size(); ++i) p[i] -= 0.01f * g[i];
      }
      auto e = model->evaluate(p.data(), 9, 50);
      std::printf("BITS %s %s %016llx %a %a %a\n", name.c_str(), bits.c_str(), (unsigned long long)[&]{ auto d = digest_of(p.data(), p.size()*4); std::uint64_t h = 0; for (auto b : d.bytes) h = h * 1099511628211ull + static_cast<unsigned char>(b); return h; }(), losses, e.loss, e.accuracy);
    }
}
