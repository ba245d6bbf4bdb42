// A layer is data: segments of parts, and what ranks exchange between two parts. Graph, prices, memory and window read it; nobody else knows a
// layer by name.
//
//   segment      norm |Enter T| input |Share T| heads |Enter C| scores |Leave C| output |Leave T| tail     (attention; Share: of grouped keys)
//                norm |Enter T| input |Enter S| scan |Leave S| output |Leave T| tail                       (linear attention; S: context ranks)
//   without degrees       [------------------------------ attention --------------------------]
//   T > 1, forward        [--------- attention ---------------------------------] sum [ residual ]
//   T > 1, backward       [ norm ] sum [------------------------ attention -------------------]
//
// Where nothing meets, neighbouring parts are one task. So the same segment makes other tasks in forward than in backward.
#pragma once

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/model/encoder_form.h"
#include "sim/model/heads.h"
#include "sim/model/operation.h"

namespace sim {

// How tensor parallelism cuts a parameter: by rows (column-parallel linear: outputs), by columns (row-parallel: inputs), or not.
enum class TensorSplit { None, Rows, Columns };

enum class OperatorKind : std::uint8_t {
  EmbeddingLookup,
  Norm,
  Linear,
  Rotary,
  Attention,
  Activation,
  Residual,
  CrossEntropy,
  Dropout,
  Routing,
  Permutation,
  Convolution,  // of maps: channels x places
  BatchNorm,
  Pooling,
  Averaging,
  ChannelScale,
  Upsampling,
  Concatenation,
  CausalConvolution,  // of each channel with the tokens in front of it
  Scan,               // of linear attention: products of chunks, and a state from one to the next (linear_form.h)
  Indexer             // of sparse attention: scores of all pairs, and the tokens that each query attends to (sparse_form.h)
};

// Parts of a block that programs recompute by name: Megatron-Core's --recompute-modules, and `op`, torchtitan's choice of operators (all but
// attention and the outputs of every second product). And those whose inputs they send to the host: --offload-modules.
enum class Module : std::uint8_t {
  CoreAttention,
  MlaUpProjection,
  Mlp,
  Moe,
  MoeActivation,
  LayerNorm,
  SharedExperts,
  Op,
  AttentionNorm,
  QkvProduct,
  AttentionProjection,
  MlpNorm,
  ExpertProduct
};
inline constexpr std::string_view kModuleNames[] = {"core_attn", "mla_up_proj",    "mlp",       "moe",       "moe_act",
                                                    "layernorm", "shared_experts", "op",        "attn_norm", "qkv_linear",
                                                    "attn_proj", "mlp_norm",       "expert_fc1"};
inline constexpr std::size_t kNumModules = 13, kNumRecomputed = 8;
class Modules {
 public:
  constexpr Modules() = default;
  constexpr Modules(Module one) : bits_(1u << static_cast<unsigned>(one)) {}  // NOLINT: one is a set, too
  constexpr bool has(Module one) const { return (bits_ >> static_cast<unsigned>(one) & 1u) != 0; }
  constexpr bool meets(Modules others) const { return (bits_ & others.bits_) != 0; }
  constexpr bool none() const { return bits_ == 0; }
  constexpr Modules without(Module one) const {
    Modules rest;
    rest.bits_ = bits_ & ~Modules(one).bits_;
    return rest;
  }
  constexpr Modules operator|(Modules others) const {
    Modules all;
    all.bits_ = bits_ | others.bits_;
    return all;
  }
  bool operator==(const Modules&) const = default;

 private:
  std::uint32_t bits_ = 0;
};
constexpr Modules operator|(Module a, Module b) { return Modules(a) | Modules(b); }
inline constexpr Modules kRecomputed = Module::CoreAttention | Module::MlaUpProjection | Module::Mlp | Module::Moe | Module::MoeActivation |
                                       Module::LayerNorm | Module::SharedExperts | Module::Op;
inline constexpr Modules kSentToHost = Module::AttentionNorm | Module::QkvProduct | Module::CoreAttention | Module::AttentionProjection |
                                       Module::MlpNorm | Module::ExpertProduct | Module::MoeActivation | Module::Mlp;
std::vector<std::string_view> names_of(Modules modules);
std::optional<Module> module_named(std::string_view name);

enum class AdapterPart : std::uint8_t { None, Down, Up, Dropout };  // of what runs beside a frozen product, and is added to it

// Of an operator on a map of channels: places of a sample that it reads and writes, each as wide as `inputs` and `outputs`.
struct MapShape {
  std::int64_t read = 0, places = 0;  // 0: no map
  std::int64_t height = 1, width = 1, stride = 1, groups = 1;
  bool of_images = false;  // what it reads has no gradient
  bool kept = false;       // what it writes stays until the backward, though its kind needs it not
  std::int64_t area() const { return height * width; }
  bool operator==(const MapShape&) const = default;
};

// One operator of a segment, per token where that makes sense. Widths are of the whole model; `split` says which width
// tensor parallelism divides. Linear computes [tokens, inputs] x [outputs, inputs]^T.
struct Operator {
  OperatorKind kind{};
  std::string name;                       // "qkv"
  std::int64_t inputs = 0;                // width read per token
  std::int64_t outputs = 0;               // width written per token
  TensorSplit split = TensorSplit::None;  // Rows: outputs / T; Columns: inputs / T; None: the same work on every tensor rank
  bool bias = false;
  std::int64_t experts = 0;  // > 0: one product (or part of the rows) for each of so many experts
  std::int64_t copies = 1;   // rows of it a token: the experts that it goes to
  std::int64_t window = 0;   // attention: positions that a query sees; 0: all before it
  bool chunked = false;      // the window is that piece of the sample which the query stands in
  bool gathered = false;     // None: stands between cut operators, so that sequence parallelism leaves it all tokens
  std::int64_t keys =
      0;  // columns of what it reads (and writes, if that is as wide) that are of keys and values: a rank has one head's at least
  Heads heads = {};        // of the attention, and of what stands between it and its projections
  std::int32_t part = 0;   // of its segment
  std::int32_t spans = 1;  // parts: a loss over a cut vocabulary goes through three
  bool routes = false;     // gathered, but where experts are cut by a degree of their own: then tokens are routed as they are cut
  bool unscaled =
      false;  // a product that stays in 16 bit where others are scaled: of the head, of routers, as the policy of precision says
  std::int64_t unscaled_outputs = 0;  // else: so many columns of it do (keys and values)
  bool frozen = false;                // its weights are not trained
  bool scales_rows = false;           // of its weight, to length 1, where it is used
  bool detached = false;              // a product that hands no gradient back: it is trained by a loss of its own
  bool of_scan = false;               // goes from token to token: context ranks have all tokens for it, of a part of its heads each
  AdapterPart adapter = AdapterPart::None;
  Modules modules = {};  // whose output is not kept where they are recomputed
  MapShape map = {};
  Tokens tokens = Tokens::All;   // that it writes rows for
  Tokens keys_of = Tokens::All;  // attention: whose keys it reads; `keys` of its columns have rows for these
  bool operator==(const Operator&) const = default;
};

inline bool is_router(const Operator& op) { return op.kind == OperatorKind::Linear && op.routes; }

// Named by itself where it runs by itself. Parts that run together are named as the one of them that is no side, or as the segment where it is several.
struct SegmentPart {
  Operation name{};
  bool is_side = false;        // in front of what tensor ranks cut, or behind it
  bool feeds_backward = true;  // makes what its own backward reads: recomputation ends with the last such part
  bool operator==(const SegmentPart&) const = default;
};

enum class SplitAxis : std::uint8_t { Tensor, Context, Expert, Data, Scan };  // Scan: context ranks, which deal out its heads
// Enter: from what each rank has of the stream to what the axis cuts. Leave: back. Statistic: Tensor: forward alone, numbers of each token are reduced.
// Data: of `width` channels; both ways.
// Share: where there are more tensor ranks than key/value heads, each makes an even part of all heads' columns, and takes whole heads of what all made.
// Norms: of all heads together, of which each rank has some: numbers of each token are reduced, both ways.
enum class Meeting : std::uint8_t { Enter, Leave, Statistic, Share, Norms };

// What the ranks of an axis exchange between a part and the next one; nothing where its degree is 1. In backward the other way round.
// What crosses, in numbers a token: Tensor: `width`; Context: `width` of queries or of what comes out, `block` of keys and values; Expert: rows of
// `width` for each choice; Scan: `width` of heads, `block` of groups that heads share, each of which goes to all ranks that have heads of it.
struct Meets {
  SplitAxis axis{};
  Meeting meeting{};
  std::int64_t width = 0, block = 0;
  bool of_experts_alone = false;  // Tensor: nothing else behind it needs all tokens; none where experts are cut by a degree of their own
  Tokens tokens = Tokens::All;    // whose rows cross
  Heads heads = {};               // Share, Context: of the attention; Scan: keys are its groups
  bool operator==(const Meets&) const = default;
};

struct SegmentGraph {
  Operation name{};
  Modules modules = {};             // recomputed as a whole, its core from its norm's output
  std::vector<SegmentPart> parts;   // in the order of a forward
  std::vector<Meets> meets;         // i: between parts i and i + 1
  std::vector<Operator> operators;  // in topological order
  using Graph = boost::compressed_sparse_row_graph<boost::directedS>;
  Graph edges;  // vertex i is operators[i]; norm -> residual: what the norm reads, the residual reads again

  bool has(OperatorKind kind) const;
  const Operator* attention() const;                                                                       // null: it has none
  Tokens tokens() const { return name == Operation::Embedding ? Tokens::All : operators.front().tokens; }  // whose rows it changes
  bool reads_source() const;                                       // attends to it, and changes the target
  bool starts_with_side() const { return parts.front().is_side; }  // a norm that reads the stream
  bool leaves_tensor() const;                                      // its output is summed over tensor ranks: it goes on in the stream
  std::int32_t first_core() const;
  std::int32_t last_core() const;
};
// The same work, whatever its parameters are called.
bool are_equal(const SegmentGraph& a, const SegmentGraph& b);

}  // namespace sim
