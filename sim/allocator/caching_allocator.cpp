#include "sim/allocator/caching_allocator.h"

#include <algorithm>

namespace sim {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr Bytes kLeast{512}, kSmall{kMiB}, kSmallSegment{2 * kMiB}, kOwn{10 * kMiB}, kLargeSegment{20 * kMiB}, kStep{2 * kMiB};
constexpr std::int64_t kSegmentsApart = std::int64_t{1} << 50;  // addresses between two that grow

Bytes in_steps(Bytes size, Bytes step) { return step * std::max<std::int64_t>(1, (size.value() + step.value() - 1) / step.value()); }

Bytes segment_size(Bytes size) { return size <= kSmall ? kSmallSegment : size < kOwn ? kLargeSegment : in_steps(size, kStep); }

}  // namespace

CachingAllocator::Place CachingAllocator::add(const Block& block) {
  if (unused_.empty()) {
    blocks_.push_back(block);
    return blocks_.size() - 1;
  }
  const Place place = unused_.back();
  unused_.pop_back();
  blocks_[place] = block;
  return place;
}

// Into the pool of free blocks, and out of it.
void CachingAllocator::put(Place place) {
  Pool& pool = pool_of(blocks_[place]);
  const Free key = key_of(blocks_[place], place);
  pool.insert(std::ranges::lower_bound(pool, key), key);
}

void CachingAllocator::pull(Place place) {
  Pool& pool = pool_of(blocks_[place]);
  pool.erase(std::ranges::lower_bound(pool, key_of(blocks_[place], place)));
}

std::optional<CachingAllocator::Place> CachingAllocator::find(Bytes size, std::int32_t stream, bool is_small) {
  Pool& pool = pools_[is_small ? 0 : 1];
  auto found = std::ranges::lower_bound(pool, Free{stream, size, std::numeric_limits<std::int64_t>::min(), 0});
  if (found == pool.end() || std::get<0>(*found) != stream) return std::nullopt;
  // The end of a segment that grows counts as large as it may get: any other comes before it.
  const auto end = is_expandable_ ? ends_.find({stream, is_small}) : ends_.end();
  if (const auto next = std::next(found);
      end != ends_.end() && std::get<3>(*found) == end->second && next != pool.end() && std::get<0>(*next) == stream)
    found = next;
  const Place place = std::get<3>(*found);
  pool.erase(found);
  return place;
}

bool CachingAllocator::reserve(Bytes size) {
  if (size > limit_ - reserved_) return false;
  reserved_ += size;
  most_reserved_ = std::max(most_reserved_, reserved_);
  return true;
}

std::optional<CachingAllocator::Place> CachingAllocator::segment(Bytes size, std::int32_t stream, bool is_small) {
  if (is_expandable_) {
    const auto end = ends_.find({stream, is_small});
    const Bytes free = end != ends_.end() && blocks_[end->second].is_free ? blocks_[end->second].size : Bytes{};
    const Bytes more = in_steps(size - free, is_small ? kSmallSegment : kLargeSegment);
    return reserve(more) ? std::optional(grown(more, stream, is_small)) : std::nullopt;
  }
  const Bytes whole = segment_size(size);
  if (!reserve(whole)) return std::nullopt;
  const std::int64_t address = next_address_;
  next_address_ += whole.value();
  return add({.size = whole, .address = address, .stream = stream, .is_small = is_small});
}

// The free end of the segment, so much larger; no longer in its pool.
CachingAllocator::Place CachingAllocator::grown(Bytes more, std::int32_t stream, bool is_small) {
  const auto [end, is_new] = ends_.try_emplace({stream, is_small});
  if (is_new) {
    end->second = add({.size = more, .address = next_address_, .stream = stream, .is_small = is_small});
    next_address_ += kSegmentsApart;
    return end->second;
  }
  const Place last = end->second;
  if (blocks_[last].is_free) {
    pull(last);
    blocks_[last].size += more;
    return last;
  }
  Block behind{.size = more, .address = blocks_[last].address + blocks_[last].size.value(), .stream = stream, .is_small = is_small};
  behind.before = last;
  end->second = add(behind);
  blocks_[last].behind = end->second;
  return end->second;
}

void CachingAllocator::flush() {
  for (Pool& pool : pools_)
    std::erase_if(pool, [&](const Free& free) {
      const Place place = std::get<3>(free);
      const Block& block = blocks_[place];
      if (block.before || block.behind || is_expandable_) return false;
      reserved_ -= block.size;
      unused_.push_back(place);
      return true;
    });
}

void CachingAllocator::split(Place place, Bytes size) {
  Block rest = blocks_[place];
  rest.size -= size;
  rest.address += size.value();
  rest.before = place;
  rest.is_free = true;
  const Place behind = add(rest);
  if (rest.behind) blocks_[*rest.behind].before = behind;
  blocks_[place].size = size;
  blocks_[place].behind = behind;
  put(behind);
  move_end(place, behind);
}

// Of a segment that grows, where it ended with the first.
void CachingAllocator::move_end(Place from, Place to) {
  const auto end = ends_.find({blocks_[from].stream, blocks_[from].is_small});
  if (end != ends_.end() && end->second == from) end->second = to;
}

std::optional<CachingAllocator::Place> CachingAllocator::take(Bytes wanted, std::int32_t stream) {
  const Bytes size = in_steps(wanted, kLeast);
  const bool is_small = size <= kSmall;
  std::optional<Place> place = find(size, stream, is_small);
  if (!place) place = segment(size, stream, is_small);
  if (!place) {
    flush();
    place = segment(size, stream, is_small);
  }
  if (!place) return std::nullopt;
  blocks_[*place].is_free = false;
  const Bytes left = blocks_[*place].size - size;
  if (is_small || is_expandable_ ? left >= kLeast : left > kSmall) split(*place, size);
  return place;
}

// `second` lies behind `first` and ends with it.
void CachingAllocator::join(Place first, Place second) {
  blocks_[first].size += blocks_[second].size;
  blocks_[first].behind = blocks_[second].behind;
  if (blocks_[second].behind) blocks_[*blocks_[second].behind].before = first;
  move_end(second, first);
  unused_.push_back(second);
}

void CachingAllocator::give_back(Place place) {
  blocks_[place].is_free = true;
  if (const auto behind = blocks_[place].behind; behind && blocks_[*behind].is_free) {
    pull(*behind);
    join(place, *behind);
  }
  if (const auto before = blocks_[place].before; before && blocks_[*before].is_free) {
    pull(*before);
    join(*before, place);
    place = *before;
  }
  put(place);
}

}  // namespace sim
