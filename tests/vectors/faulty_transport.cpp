#include "faulty_transport.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace kaccel::vectors {

using kernel::Failure;
using kernel::Status;
using Leaving = TransportFault::Leaving;
using Step = TransportFault::Step;

namespace {

constexpr std::array failures{
    Failure::no_af_alg,      Failure::denied,         Failure::no_driver, Failure::bad_key,
    Failure::busy,           Failure::no_descriptors, Failure::no_memory, Failure::descriptor_lost,
    Failure::short_transfer, Failure::driver_error,
};

std::vector<TransportFault> make_all_faults() {
  std::vector<TransportFault> all;
  for (const Failure failure : failures) {
    all.push_back({Step::open, failure});
    all.push_back({Step::set_key, failure});
    for (const Leaving leaving :
         {Leaving::nothing, Leaving::rubbish, Leaving::half, Leaving::all}) {
      all.push_back({Step::request, failure, leaving});
    }
  }
  all.push_back({Step::request, Failure::none, Leaving::a_result});
  return all;
}

}  // namespace

std::span<const TransportFault> all_transport_faults() {
  static const std::vector<TransportFault> all = make_all_faults();
  return all;
}

std::string describe(const TransportFault& fault) {
  constexpr std::array steps{"opening", "setting the key", "a request"};
  constexpr std::array left{"nothing", "rubbish", "half the result", "the whole result",
                            "the result, late"};
  return std::string(steps.at(static_cast<std::size_t>(fault.step))) + ": " +
         kernel::describe(fault.failure) + ", leaving " +
         left.at(static_cast<std::size_t>(fault.leaving));
}

class FaultyTransport::FaultySession final : public kernel::Session {
 public:
  FaultySession(FaultyTransport& transport, std::unique_ptr<kernel::Session> session)
      : transport_(transport), session_(std::move(session)) {}

  Status set_key(std::span<const std::uint8_t> key) noexcept override {
    if (const auto* fault = next(Step::set_key)) return {fault->failure, EIO};
    return session_->set_key(key);
  }

  Status crypt(const kernel::CipherRequest& request) noexcept override {
    const TransportFault* fault = next(Step::request);
    if (fault == nullptr) return session_->crypt(request);
    std::vector<std::uint8_t> result(request.input.size());
    const Status status =
        session_->crypt({request.direction, request.iv, request.input, result.data()});
    return status ? answer(*fault, result, request.output) : status;
  }

  Status mac(std::span<const std::uint8_t> message,
             std::span<std::uint8_t> digest) noexcept override {
    const TransportFault* fault = next(Step::request);
    if (fault == nullptr) return session_->mac(message, digest);
    std::vector<std::uint8_t> result(digest.size());
    const Status status = session_->mac(message, result);
    return status ? answer(*fault, result, digest.data()) : status;
  }

  std::size_t max_request() const noexcept override { return session_->max_request(); }

 private:
  // Nothing may come after a fault that is a failure.
  const TransportFault* next(Step step) {
    if (failed_) transport_.failed_session_used_ = true;
    const TransportFault* fault = transport_.next(step);
    if (fault != nullptr) failed_ = fault->failure != Failure::none;
    return fault;
  }

  static Status answer(const TransportFault& fault, const std::vector<std::uint8_t>& result,
                       std::uint8_t* output) {
    const std::size_t size = result.size();
    switch (fault.leaving) {
      case Leaving::nothing:
        break;
      case Leaving::rubbish:
        std::memset(output, 0xa5, size);
        break;
      case Leaving::half:
        std::copy_n(result.begin(), size / 2, output);
        break;
      case Leaving::a_result:
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        [[fallthrough]];
      case Leaving::all:
        std::copy(result.begin(), result.end(), output);
        break;
    }
    return fault.failure == Failure::none ? kernel::success : Status{fault.failure, EIO};
  }

  FaultyTransport& transport_;
  const std::unique_ptr<kernel::Session> session_;
  bool failed_ = false;
};

Status FaultyTransport::open(const char* driver, kernel::Algorithm algorithm,
                             std::unique_ptr<kernel::Session>& session) noexcept {
  if (const auto* fault = next(Step::open)) return {fault->failure, EIO};
  std::unique_ptr<kernel::Session> behind;
  if (const Status opened = driver_.open(driver, algorithm, behind); !opened) return opened;
  session = std::make_unique<FaultySession>(*this, std::move(behind));
  return kernel::success;
}

void FaultyTransport::fail(const TransportFault& fault, std::uint64_t nth) {
  fault_ = fault;
  left_ = nth;
  injected_ = false;
}

std::vector<std::string> FaultyTransport::violations() const {
  std::vector<std::string> all = driver_.violations();
  if (failed_session_used_) all.emplace_back("a session is used after it has failed");
  return all;
}

const TransportFault* FaultyTransport::next(Step step) {
  if (step != fault_.step || left_ == 0 || --left_ != 0) return nullptr;
  injected_ = true;
  return &fault_;
}

}  // namespace kaccel::vectors
