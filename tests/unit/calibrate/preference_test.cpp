#include "calibrate/preference.hpp"

#include <gtest/gtest.h>

#include "calibrate/command_error.hpp"

namespace kaccel::calibrate {
namespace {

constexpr Preference speed{};
constexpr Preference offload_25{25};

Cost cost(std::uint64_t wall_ns, std::uint64_t cpu_ns) {
  return {wall_ns, cpu_ns, 8};
}

TEST(Preference, SpeedWantsStrictlyFasterHardwareWhateverItSpends) {
  EXPECT_TRUE(hardware_wins(cost(1000, 100), cost(999, 5000), speed));
  EXPECT_FALSE(hardware_wins(cost(1000, 1000), cost(1000, 10), speed));
}

TEST(Preference, OffloadTakesSlowerHardwareForTheCpuThatItSaves) {
  EXPECT_TRUE(hardware_wins(cost(1000, 1000), cost(1250, 999), offload_25));
  EXPECT_FALSE(hardware_wins(cost(1000, 1000), cost(1251, 10), offload_25));
  EXPECT_FALSE(hardware_wins(cost(1000, 1000), cost(1100, 1000), offload_25));
}

TEST(Preference, OffloadTakesFasterHardwareWhateverItSpends) {
  EXPECT_TRUE(hardware_wins(cost(1000, 1000), cost(999, 5000), offload_25));
}

TEST(Preference, ATieGoesToHardwareOnlyWhereItSavesCpu) {
  EXPECT_TRUE(hardware_wins(cost(1000, 1000), cost(1000, 999), offload_25));
  EXPECT_FALSE(hardware_wins(cost(1000, 1000), cost(1000, 1000), offload_25));
}

TEST(Preference, TimesNearEachOtherOrNearTheLongestAcceptedAreClose) {
  EXPECT_TRUE(is_close(cost(1000, 0), cost(1100, 0), speed));
  EXPECT_FALSE(is_close(cost(1000, 0), cost(1101, 0), speed));
  EXPECT_FALSE(is_close(cost(1000, 0), cost(1130, 0), offload_25));
  EXPECT_TRUE(is_close(cost(1000, 0), cost(1140, 0), offload_25));
  EXPECT_TRUE(is_close(cost(1000, 0), cost(1375, 0), offload_25));
  EXPECT_FALSE(is_close(cost(1000, 0), cost(1376, 0), offload_25));
}

TEST(Preference, HardwareHasLostWhereItAloneIsTooSlowAlready) {
  EXPECT_FALSE(has_lost(cost(1000, 0), cost(1100, 0), speed));
  EXPECT_TRUE(has_lost(cost(1000, 0), cost(1101, 0), speed));
  EXPECT_FALSE(has_lost(cost(1000, 0), cost(500, 0), speed));
  EXPECT_FALSE(has_lost(cost(1000, 0), cost(1200, 0), offload_25));
  EXPECT_FALSE(has_lost(cost(1000, 0), cost(1375, 0), offload_25));
  EXPECT_TRUE(has_lost(cost(1000, 0), cost(1376, 0), offload_25));
}

TEST(Preference, IsReadAsItIsWritten) {
  for (const char* text : {"speed", "offload=1", "offload=25", "offload=400"}) {
    EXPECT_EQ(describe(parse_preference(text)), text);
  }
  EXPECT_EQ(parse_preference("offload=25"), offload_25);
}

TEST(Preference, AnythingElseIsOneLine) {
  for (const char* text :
       {"fast", "Speed", "offload", "offload=", "offload=0", "offload=401", "offload=-5",
        "offload=2.5", "offload=25%", "offload= 25", "offload=99999999999999999999", "speed=1"}) {
    try {
      parse_preference(text);
      FAIL() << text;
    } catch (const CommandError& error) {
      EXPECT_EQ(error.status(), exit_bad_input);
      EXPECT_EQ(std::string(error.what()),
                std::string("wrong --prefer: ") + text +
                    ": say speed, or offload=PERCENT with a whole number from 1 to 400, for "
                    "example offload=25");
    }
  }
}

}  // namespace
}  // namespace kaccel::calibrate
