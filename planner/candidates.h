// The candidates of a space, in a fixed order, by shape: those of one shape differ in words alone, and most shapes have the words of another. Millions take what
// their shapes take. Made by search_space, read by search, explanation and improvements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "planner/plan_candidate.h"

namespace planner {

class Candidates {
  struct Place {
    std::size_t shape = 0, index = 0;  // the number of a shape; of a candidate among all
  };

 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = PlanCandidate;
    using difference_type = std::ptrdiff_t;
    using pointer = const PlanCandidate*;
    using reference = PlanCandidate;
    Iterator() = default;
    PlanCandidate operator*() const { return all_->made(place_); }
    Iterator& operator++();
    Iterator operator++(int);
    std::size_t index() const { return place_.index; }
    std::size_t shape() const { return place_.shape; }                                      // its number
    std::size_t words() const { return all_->shapes_[place_.shape].words; }                 // the number of its shape's list of words
    std::size_t place() const { return place_.index - all_->shapes_[place_.shape].begin; }  // in that list
    std::size_t shape_begin() const { return all_->shapes_[place_.shape].begin; }
    std::size_t shape_end() const { return all_->shapes_[place_.shape].end; }  // of the candidates that share its shape
    bool operator==(const Iterator& other) const { return index() == other.index(); }

   private:
    friend class Candidates;
    Iterator(const Candidates* all, Place place) : all_(all), place_(place) {}
    const Candidates* all_ = nullptr;
    Place place_;
  };

  std::size_t size() const { return shapes_.empty() ? 0 : shapes_.back().end; }
  std::size_t num_shapes() const { return shapes_.size(); }
  bool empty() const { return size() == 0; }
  PlanCandidate operator[](std::size_t index) const { return *from(index); }
  PlanCandidate front() const { return *begin(); }
  Iterator begin() const { return {this, {}}; }
  Iterator end() const { return {this, {.shape = shapes_.size(), .index = size()}}; }
  Iterator from(std::size_t index) const;  // in the logarithm of the number of shapes
  std::vector<PlanCandidate> all() const { return {begin(), end()}; }

  const std::vector<std::vector<PlanCandidate>>& words() const { return words_; }  // lists of candidates of no shape, each once

  std::optional<std::size_t> add(std::vector<PlanCandidate> of_one_shape);  // the number of its list of words; of none nothing
  void add(const PlanCandidate& of_shape, std::size_t words);               // a shape with words of that number
  void clear() { shapes_.clear(), words_.clear(); }

 private:
  struct Shape {
    sim::DeviceMesh mesh;
    sim::ContextAlgorithm context_algorithm{};
    std::int32_t microbatch = 1, schedule = 0, chunks = 1;
    bool expert_overlap = false;
    std::size_t begin = 0, end = 0;
    std::size_t words = 0;  // of words_
  };
  PlanCandidate made(Place place) const;

  std::vector<Shape> shapes_;
  std::vector<std::vector<PlanCandidate>> words_;
};

}  // namespace planner
