#include "provider/cipher_dispatch.hpp"

#include <array>
#include <utility>

#include "provider/algorithms.hpp"
#include "provider/cipher_context.hpp"
#include "provider/provider_context.hpp"

namespace kaccel {
namespace {

using Function = void (*)();

template <class F>
Function generic(F* function) noexcept {
  return reinterpret_cast<Function>(function);
}

CipherRoute& route_of(void* provider_context, std::size_t row) noexcept {
  return static_cast<ProviderContext*>(provider_context)->route(row);
}

// OpenSSL passes a provider context and nothing else to these functions, so each algorithm needs
// its own: Row is its place in cipher_algorithms.
template <std::size_t Row>
struct ForRow {
  static void* new_routed(void* provider_context) noexcept {
    return CipherContext::create(route_of(provider_context, Row));
  }
  static void* new_software(void* provider_context) noexcept {
    CipherRoute& route = route_of(provider_context, Row);
    return route.software.newctx(route.software_provider_context);
  }
  static const OSSL_PARAM* gettable(void* provider_context) noexcept {
    CipherRoute& route = route_of(provider_context, Row);
    return route.software.gettable_params(route.software_provider_context);
  }
  static const OSSL_PARAM* gettable_of_routed(void*, void* provider_context) noexcept {
    CipherRoute& route = route_of(provider_context, Row);
    return route.software.gettable_ctx_params(nullptr, route.software_provider_context);
  }
  static const OSSL_PARAM* settable_of_routed(void*, void* provider_context) noexcept {
    CipherRoute& route = route_of(provider_context, Row);
    return route.software.settable_ctx_params(nullptr, route.software_provider_context);
  }
  static const OSSL_PARAM* gettable_of_software(void* context, void* provider_context) noexcept {
    CipherRoute& route = route_of(provider_context, Row);
    return route.software.gettable_ctx_params(context, route.software_provider_context);
  }
  static const OSSL_PARAM* settable_of_software(void* context, void* provider_context) noexcept {
    CipherRoute& route = route_of(provider_context, Row);
    return route.software.settable_ctx_params(context, route.software_provider_context);
  }
};

struct RowFunctions {
  Function new_routed, new_software, gettable;
  Function gettable_of_routed, settable_of_routed, gettable_of_software, settable_of_software;
};

template <std::size_t... Rows>
constexpr auto functions_of_rows(std::index_sequence<Rows...>) noexcept {
  return std::array<RowFunctions, sizeof...(Rows)>{RowFunctions{
      generic(ForRow<Rows>::new_routed), generic(ForRow<Rows>::new_software),
      generic(ForRow<Rows>::gettable), generic(ForRow<Rows>::gettable_of_routed),
      generic(ForRow<Rows>::settable_of_routed), generic(ForRow<Rows>::gettable_of_software),
      generic(ForRow<Rows>::settable_of_software)}...};
}

const RowFunctions& functions_of(std::size_t row) noexcept {
  static const auto table = functions_of_rows(std::make_index_sequence<cipher_algorithms.size()>{});
  return table[row];
}

// kaccel's function in place of OpenSSL's; nullptr for one that is not passed on, because it would
// be handed a context it does not know.
Function routed_function(const RowFunctions& own, const OSSL_DISPATCH& software) noexcept {
  switch (software.function_id) {
    case OSSL_FUNC_CIPHER_NEWCTX:
      return own.new_routed;
    case OSSL_FUNC_CIPHER_FREECTX:
      return generic(CipherContext::free);
    case OSSL_FUNC_CIPHER_DUPCTX:
      return generic(CipherContext::duplicate);
    case OSSL_FUNC_CIPHER_ENCRYPT_INIT:
      return generic(CipherContext::encrypt_init);
    case OSSL_FUNC_CIPHER_DECRYPT_INIT:
      return generic(CipherContext::decrypt_init);
    case OSSL_FUNC_CIPHER_UPDATE:
      return generic(CipherContext::update);
    case OSSL_FUNC_CIPHER_FINAL:
      return generic(CipherContext::final);
    case OSSL_FUNC_CIPHER_CIPHER:
      return generic(CipherContext::cipher);
    case OSSL_FUNC_CIPHER_GET_CTX_PARAMS:
      return generic(CipherContext::get_params);
    case OSSL_FUNC_CIPHER_SET_CTX_PARAMS:
      return generic(CipherContext::set_params);
    case OSSL_FUNC_CIPHER_GET_PARAMS:
      return software.function;  // takes no context
    case OSSL_FUNC_CIPHER_GETTABLE_PARAMS:
      return own.gettable;
    case OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS:
      return own.gettable_of_routed;
    case OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS:
      return own.settable_of_routed;
    default:
      return nullptr;
  }
}

Function software_function(const RowFunctions& own, const OSSL_DISPATCH& software) noexcept {
  switch (software.function_id) {
    case OSSL_FUNC_CIPHER_NEWCTX:
      return own.new_software;
    case OSSL_FUNC_CIPHER_GETTABLE_PARAMS:
      return own.gettable;
    case OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS:
      return own.gettable_of_software;
    case OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS:
      return own.settable_of_software;
    default:
      return software.function;
  }
}

template <class Choose>
std::vector<OSSL_DISPATCH> table(std::size_t row, const OSSL_DISPATCH* software, Choose choose) {
  std::vector<OSSL_DISPATCH> result;
  for (; software->function_id != 0; ++software) {
    const Function function = choose(functions_of(row), *software);
    if (function != nullptr) result.push_back({software->function_id, function});
  }
  result.push_back({0, nullptr});
  return result;
}

}  // namespace

std::vector<OSSL_DISPATCH> routed_table(std::size_t row, const OSSL_DISPATCH* software) {
  return table(row, software, routed_function);
}

std::vector<OSSL_DISPATCH> software_table(std::size_t row, const OSSL_DISPATCH* software) {
  return table(row, software, software_function);
}

}  // namespace kaccel
