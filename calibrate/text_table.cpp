#include "calibrate/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace kaccel::calibrate {

void TextTable::print(std::ostream& out) const {
  std::vector<std::size_t> widths;
  std::vector<std::string> titles;
  for (const auto& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(column.title.size());
  }
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  const auto print_row = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += columns_[i].align == Align::right ? fmt::format("{:>{}}", row[i], widths[i])
                                                : fmt::format("{:<{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  };
  print_row(titles);
  for (const auto& row : rows_) print_row(row);
}

}  // namespace kaccel::calibrate
