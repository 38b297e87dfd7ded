#include "calibrate/report.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "calibrate/text_table.hpp"
#include "calibrate/units.hpp"

namespace kaccel::calibrate {
namespace {

TEST(Units, DurationsHaveThreeDigits) {
  EXPECT_EQ(duration(0), "0 ns");
  EXPECT_EQ(duration(812.4), "812 ns");
  EXPECT_EQ(duration(999.6), "1.00 us");
  EXPECT_EQ(duration(3412), "3.41 us");
  EXPECT_EQ(duration(58'120), "58.1 us");
  EXPECT_EQ(duration(1'200'000), "1.20 ms");
  EXPECT_EQ(duration(2.5e9), "2.50 s");
}

TEST(SpeedBar, PointsToTheFasterSideAndHasAFixedWidth) {
  EXPECT_EQ(speed_bar(100, 100), "        |        ");
  EXPECT_EQ(speed_bar(100, 105), "       <|        ");
  EXPECT_EQ(speed_bar(105, 100), "        |>       ");
  EXPECT_EQ(speed_bar(200, 100), "        |>>>     ");
  EXPECT_EQ(speed_bar(1, 1e9), "<<<<<<<<|        ");
}

TEST(TextTable, LinesUpAndEndsNoLineInBlanks) {
  TextTable table({{"A"}, {"N", TextTable::Align::right}, {"LAST"}});
  table.add({"long", "7", ""});
  table.add({"s", "1234", "x"});
  std::ostringstream out;
  table.print(out);
  EXPECT_EQ(out.str(),
            "A        N  LAST\n"
            "long     7\n"
            "s     1234  x\n");
}

}  // namespace
}  // namespace kaccel::calibrate
