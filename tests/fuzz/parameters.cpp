#include "tests/fuzz/parameters.hpp"

#include <algorithm>
#include <utility>

#include "tests/fuzz/transcript.hpp"

namespace kaccel::fuzzing {
namespace {

void append(Bytes& bytes, const void* data, std::size_t size) {
  const auto* start = static_cast<const std::uint8_t*>(data);
  bytes.insert(bytes.end(), start, start + size);
}

}  // namespace

// ParameterList -----------------------------------------------------------------------------------

void ParameterList::add_number(const char* key, std::size_t value) {
  numbers_.at(count_) = value;
  params_[count_] = OSSL_PARAM_construct_size_t(key, &numbers_[count_]);
  ++count_;
}

void ParameterList::add_unsigned(const char* key, unsigned int value) {
  unsigneds_.at(count_) = value;
  params_[count_] = OSSL_PARAM_construct_uint(key, &unsigneds_[count_]);
  ++count_;
}

void ParameterList::add_octets(const char* key, Bytes value) {
  const std::size_t size = value.size();
  value.reserve(1);  // data() of no bytes must not be NULL
  octets_.at(count_) = std::move(value);
  params_[count_] = OSSL_PARAM_construct_octet_string(key, octets_[count_].data(), size);
  ++count_;
}

void ParameterList::add_text(const char* key, std::string value) {
  texts_.at(count_) = std::move(value);
  params_[count_] = OSSL_PARAM_construct_utf8_string(key, texts_[count_].data(), 0);
  ++count_;
}

void ParameterList::add_misfit(const char* key) {
  params_.at(count_) = OSSL_PARAM_construct_double(key, &misfit_);
  ++count_;
}

void ParameterList::add_null(const char* key) {
  params_.at(count_) = OSSL_PARAM_construct_octet_string(key, nullptr, 0);
  ++count_;
}

std::string parameters_to_text(const OSSL_PARAM* params) {
  std::string text;
  for (const OSSL_PARAM* p = params; p != nullptr && p->key != nullptr; ++p) {
    const auto* data = static_cast<const unsigned char*>(p->data);
    text += std::string(" ") + p->key + "(" + std::to_string(p->data_size) + ")";
    if (p->data_type == OSSL_PARAM_UTF8_STRING) {
      text += std::string("=") + static_cast<const char*>(p->data);
    } else if (data != nullptr) {
      text += "=" + hex({data, std::min<std::size_t>(p->data_size, 16)});
    }
  }
  return text;
}

// Answers -----------------------------------------------------------------------------------------

std::string to_text(const QueryList& queries) {
  std::string text;
  for (const Query& query : queries) {
    text += std::string(" ") + query.key;
    if (query.type == Query::Type::octets) text += "(" + std::to_string(query.capacity) + ")";
    if (query.type == Query::Type::pointer) text += "(pointer)";
  }
  return text;
}

Answers::Answers(const QueryList& queries)
    : queries_(queries),
      params_(queries.size() + 1),
      numbers_(queries.size()),
      unsigneds_(queries.size()),
      octets_(queries.size()),
      pointers_(queries.size()) {
  constexpr std::size_t room = 16;  // data() of no bytes must not be NULL
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const Query& query = queries[i];
    switch (query.type) {
      case Query::Type::number:
        params_[i] = OSSL_PARAM_construct_size_t(query.key, &numbers_[i]);
        break;
      case Query::Type::unsigned_number:
        params_[i] = OSSL_PARAM_construct_uint(query.key, &unsigneds_[i]);
        break;
      case Query::Type::octets:
        octets_[i].assign(query.capacity + room, 0);
        params_[i] =
            OSSL_PARAM_construct_octet_string(query.key, octets_[i].data(), query.capacity);
        break;
      case Query::Type::pointer:
        params_[i] = OSSL_PARAM_construct_octet_ptr(query.key, &pointers_[i], query.capacity);
        break;
    }
  }
  params_.back() = OSSL_PARAM_construct_end();
}

Bytes Answers::collect() const {
  Bytes all;
  for (std::size_t i = 0; i < queries_.size(); ++i) {
    const OSSL_PARAM& param = params_[i];
    all.push_back(static_cast<std::uint8_t>(OSSL_PARAM_modified(&param)));
    all.push_back(static_cast<std::uint8_t>(param.return_size));
    append(all, &numbers_[i], sizeof numbers_[i]);
    append(all, &unsigneds_[i], sizeof unsigneds_[i]);
    append(all, octets_[i].data(), octets_[i].size());
    if (OSSL_PARAM_modified(&param) == 1 && pointers_[i] != nullptr) {
      append(all, pointers_[i], param.return_size);
    }
  }
  return all;
}

}  // namespace kaccel::fuzzing
