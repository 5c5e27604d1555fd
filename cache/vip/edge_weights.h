// The weights of one shard's edges of a type, as their column holds them, and 0 for those that are
// not there (cache/vip/edge_filter.h).
#pragma once

#include <cstdint>
#include <cstring>

#include "partition/dataset/base_views.h"
#include "partition/schema/schema.h"

namespace vicinity {

// Threads: immutable. Lifetime: the shard and the filter's bytes must outlive it.
class EdgeWeights {
 public:
  EdgeWeights() = default;  // none: all edges are alike
  // `dtype`: float32 or float64, one value an edge.
  EdgeWeights(const BaseValues& values, DType dtype)
      : data_(values.data), is_wide_(dtype == DType::kFloat64) {}

  // The same, of which only those edges are there whose byte is not 0; null: all.
  EdgeWeights Among(const uint8_t* filter) const {
    EdgeWeights among = *this;
    among.filter_ = filter;
    return among;
  }

  bool is_given() const { return data_ != nullptr || filter_ != nullptr; }
  // By position in the list of edges; 1 where all are alike.
  double operator[](int64_t position) const {
    if (filter_ != nullptr && filter_[position] == 0) return 0;
    if (data_ == nullptr) return 1;
    if (is_wide_) return At<double>(position);
    return static_cast<double>(At<float>(position));
  }

 private:
  template <typename Value>
  Value At(int64_t position) const {
    Value value;
    std::memcpy(&value, data_ + position * static_cast<int64_t>(sizeof(value)), sizeof(value));
    return value;
  }

  const char* data_ = nullptr;
  const uint8_t* filter_ = nullptr;
  bool is_wide_ = false;
};

}  // namespace vicinity
