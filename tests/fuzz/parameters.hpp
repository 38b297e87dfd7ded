// OSSL_PARAM lists to set and to ask with, and what they answered.
#pragma once

#include <openssl/core.h>
#include <openssl/params.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/input.hpp"

namespace kaccel::fuzzing {

// Up to a handful of parameters with their values.
class ParameterList {
 public:
  static constexpr std::size_t most = 5;

  void add_number(const char* key, std::size_t value);
  void add_unsigned(const char* key, unsigned int value);
  void add_octets(const char* key, Bytes value);
  void add_text(const char* key, std::string value);
  // A value of no type that anyone expects.
  void add_misfit(const char* key);
  // No value: data is NULL.
  void add_null(const char* key);

  bool is_full() const noexcept { return count_ == most; }
  std::size_t size() const noexcept { return count_; }
  const OSSL_PARAM* get() const noexcept { return params_.data(); }

  ParameterList() { params_.fill(OSSL_PARAM_construct_end()); }
  ParameterList(const ParameterList&) = delete;
  ParameterList& operator=(const ParameterList&) = delete;

 private:
  std::array<OSSL_PARAM, most + 1> params_;
  std::array<std::size_t, most> numbers_{};
  std::array<unsigned int, most> unsigneds_{};
  std::array<Bytes, most> octets_;
  std::array<std::string, most> texts_;
  double misfit_ = 0.5;
  std::size_t count_ = 0;
};

std::string parameters_to_text(const OSSL_PARAM* params);

struct Query {
  enum class Type : std::uint8_t { number, unsigned_number, octets, pointer };
  const char* key;
  Type type;
  std::size_t capacity = 0;  // of octets and pointer: data_size
};
using QueryList = std::vector<Query>;

std::string to_text(const QueryList& queries);

// Room for the answers to a list of queries.
class Answers {
 public:
  explicit Answers(const QueryList& queries);
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  OSSL_PARAM* params() noexcept { return params_.data(); }
  // Everything that was answered, in a form that can be compared.
  Bytes collect() const;

 private:
  const QueryList& queries_;
  std::vector<OSSL_PARAM> params_;
  std::vector<std::size_t> numbers_;
  std::vector<unsigned int> unsigneds_;
  std::vector<Bytes> octets_;
  std::vector<void*> pointers_;
};

}  // namespace kaccel::fuzzing
