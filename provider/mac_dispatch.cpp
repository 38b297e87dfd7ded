#include "provider/mac_dispatch.hpp"

#include "provider/hmac_context.hpp"
#include "provider/provider_context.hpp"

namespace kaccel {
namespace {

using Function = void (*)();

template <class F>
Function generic(F* function) noexcept {
  return reinterpret_cast<Function>(function);
}

MacRoute& route_of(void* provider_context) noexcept {
  return static_cast<ProviderContext*>(provider_context)->mac_route();
}

void* new_routed(void* provider_context) noexcept {
  return HmacContext::create(route_of(provider_context));
}

void* new_software(void* provider_context) noexcept {
  const MacRoute& route = route_of(provider_context);
  return route.software.newctx(route.software_provider_context);
}

const OSSL_PARAM* gettable(void* provider_context) noexcept {
  const MacRoute& route = route_of(provider_context);
  return route.software.gettable_params(route.software_provider_context);
}

const OSSL_PARAM* gettable_of_routed(void*, void* provider_context) noexcept {
  const MacRoute& route = route_of(provider_context);
  return route.software.gettable_ctx_params(nullptr, route.software_provider_context);
}

const OSSL_PARAM* settable_of_routed(void*, void* provider_context) noexcept {
  const MacRoute& route = route_of(provider_context);
  return route.software.settable_ctx_params(nullptr, route.software_provider_context);
}

const OSSL_PARAM* gettable_of_software(void* context, void* provider_context) noexcept {
  const MacRoute& route = route_of(provider_context);
  return route.software.gettable_ctx_params(context, route.software_provider_context);
}

const OSSL_PARAM* settable_of_software(void* context, void* provider_context) noexcept {
  const MacRoute& route = route_of(provider_context);
  return route.software.settable_ctx_params(context, route.software_provider_context);
}

// nullptr for a function that is not passed on, because it would be handed a context it does not
// know.
Function routed_function(const OSSL_DISPATCH& software) noexcept {
  switch (software.function_id) {
    case OSSL_FUNC_MAC_NEWCTX:
      return generic(new_routed);
    case OSSL_FUNC_MAC_FREECTX:
      return generic(HmacContext::free);
    case OSSL_FUNC_MAC_DUPCTX:
      return generic(HmacContext::duplicate);
    case OSSL_FUNC_MAC_INIT:
      return generic(HmacContext::init);
    case OSSL_FUNC_MAC_UPDATE:
      return generic(HmacContext::update);
    case OSSL_FUNC_MAC_FINAL:
      return generic(HmacContext::final);
    case OSSL_FUNC_MAC_GET_CTX_PARAMS:
      return generic(HmacContext::get_params);
    case OSSL_FUNC_MAC_SET_CTX_PARAMS:
      return generic(HmacContext::set_params);
    case OSSL_FUNC_MAC_GET_PARAMS:
      return software.function;  // takes no context
    case OSSL_FUNC_MAC_GETTABLE_PARAMS:
      return generic(gettable);
    case OSSL_FUNC_MAC_GETTABLE_CTX_PARAMS:
      return generic(gettable_of_routed);
    case OSSL_FUNC_MAC_SETTABLE_CTX_PARAMS:
      return generic(settable_of_routed);
    default:
      return nullptr;
  }
}

Function software_function(const OSSL_DISPATCH& software) noexcept {
  switch (software.function_id) {
    case OSSL_FUNC_MAC_NEWCTX:
      return generic(new_software);
    case OSSL_FUNC_MAC_GETTABLE_PARAMS:
      return generic(gettable);
    case OSSL_FUNC_MAC_GETTABLE_CTX_PARAMS:
      return generic(gettable_of_software);
    case OSSL_FUNC_MAC_SETTABLE_CTX_PARAMS:
      return generic(settable_of_software);
    default:
      return software.function;
  }
}

template <class Choose>
std::vector<OSSL_DISPATCH> table(const OSSL_DISPATCH* software, Choose choose) {
  std::vector<OSSL_DISPATCH> result;
  for (; software->function_id != 0; ++software) {
    const Function function = choose(*software);
    if (function != nullptr) result.push_back({software->function_id, function});
  }
  result.push_back({0, nullptr});
  return result;
}

}  // namespace

std::vector<OSSL_DISPATCH> routed_mac_table(const OSSL_DISPATCH* software) {
  return table(software, routed_function);
}

std::vector<OSSL_DISPATCH> software_mac_table(const OSSL_DISPATCH* software) {
  return table(software, software_function);
}

}  // namespace kaccel
