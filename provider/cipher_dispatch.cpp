#include "provider/cipher_dispatch.hpp"

#include <array>
#include <utility>

#include "provider/algorithms.hpp"
#include "provider/cipher_context.hpp"
#include "provider/gcm_context.hpp"
#include "provider/provider_context.hpp"
#include "provider/xts_context.hpp"

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

template <Kind>
struct ContextOf;
template <>
struct ContextOf<Kind::blocks> {
  using Type = CipherContext;
};
template <>
struct ContextOf<Kind::data_units> {
  using Type = XtsContext;
};
template <>
struct ContextOf<Kind::gcm> {
  using Type = GcmContext;
};

// OpenSSL passes a provider context and nothing else to these functions, so each algorithm needs
// its own: Row is its place in algorithm_table.
template <std::size_t Row>
struct ForRow {
  using Context = typename ContextOf<algorithm_table[Row].kind>::Type;

  static void* new_routed(void* provider_context) noexcept {
    return Context::create(route_of(provider_context, Row));
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
  static const auto table = functions_of_rows(std::make_index_sequence<cipher_count>{});
  return table[row];
}

// Of each kind of context, the functions that need no provider context.
struct ContextFunctions {
  Function free, duplicate, encrypt_init, decrypt_init, update, cipher, final, get_params,
      set_params;
};

template <class Context>
ContextFunctions functions_of_context() noexcept {
  return {
      generic(Context::free),         generic(Context::duplicate),  generic(Context::encrypt_init),
      generic(Context::decrypt_init), generic(Context::update),     generic(Context::cipher),
      generic(Context::final),        generic(Context::get_params), generic(Context::set_params)};
}

ContextFunctions functions_of_kind(Kind kind) noexcept {
  switch (kind) {
    case Kind::data_units:
      return functions_of_context<XtsContext>();
    case Kind::gcm:
      return functions_of_context<GcmContext>();
    default:
      return functions_of_context<CipherContext>();
  }
}

// kaccel's function in place of OpenSSL's; nullptr for one that is not passed on, because it would
// be handed a context it does not know.
Function routed_function(const RowFunctions& own, const ContextFunctions& context,
                         const OSSL_DISPATCH& software) noexcept {
  switch (software.function_id) {
    case OSSL_FUNC_CIPHER_NEWCTX:
      return own.new_routed;
    case OSSL_FUNC_CIPHER_FREECTX:
      return context.free;
    case OSSL_FUNC_CIPHER_DUPCTX:
      return context.duplicate;
    case OSSL_FUNC_CIPHER_ENCRYPT_INIT:
      return context.encrypt_init;
    case OSSL_FUNC_CIPHER_DECRYPT_INIT:
      return context.decrypt_init;
    case OSSL_FUNC_CIPHER_UPDATE:
      return context.update;
    case OSSL_FUNC_CIPHER_FINAL:
      return context.final;
    case OSSL_FUNC_CIPHER_CIPHER:
      return context.cipher;
    case OSSL_FUNC_CIPHER_GET_CTX_PARAMS:
      return context.get_params;
    case OSSL_FUNC_CIPHER_SET_CTX_PARAMS:
      return context.set_params;
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
  constexpr std::size_t usual_size = 20;
  result.reserve(usual_size);
  for (; software->function_id != 0; ++software) {
    const Function function = choose(functions_of(row), *software);
    if (function != nullptr) result.push_back({software->function_id, function});
  }
  result.push_back({0, nullptr});
  return result;
}

}  // namespace

std::vector<OSSL_DISPATCH> routed_table(std::size_t row, const OSSL_DISPATCH* software) {
  const ContextFunctions context = functions_of_kind(algorithm_table[row].kind);
  return table(row, software, [&context](const RowFunctions& own, const OSSL_DISPATCH& function) {
    return routed_function(own, context, function);
  });
}

std::vector<OSSL_DISPATCH> software_table(std::size_t row, const OSSL_DISPATCH* software) {
  return table(row, software, software_function);
}

}  // namespace kaccel
