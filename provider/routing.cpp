#include "provider/routing.hpp"

namespace kaccel {

const char* describe(RouteReason reason) noexcept {
  switch (reason) {
    case RouteReason::above_threshold:
      return "the size is above the threshold";
    case RouteReason::threshold_is_zero:
      return "the threshold is 0: always hardware";
    case RouteReason::threshold_is_never:
      return "the threshold is -1: never hardware";
    case RouteReason::within_threshold:
      return "the size is within the threshold";
    case RouteReason::too_small_for_any_hardware:
      return "requests of 16 bytes and fewer go to hardware only with a threshold of 0";
    case RouteReason::driver_refuses_key_size:
      return "the driver must not be given this key size";
    case RouteReason::driver_refuses_size:
      return "the driver must not be given this size";
  }
  return "unknown";
}

}  // namespace kaccel
