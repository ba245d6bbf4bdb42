// Feed-forwards made of experts (Shazeer et al. 2017): how many, how wide, and what happens to tokens that one of them cannot take.
// A field of ModelConfig and of sim/estimate's Network: both are priced by the same clocks.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sim {

// What routing moves for a token's score of an expert (softmax, top k and counts, in fp32), and how often tokens pass through memory on their way
// to the experts and back, each way of the step.
constexpr std::int64_t kRoutingBytes = std::int64_t{8} * 4;
constexpr std::int64_t kPermutationPasses = 5;

enum class ExpertDispatch : std::uint8_t { Dropless, Padded, Drop };  // no capacity; the whole capacity computed; what is above it lost
inline constexpr std::string_view kExpertDispatchNames[] = {"dropless", "padded", "drop"};
enum class RouterScore : std::uint8_t { Softmax, Sigmoid };  // of a token for all experts; of each expert by itself (DeepSeek-V3, 2024)
inline constexpr std::string_view kRouterScoreNames[] = {"softmax", "sigmoid"};

struct ExpertForm {
  std::int64_t experts = 1, shared_experts = 0, topk = 1, expert_ffn = 0, shared_ffn = 0, first_dense_layers = 0;
  double capacity_factor = 0;  // tokens an expert takes, in units of an even share; 0: no limit
  ExpertDispatch dispatch = ExpertDispatch::Dropless;
  bool forced_balance = false;  // the router is overruled: every expert gets its even share
  RouterScore score = RouterScore::Softmax;
  bool renormalised = false;                 // the scores of a token's experts are divided by their sum
  double scaling = 1;                        // of what experts give back
  std::int64_t every = 1;                    // behind the first dense layers: the last of so many layers has experts
  std::vector<std::int64_t> dense_layers{};  // others without experts, from 0
  bool shared_gate = false;                  // the shared experts' output is weighted by a sigmoid of the token
  bool scores_inputs = false;                // a token's score weighs what an expert reads of it, not what it gives back (Llama 4)
  bool biases = false;                       // of the router's product and the experts'
  std::int64_t groups = 1, group_topk = 1;   // a token's experts are of so many groups (DeepSeek-V2)
  bool score_correction = false;             // scores choose with a summand that no gradient trains (DeepSeek-V3); zero at the start
  double balance_loss = 0;  // factor of the auxiliary loss of each layer (Switch Transformer, Fedus et al. 2021, equations 4 to 6)
  bool operator==(const ExpertForm&) const = default;

  bool has_experts(std::int64_t layer) const;  // from 0
  bool is_limited() const { return dispatch != ExpertDispatch::Dropless && capacity_factor > 0; }
};

// Of one rank's microbatch: rows that one expert takes (where they are limited), and rows that leave for all experts together, at the most.
struct RoutedTokens {
  std::int64_t value = 0;
};
std::int64_t expert_capacity(const ExpertForm& form, RoutedTokens tokens);
std::int64_t rows_to_experts(const ExpertForm& form, RoutedTokens tokens);

}  // namespace sim
