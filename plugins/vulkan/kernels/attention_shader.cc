// The shader of attention; kernels/attention.cc describes the algorithm.

#include <optional>

#include "plugins/vulkan/kernels/attention.h"
#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan::attention {
namespace {

using spirv::Bool;
using spirv::Code;
using spirv::Element;
using spirv::Elements;
using spirv::ElementVar;
using spirv::SharedElements;
using spirv::U32;

// Running state of a query.
struct Query {
  ElementVar most, sum;
  ElementVar max_mask;  // The largest mask value that was added to the query's scores.
  std::vector<ElementVar> values;
};

class AttentionCode {
 public:
  AttentionCode(Code& code, const Plan& plan)
      : code_(code),
        plan_(plan),
        q_(code, 0, plan.dtype),
        k_(code, 1, plan.dtype),
        v_(code, 2, plan.dtype),
        y_(code, plan.mask == TENON_DTYPE_NONE ? 3 : 4, plan.dtype),
        panel_q_(code, plan.wide, kTile * kDepth),
        panel_k_(code, plan.wide, kTile * kDepth),
        panel_v_(code, plan.wide, kDepth * plan.columns),
        weights_(code, plan.wide, kTile * kTile),
        largest_(code, plan.wide, kTile * kSide),
        max_masks_(code, plan.wide, kTile * kSide),
        sums_(code, plan.wide, kTile * kSide),
        zero_(spirv::constant(code, plan.wide, 0)),
        lowest_(minus_infinity()),
        scale_(plan.wide == TENON_FLOAT64
                   ? Element(code.as_f64(code.parameter(kScale), code.parameter(kScale + 1)))
                   : Element(plan.wide, float_of(code.parameter(kScale)))) {
    if (plan.mask != TENON_DTYPE_NONE) mask_.emplace(code, 3, plan.mask);
    if (plan.in_pieces) kept_.emplace(code, mask_ ? 5 : 4, plan.wide);
  }

  void write() {
    find_tile();
    std::vector<Query> queries;
    for (uint32_t i = 0; i < kEach; ++i) {
      queries.push_back({ElementVar(lowest_), ElementVar(zero_), ElementVar(lowest_), {}});
      for (uint32_t j = 0; j < plan_.columns / kSide; ++j) {
        queries.back().values.emplace_back(zero_);
      }
    }
    const U32 begin = code_.parameter(kBegin);
    // In causal attention, keys after the last query of a tile are skipped.
    const U32 given_end = code_.parameter(kEnd);
    const U32 end = plan_.is_causal ? min(given_end, first_query_ + kTile) : given_end;
    code_.for_(begin, end, code_.u32(kTile), [&](U32 first) { process_keys(queries, first, end); });
    const auto finish = [&] {
      for (uint32_t i = 0; i < kEach; ++i) give(queries[i], i);
    };
    if (!kept_) return finish();
    code_.if_(begin != 0, [&] { merge_state(queries); });
    code_.if_(given_end == code_.parameter(kKeys), finish, [&] { keep(queries); });
  }

 private:
  struct Place {
    // Offset of a matrix, and its strides between rows (`along`) and columns (`across`).
    U32 first, along, across;
  };

  Element minus_infinity() {
    if (plan_.wide == TENON_FLOAT64) {
      return Element(code_.as_f64(code_.u32(0), code_.u32(0xfff00000u)));
    }
    return {plan_.wide, float_of(code_.u32(0xff800000u))};
  }

  Place matrix(uint32_t strides, U32 batch, U32 head) {
    return {batch * code_.parameter(strides) + head * code_.parameter(strides + 1),
            code_.parameter(strides + 2), code_.parameter(strides + 3)};
  }

  void find_tile() {
    const U32 n_chunks = (code_.parameter(kValueSize) + (plan_.columns - 1)) / plan_.columns;
    const U32 n_tiles = (code_.parameter(kQueries) + (kTile - 1)) / kTile;
    const U32 item = code_.group_index() + code_.parameter(kFirstTile);
    const U32 tile = item / n_chunks, row = tile / n_tiles, heads = code_.parameter(kHeads);
    const U32 batch = row / heads, head = row - batch * heads;
    first_column_ = (item - tile * n_chunks) * plan_.columns;
    first_query_ = (tile - row * n_tiles) * kTile;
    const U32 shared_head = head / code_.parameter(kSharing);
    place_q_ = matrix(kStridesQ, batch, head);
    place_k_ = matrix(kStridesK, batch, shared_head);
    place_v_ = matrix(kStridesV, batch, shared_head);
    if (mask_) place_mask_ = matrix(kStridesMask, batch, head);
    y_rows_ = row * code_.parameter(kQueries);
    side_ = code_.local_index() / kSide;
    across_ = code_.local_index() % kSide;
  }

  Element binary(uint32_t op, const Element& a, const Element& b) { return arithmetic(op, a, b); }
  Element exp_of(const Element& x) {
    return spirv::scalar_op(TENON_OP_exp, std::span(&x, 1), plan_.wide);
  }
  U32 query(uint32_t i) { return first_query_ + side_ * kEach + i; }

  // Loads a panel of rows from `first_row` on into shared memory: element (row, d) is at d * kTile
  // + row. Elements outside the matrix are zero.
  void bring(const SharedElements& panel, const Elements& from, const Place& place, U32 first_row,
             U32 n_rows, U32 first_deep, const Element* factor) {
    const U32 deep = code_.parameter(kSize);
    for (uint32_t part = 0; part < kTile * kDepth / kLocalSize; ++part) {
      const U32 at = code_.local_index() + part * kLocalSize;
      // Neighbouring invocations load neighbouring elements of a row.
      const U32 row = at / kDepth, d = at % kDepth, from_row = first_row + row,
                from_d = first_deep + d;
      const ElementVar x(zero_);
      code_.if_((from_row < n_rows) & (from_d < deep), [&] {
        const Element loaded = spirv::cast(
            from.load(place.first + from_row * place.along + from_d * place.across), plan_.wide);
        x.set(factor == nullptr ? loaded : binary(TENON_OP_mul, loaded, *factor));
      });
      panel.set(d * kTile + row, x.get());
    }
  }

  void load_values(U32 first_key, U32 end) {
    const U32 n_columns = code_.parameter(kValueSize);
    for (uint32_t part = 0; part < kDepth * plan_.columns / kLocalSize; ++part) {
      const U32 at = code_.local_index() + part * kLocalSize;
      const U32 key = first_key + at / plan_.columns, column = first_column_ + at % plan_.columns;
      const ElementVar x(zero_);
      code_.if_((key < end) & (column < n_columns), [&] {
        const U32 place = place_v_.first + key * place_v_.along + column * place_v_.across;
        x.set(spirv::cast(v_.load(place), plan_.wide));
      });
      panel_v_.set(at, x.get());
    }
  }

  // The dot products of the invocation's queries and keys, row by row.
  std::vector<Element> products(U32 first_key) {
    std::vector<ElementVar> sums;
    for (uint32_t i = 0; i < kEach * kEach; ++i) sums.emplace_back(zero_);
    const U32 deep = code_.parameter(kSize);
    code_.for_(code_.u32(0), deep, code_.u32(kDepth), [&](U32 first_deep) {
      bring(panel_q_, q_, place_q_, first_query_, code_.parameter(kQueries), first_deep, &scale_);
      bring(panel_k_, k_, place_k_, first_key, code_.parameter(kKeys), first_deep, nullptr);
      code_.barrier();
      code_.for_many(code_.u32(0), min(code_.u32(kDepth), deep - first_deep), [&](U32 d) {
        std::vector<Element> left, right;
        for (uint32_t i = 0; i < kEach; ++i) {
          left.push_back(panel_q_.get(d * kTile + side_ * kEach + i));
          right.push_back(panel_k_.get(d * kTile + across_ * kEach + i));
        }
        for (uint32_t i = 0; i < kEach * kEach; ++i) {
          const Element product = binary(TENON_OP_mul, left[i / kEach], right[i % kEach]);
          sums[i].set(binary(TENON_OP_add, sums[i].get(), product));
        }
      });
      code_.barrier();
    });
    std::vector<Element> result;
    for (const ElementVar& sum : sums) result.push_back(sum.get());
    return result;
  }

  Element capped(const Element& score) {
    if (plan_.softcap == 0) return score;
    const Element cap = plan_.wide == TENON_FLOAT64
                            ? Element(code_.f64(plan_.softcap))
                            : Element(plan_.wide, code_.f32(static_cast<float>(plan_.softcap)));
    const Element part = binary(TENON_OP_div, score, cap);
    return binary(TENON_OP_mul, spirv::scalar_op(TENON_OP_tanh, std::span(&part, 1), plan_.wide),
                  cap);
  }

  Element mask_at(U32 query, U32 key) {
    const Element x =
        mask_->load(place_mask_.first + query * place_mask_.along + key * place_mask_.across);
    if (plan_.mask == TENON_BOOL) return spirv::select(x.boolean(), zero_, lowest_);
    return spirv::cast(x, plan_.wide);
  }

  // Converts the scores of a tile to weights in shared memory and updates the state of the queries.
  void weights_of_scores(std::vector<Query>& queries, U32 first_key, U32 end) {
    std::vector<Element> scores = products(first_key);
    for (uint32_t i = 0; i < kEach; ++i) {
      Element largest = lowest_, added = lowest_;
      for (uint32_t j = 0; j < kEach; ++j) {
        const U32 key = first_key + across_ * kEach + j;
        const Bool is_key = key < end;
        const Bool meets = plan_.is_causal ? is_key & (key <= query(i)) : is_key;
        Element& score = scores[i * kEach + j];
        score = capped(score);
        if (mask_) {
          const ElementVar bias(lowest_);
          code_.if_(meets & (query(i) < code_.parameter(kQueries)),
                    [&] { bias.set(mask_at(query(i), key)); });
          score = binary(TENON_OP_add, score, bias.get());
          added = maximum(added, bias.get());
        }
        score = spirv::select(meets, score, lowest_);
        largest = maximum(largest, score);
      }
      const U32 at = row_part(i) + across_;
      largest_.set(at, largest);
      if (mask_) max_masks_.set(at, added);
    }
    code_.barrier();
    for (uint32_t i = 0; i < kEach; ++i) {
      const Query& known = queries[i];
      Element most = known.most.get(), max_mask = known.max_mask.get();
      for (uint32_t part = 0; part < kSide; ++part) {
        most = maximum(most, largest_.get(row_part(i) + part));
        if (mask_) max_mask = maximum(max_mask, max_masks_.get(row_part(i) + part));
      }
      // If all scores are minus infinity, subtracts 0 instead, because infinity minus infinity is
      // NaN.
      const Element from = spirv::select(compare(TENON_OP_equal, most, lowest_), zero_, most);
      const Element factor = exp_of(binary(TENON_OP_sub, known.most.get(), from));
      known.most.set(most);
      known.max_mask.set(max_mask);
      known.sum.set(binary(TENON_OP_mul, known.sum.get(), factor));
      for (const ElementVar& value : known.values) {
        value.set(binary(TENON_OP_mul, value.get(), factor));
      }
      Element sum = zero_;
      for (uint32_t j = 0; j < kEach; ++j) {
        const Element weight = exp_of(binary(TENON_OP_sub, scores[i * kEach + j], from));
        weights_.set((across_ * kEach + j) * kTile + side_ * kEach + i, weight);
        sum = binary(TENON_OP_add, sum, weight);
      }
      sums_.set(row_part(i) + across_, sum);
    }
    code_.barrier();
    for (uint32_t i = 0; i < kEach; ++i) {
      Element sum = queries[i].sum.get();
      for (uint32_t part = 0; part < kSide; ++part) {
        sum = binary(TENON_OP_add, sum, sums_.get(row_part(i) + part));
      }
      queries[i].sum.set(sum);
    }
  }

  // Returns the index of the first partial result of the invocation's query `i` in shared memory.
  // Each of the kSide invocations with this query has one partial result.
  U32 row_part(uint32_t i) { return (side_ * kEach + i) * kSide; }

  void process_keys(std::vector<Query>& queries, U32 first_key, U32 end) {
    weights_of_scores(queries, first_key, end);
    const U32 n = min(code_.u32(kTile), end - first_key);
    code_.for_(code_.u32(0), n, code_.u32(kDepth), [&](U32 first) {
      load_values(first_key + first, end);
      code_.barrier();
      code_.for_many(code_.u32(0), min(code_.u32(kDepth), n - first), [&](U32 k) {
        std::vector<Element> values;
        for (uint32_t j = 0; j < plan_.columns / kSide; ++j) {
          values.push_back(panel_v_.get(k * plan_.columns + across_ + j * kSide));
        }
        for (uint32_t i = 0; i < kEach; ++i) {
          const Element weight = weights_.get((first + k) * kTile + side_ * kEach + i);
          for (uint32_t j = 0; j < values.size(); ++j) {
            const ElementVar& sum = queries[i].values[j];
            sum.set(binary(TENON_OP_add, sum.get(), binary(TENON_OP_mul, weight, values[j])));
          }
        }
      });
      code_.barrier();
    });
  }

  void give(const Query& known, uint32_t i) {
    // Without a mask, a query attends to no key only if there are no keys.
    Bool meets_none = code_.parameter(kKeys) == 0;
    if (mask_) {
      meets_none = meets_none | compare(TENON_OP_equal, known.max_mask.get(), lowest_);
    }
    for (uint32_t j = 0; j < known.values.size(); ++j) {
      const U32 column = first_column_ + across_ + j * kSide;
      code_.if_((query(i) < code_.parameter(kQueries)) & (column < code_.parameter(kValueSize)),
                [&] {
                  const Element mean = binary(TENON_OP_div, known.values[j].get(), known.sum.get());
                  const Element shown = spirv::select(meets_none, zero_, mean);
                  y_.store((y_rows_ + query(i)) * code_.parameter(kValueSize) + column,
                           spirv::cast(shown, plan_.dtype));
                });
    }
  }

  // Stores the state of the queries for the next piece.
  void keep(const std::vector<Query>& queries) {
    U32 place = code_.invocation_index() * state_elements(plan_.columns);
    const auto keep_one = [&](const ElementVar& x) {
      kept_->store(place, x.get());
      place = place + 1;
    };
    for (const Query& known : queries) {
      for (const ElementVar* x : {&known.most, &known.sum, &known.max_mask}) keep_one(*x);
      for (const ElementVar& x : known.values) keep_one(x);
    }
  }

  // Merges the state that earlier pieces stored.
  void merge_state(const std::vector<Query>& queries) {
    U32 place = code_.invocation_index() * state_elements(plan_.columns);
    const auto next = [&] {
      const Element x = kept_->load(place);
      place = place + 1;
      return x;
    };
    for (const Query& known : queries) {
      const Element most_before = next(), sum_before = next(), most_added_before = next();
      const Element most = maximum(most_before, known.most.get());
      const Element from = spirv::select(compare(TENON_OP_equal, most, lowest_), zero_, most);
      const Element before = exp_of(binary(TENON_OP_sub, most_before, from)),
                    own = exp_of(binary(TENON_OP_sub, known.most.get(), from));
      const auto join = [&](const ElementVar& x, const Element& x_before) {
        x.set(binary(TENON_OP_add, binary(TENON_OP_mul, x_before, before),
                     binary(TENON_OP_mul, x.get(), own)));
      };
      join(known.sum, sum_before);
      for (const ElementVar& x : known.values) join(x, next());
      known.most.set(most);
      known.max_mask.set(maximum(most_added_before, known.max_mask.get()));
    }
  }

  Code& code_;
  const Plan plan_;
  const Elements q_, k_, v_, y_;
  std::optional<Elements> mask_, kept_;
  const SharedElements panel_q_, panel_k_, panel_v_, weights_, largest_, max_masks_, sums_;
  const Element zero_, lowest_, scale_;
  U32 first_query_, first_column_, y_rows_, side_, across_;
  Place place_q_, place_k_, place_v_, place_mask_;
};

}  // namespace

Words write_shader(const Capabilities& capabilities, const Plan& plan, uint32_t n_operands) {
  Code code(capabilities, {.n_operands = n_operands, .local_size = kLocalSize});
  AttentionCode(code, plan).write();
  return code.finish();
}

}  // namespace tenon_vulkan::attention
