// A view of a matrix that is owned elsewhere.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>

namespace gpt2 {

// `rows` rows of `cols` values; row r starts `stride` values after row r - 1.
template <typename T>
struct MatView {
  T* data = nullptr;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t stride = 0;  // values, at least cols

  std::span<T> Row(std::size_t r) const {
    assert(r < rows);
    return {data + r * stride, cols};
  }

  // The first `count` rows.
  MatView Top(std::size_t count) const {
    assert(count <= rows);
    return {data, count, cols, stride};
  }

  // Columns [first, first + count) of every row.
  MatView Columns(std::size_t first, std::size_t count) const {
    assert(first + count <= cols);
    return {data + first, rows, count, stride};
  }

  operator MatView<const T>() const { return {data, rows, cols, stride}; }
};

// Rows that follow each other without gaps.
template <typename T>
MatView<T> DenseView(T* data, std::size_t rows, std::size_t cols) {
  return {data, rows, cols, cols};
}

}  // namespace gpt2
