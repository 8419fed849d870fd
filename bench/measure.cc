// SPDX-License-Identifier: BSD-3-Clause
#include "measure.h"

#include "rounds.h"

namespace sumac::bench {
namespace {

Block whole_calls(RepeatedCall& call, const Setting& setting) {
  return [&call, &setting](int calls, float* us) {
    for (int i = 0; i < calls; i++) {
      setting.prepare();
      us[i] = setting.time([&] { call.run(); });
    }
  };
}

Block starts(RepeatedCall& call, const Setting& setting) {
  return [&call, &setting](int calls, float* us) {
    for (int i = 0; i < calls; i++) {
      setting.prepare();
      us[i] = setting.time([&] { call.start(); });
      call.wait();
    }
  };
}

}  // namespace

std::vector<Times> measure(const Calls& calls, const Setting& setting, const Options& options) {
  std::vector<Block> blocks;
  for (const auto& call : calls) blocks.push_back(whole_calls(*call, setting));
  for (const auto& call : calls)
    if (call->kind() != Kind::blocking) blocks.push_back(starts(*call, setting));
  std::vector<Samples> samples = in_rounds(blocks, options, setting.world);
  std::vector<Times> result;
  for (std::size_t i = 0, start = calls.size(); i < calls.size(); i++) {
    result.push_back({std::move(samples[i]), {}});
    if (calls[i]->kind() != Kind::blocking) result.back().start = std::move(samples[start++]);
  }
  return result;
}

}  // namespace sumac::bench
