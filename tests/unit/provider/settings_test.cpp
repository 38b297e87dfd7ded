#include "provider/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

namespace kaccel {
namespace {

using Values = std::map<std::string, std::string>;

const Values whole_group{{"thresholds.AES-128-CBC.driver", "cbc-aes-qce"},
                         {"thresholds.AES-128-CBC.encrypt", "768"},
                         {"thresholds.AES-128-CBC.decrypt", "512"}};

Values with(Values values, const char* key, const char* value) {
  values[key] = value;
  return values;
}

Values without(Values values, const char* key) {
  values.erase(key);
  return values;
}

std::optional<SettingsError> parse(const Values& values, Settings& settings) {
  return parse_settings(
      [&values](const char* key) {
        const auto found = values.find(key);
        return found == values.end() ? nullptr : found->second.c_str();
      },
      settings);
}

Settings parsed(const Values& values) {
  Settings settings;
  const auto error = parse(values, settings);
  EXPECT_FALSE(error) << error->message;
  return settings;
}

// The message of what must be wrong, in one line.
std::string error_of(const Values& values) {
  Settings settings;
  settings.max_sessions = 7;
  const auto error = parse(values, settings);
  EXPECT_EQ(settings.max_sessions, 7U) << "settings changed in spite of an error";
  if (!error) return "no error";
  EXPECT_EQ(error->message.find('\n'), std::string::npos);
  return error->message;
}

const AlgorithmSettings& row(const Settings& settings, const char* algorithm) {
  return settings.algorithms.at(find_algorithm(algorithm));
}

TEST(SettingsTest, HaveDefaultsForAll) {
  const Settings settings = parsed({});
  EXPECT_EQ(settings.max_sessions, 64U);
  EXPECT_TRUE(settings.load_default);
  EXPECT_FALSE(settings.calibrated);
  EXPECT_FALSE(settings.under_seccomp);
  EXPECT_FALSE(settings.force_threshold);
  for (const AlgorithmSettings& algorithm : settings.algorithms) EXPECT_EQ(algorithm.driver, "");
}

TEST(SettingsTest, ReadAGroupOfAnAlgorithm) {
  const Settings settings = parsed(with(with(whole_group, "thresholds.AES-128-CBC.min_size", "32"),
                                        "thresholds.AES-128-CBC.max_size", "65536"));
  EXPECT_TRUE(settings.calibrated);
  const AlgorithmSettings& algorithm = row(settings, "AES-128-CBC");
  EXPECT_EQ(algorithm.driver, "cbc-aes-qce");
  EXPECT_EQ(algorithm.encrypt, 768);
  EXPECT_EQ(algorithm.decrypt, 512);
  EXPECT_EQ(algorithm.restrictions.min_size, 32U);
  EXPECT_EQ(algorithm.restrictions.max_size, 65536U);
  EXPECT_EQ(row(settings, "AES-256-CBC").driver, "");
}

TEST(SettingsTest, ReadARuleOfMultiplesOfEachAlgorithm) {
  for (const Algorithm& algorithm : algorithm_table) {
    const std::string prefix = std::string("thresholds.") + algorithm.name;
    Values values{{prefix + ".driver", "d"}, {prefix + ".size_multiple", "512"}};
    if (is_mac(algorithm)) {
      values[prefix + ".threshold"] = "0";
    } else {
      values[prefix + ".encrypt"] = "0";
      values[prefix + ".decrypt"] = "0";
    }
    const Settings settings = parsed(values);
    EXPECT_EQ(row(settings, algorithm.name).restrictions,
              (kernel::Restrictions{.multiple_above = 512, .size_multiple = 512}));
  }
  EXPECT_EQ(row(parsed(whole_group), "AES-128-CBC").restrictions, kernel::Restrictions{});
}

TEST(SettingsTest, ReadAGroupOfEachAlgorithm) {
  for (const Algorithm& algorithm : algorithm_table) {
    const std::string prefix = std::string("thresholds.") + algorithm.name;
    if (is_mac(algorithm)) {
      const Settings settings = parsed({{prefix + ".driver", "d"}, {prefix + ".threshold", "512"}});
      EXPECT_EQ(row(settings, algorithm.name).driver, "d");
      EXPECT_EQ(row(settings, algorithm.name).encrypt, 512);
      continue;
    }
    const Settings settings = parsed(
        {{prefix + ".driver", "d"}, {prefix + ".encrypt", "-1"}, {prefix + ".decrypt", "0"}});
    EXPECT_EQ(row(settings, algorithm.name).driver, "d");
    EXPECT_EQ(row(settings, algorithm.name).encrypt, never_hardware);
    EXPECT_EQ(row(settings, algorithm.name).decrypt, always_hardware);
  }
}

TEST(SettingsTest, HaveNoDirectionForAMac) {
  EXPECT_THAT(error_of({{"thresholds.HMAC-SHA256.driver", "d"},
                        {"thresholds.HMAC-SHA256.encrypt", "1"},
                        {"thresholds.HMAC-SHA256.decrypt", "1"}}),
              ::testing::HasSubstr("HMAC-SHA256.threshold is missing"));
  const auto unknown = find_unknown_key({{"thresholds.HMAC-SHA256.encrypt", "1"}});
  ASSERT_TRUE(unknown);
  EXPECT_THAT(unknown->message, ::testing::HasSubstr("an HMAC has .threshold"));
}

TEST(SettingsTest, LetAnXtsAloneSteal) {
  const Settings settings = parsed({{"thresholds.AES-128-XTS.driver", "d"},
                                    {"thresholds.AES-128-XTS.encrypt", "0"},
                                    {"thresholds.AES-128-XTS.decrypt", "0"},
                                    {"thresholds.AES-128-XTS.ciphertext_stealing", "yes"}});
  EXPECT_TRUE(row(settings, "AES-128-XTS").ciphertext_stealing);
  EXPECT_TRUE(find_unknown_key({{"thresholds.AES-128-CBC.ciphertext_stealing", "yes"}}));
}

TEST(SettingsTest, ReadTheKeysOfTheSection) {
  const Settings settings = parsed({{"max_sessions", "1024"},
                                    {"load_default", "no"},
                                    {"force_threshold", "0"},
                                    {"under_seccomp", "yes"}});
  EXPECT_EQ(settings.max_sessions, 1024U);
  EXPECT_FALSE(settings.load_default);
  EXPECT_EQ(settings.force_threshold, 0);
  EXPECT_TRUE(settings.under_seccomp);
}

TEST(SettingsTest, KnowWhenASectionOfThresholdsIsMissing) {
  // OpenSSL hands over the section's name as a value when there is no such section.
  EXPECT_EQ(parsed({{"thresholds", "kaccel_thresholds"}}).missing_section, "kaccel_thresholds");
  EXPECT_EQ(parsed(whole_group).missing_section, "");
}

TEST(SettingsTest, TakeACalibrationThatFoundNothingForOne) {
  EXPECT_TRUE(parsed({{"thresholds.calibrated", "yes"}}).calibrated);
  EXPECT_FALSE(parsed({{"thresholds.calibrated", "no"}}).calibrated);
}

TEST(SettingsTest, ReadYesAndNoInTheWordsPeopleUse) {
  for (const char* word : {"yes", "true", "on", "1", "Yes", "TRUE"}) {
    EXPECT_TRUE(parsed({{"load_default", word}}).load_default) << word;
  }
  for (const char* word : {"no", "false", "off", "0", "No"}) {
    EXPECT_FALSE(parsed({{"load_default", word}}).load_default) << word;
  }
}

struct Bad {
  const char* key;
  const char* value;
};

TEST(SettingsTest, SizesThatNoRequestCouldHaveAreRefused) {
  const auto sizes = [](const char* least, const char* most) {
    return with(with(whole_group, "thresholds.AES-128-CBC.min_size", least),
                "thresholds.AES-128-CBC.max_size", most);
  };
  EXPECT_NE(error_of(sizes("100", "50"))
                .find("thresholds.AES-128-CBC.min_size is above thresholds.AES-128-CBC.max_size"),
            std::string::npos);
  EXPECT_EQ(row(parsed(sizes("50", "50")), "AES-128-CBC").restrictions.max_size, 50U);
}

TEST(SettingsTest, NameKeyAndValueOfWhatIsWrong) {
  for (const Bad& bad : {
           Bad{"max_sessions", "0"},
           Bad{"max_sessions", "1025"},
           Bad{"max_sessions", "many"},
           Bad{"max_sessions", ""},
           Bad{"load_default", "maybe"},
           Bad{"load_default", ""},
           Bad{"under_seccomp", "maybe"},
           Bad{"force_threshold", "-2"},
           Bad{"force_threshold", "5x"},
           Bad{"force_threshold", "99999999999999999999"},
           Bad{"thresholds.calibrated", "perhaps"},
           Bad{"thresholds.AES-128-CBC.encrypt", "-2"},
           Bad{"thresholds.AES-128-CBC.encrypt", "0x10"},
           Bad{"thresholds.AES-128-CBC.encrypt", " 512"},
           Bad{"thresholds.AES-128-CBC.decrypt", "+1"},
           Bad{"thresholds.AES-128-CBC.decrypt", "2147483648"},
           Bad{"thresholds.AES-128-CBC.min_size", "0"},
           Bad{"thresholds.AES-128-CBC.max_size", "-1"},
           Bad{"thresholds.AES-128-CBC.size_multiple", "0"},
           Bad{"thresholds.AES-128-CBC.size_multiple", "1048577"},
           Bad{"thresholds.AES-128-CBC.driver", "a driver"},
           Bad{"thresholds.AES-128-CBC.driver",
               "0123456789012345678901234567890123456789012345678901234567890123"},
       }) {
    const std::string message = error_of(with(whole_group, bad.key, bad.value));
    EXPECT_NE(message.find(std::string(bad.key) + " = " + bad.value + ": must be "),
              std::string::npos)
        << message;
  }
}

TEST(SettingsTest, AcceptTheLongestDriverNameTheKernelHas) {
  const std::string name(63, 'd');
  EXPECT_EQ(
      row(parsed(with(whole_group, "thresholds.AES-128-CBC.driver", name.c_str())), "AES-128-CBC")
          .driver,
      name);
}

TEST(SettingsTest, TakeAGroupWithoutItsDriverForAFileThatWasCutOff) {
  const std::string message = error_of(without(whole_group, "thresholds.AES-128-CBC.driver"));
  EXPECT_NE(message.find("thresholds.AES-128-CBC.driver is missing"), std::string::npos) << message;
  EXPECT_NE(message.find("cut off"), std::string::npos) << message;
  EXPECT_NE(message.find("kaccel-calibrate"), std::string::npos) << message;
}

TEST(SettingsTest, WantBothThresholdsOfADriver) {
  for (const char* key : {"thresholds.AES-128-CBC.encrypt", "thresholds.AES-128-CBC.decrypt"}) {
    const std::string message = error_of(without(whole_group, key));
    EXPECT_NE(message.find(std::string(key) + " is missing"), std::string::npos) << message;
  }
}

TEST(SettingsTest, ReportTheFirstOfSeveralErrors) {
  EXPECT_NE(error_of({{"max_sessions", "x"}, {"load_default", "y"}}).find("max_sessions"),
            std::string::npos);
}

TEST(UnknownKeyTest, IsFoundAndNamedTogetherWithWhatIsKnown) {
  const auto own = find_unknown_key({{"module", "kaccel.so"}, {"max_session", "64"}});
  ASSERT_TRUE(own);
  EXPECT_NE(own->message.find("max_session:"), std::string::npos) << own->message;
  EXPECT_NE(own->message.find("max_sessions"), std::string::npos) << own->message;
  const auto threshold = find_unknown_key({{"thresholds.AES-512-CBC.encrypt", "1"}});
  ASSERT_TRUE(threshold);
  EXPECT_NE(threshold->message.find("thresholds.AES-512-CBC.encrypt"), std::string::npos);
  EXPECT_NE(threshold->message.find("ALGORITHM"), std::string::npos) << threshold->message;
  EXPECT_TRUE(find_unknown_key({{"thresholds.AES-128-CBC.encrpt", "1"}}));
}

TEST(UnknownKeyTest, IsAlsoOneOfAGroupWithoutItsDriver) {
  const auto error = find_unknown_key({{"thresholds.AES-128-CBC.min_size", "32"},
                                       {"thresholds.AES-128-CTR.driver", "d"},
                                       {"thresholds.AES-128-CTR.max_size", "4096"}});
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("AES-128-CBC.driver is missing though thresholds.AES-128-CBC.min"),
            std::string::npos)
      << error->message;
}

TEST(KnownKeysTest, AreFoundByTheirNames) {
  const auto known = known_settings_keys();
  for (std::size_t i = 0; i < known.size(); ++i) EXPECT_EQ(find_settings_key(known[i]), i);
  for (const char* other :
       {"", "module", "thresholds.", "thresholds.AES-128-CBC", "AES-128-CBC.driver",
        "thresholds.AES-128-CBC.threshold", "thresholds.AES-128-CBC.driver.x"}) {
    EXPECT_EQ(find_settings_key(other), known.size()) << other;
  }
}

TEST(KnownKeysTest, AreInGroupsThatBeginWithDriverAndThreshold) {
  const auto known = known_settings_keys();
  std::size_t next = settings_key_groups().front().first;
  for (const KeyGroup& group : settings_key_groups()) {
    EXPECT_EQ(group.first, next);
    EXPECT_TRUE(std::string_view(known[group.first]).ends_with(".driver"));
    const std::string_view second(known[group.first + 1]);
    EXPECT_TRUE(second.ends_with(".encrypt") || second.ends_with(".threshold")) << second;
    next += group.size;
  }
  EXPECT_EQ(next, known.size());
}

TEST(UnknownKeyTest, IsNoneOfOpensslsOrKaccelsOwn) {
  Values all{{"identity", "kaccel"}, {"module", "m"}, {"soft_load", "1"}, {"activate", "1"}};
  for (const char* key : known_settings_keys()) all[key] = "x";
  const auto error = find_unknown_key(all);
  EXPECT_FALSE(error) << error->message;
}

TEST(KnownKeysTest, AreAllTheKeysThatAreRead) {
  const auto known = known_settings_keys();
  Settings settings;
  const auto error = parse_settings(
      [&](const char* key) -> const char* {
        EXPECT_TRUE(std::any_of(known.begin(), known.end(), [key](const char* each) {
          return std::string_view(each) == key;
        })) << key;
        return nullptr;
      },
      settings);
  EXPECT_FALSE(error);
}

TEST(AlgorithmsTest, AreFoundInAnyLetterCase) {
  EXPECT_EQ(find_algorithm("aes-128-cbc"), find_algorithm("AES-128-CBC"));
  EXPECT_LT(find_algorithm("AES-256-CTR"), algorithm_table.size());
  EXPECT_EQ(find_algorithm("AES-256-CTRX"), algorithm_table.size());
  EXPECT_EQ(find_algorithm(""), algorithm_table.size());
}

}  // namespace
}  // namespace kaccel
