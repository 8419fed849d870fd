// SPDX-License-Identifier: BSD-3-Clause
#include "record.h"

#include <charconv>
#include <fstream>
#include <string_view>

namespace sumac::replay {
namespace {

constexpr int kFormat = 1;
constexpr int kMostRanks = 1 << 24;  // what a file says is not trusted

// The words of a line, one after another. Throws std::invalid_argument.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  bool more() const { return !rest_.empty(); }
  std::string_view rest() const { return rest_; }
  std::string_view next() {
    if (!more()) throw std::invalid_argument("words are missing");
    const std::size_t end = rest_.find(' ');
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
    return word;
  }
  void expect(std::string_view word) {
    if (next() != word) throw std::invalid_argument("'" + std::string(word) + "' is missing");
  }
  std::int64_t number() { return number_of(next()); }

  static std::int64_t number_of(std::string_view word) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) {
      throw std::invalid_argument("'" + std::string(word.substr(0, 40)) + "' is no number");
    }
    return value;
  }

 private:
  std::string_view rest_;
};

std::vector<std::int64_t> list_of(std::string_view text) {
  std::vector<std::int64_t> list;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    list.push_back(Words::number_of(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return list;
}

std::vector<int> members_of(std::string_view text) {
  std::vector<int> members;
  while (text != "outside" && !text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view range = text.substr(0, end);
    const std::size_t dash = range.find('-');
    const std::int64_t first = Words::number_of(range.substr(0, dash));
    const std::int64_t last = dash == range.npos ? first : Words::number_of(range.substr(dash + 1));
    if (first < 0 || last < first || last >= kMostRanks) {
      throw std::invalid_argument("no range of ranks");
    }
    for (std::int64_t r = first; r <= last; ++r) members.push_back(static_cast<int>(r));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return members;
}

class Reader {
 public:
  explicit Reader(Record& record) : record_(record) {}

  void line(std::string_view text) {
    Words words(text);
    const std::string_view kind = words.next();
    if (kind == "overlap") {
      record_.overlaps = true;
    } else if (kind == "e") {
      record_.ended = words.next() == "finalized";
    } else if (kind == "c") {
      check(words.number(), record_.comms.size());
      const std::string_view members = words.next();
      record_.comms.push_back({members_of(members), std::string(words.rest())});
    } else if (kind == "t") {
      type(words);
    } else if (kind == "o") {
      check(words.number(), record_.ops.size());
      record_.ops.emplace_back(words.rest());
    } else if (kind == "s") {
      shape(words);
    } else if (kind.size() == 1 && std::string_view("bipgwf").find(kind[0]) != kind.npos) {
      event(kind[0], words);
    } else if (kind != "n" && kind != "x") {
      throw std::invalid_argument("a line of an unknown kind");
    }
  }

 private:
  static void check(std::int64_t number, std::size_t next) {
    if (number != static_cast<std::int64_t>(next)) throw std::invalid_argument("a number is out");
  }
  template <class Defined>
  static int defined(std::int64_t number, const std::vector<Defined>& all) {
    if (number < 0 || number >= static_cast<std::int64_t>(all.size())) {
      throw std::invalid_argument("a number is not defined");
    }
    return static_cast<int>(number);
  }

  void type(Words& words) {
    check(words.number(), record_.types.size());
    TypeText type;
    type.constructor = words.next();
    if (type.constructor == "named") {
      type.name = words.rest();
    } else if (type.constructor == "opaque") {
      while (words.more()) type.numbers.push_back(words.number());
      if (type.numbers.size() != 5) throw std::invalid_argument("no opaque type");
    } else if (type.constructor != "null") {
      for (std::int64_t left = words.number(); left > 0; --left) {
        type.numbers.push_back(words.number());
      }
      while (words.more()) type.types.push_back(defined(words.number(), record_.types));
    }
    record_.types.push_back(std::move(type));
  }

  void shape(Words& words) {
    check(words.number(), record_.shapes.size());
    Shape shape;
    const std::string_view function = words.next(), form = words.next();
    int index = 0;
    while (index < kNumFunctions && function != name_of(static_cast<Function>(index))) ++index;
    if (index == kNumFunctions) throw std::invalid_argument("an unknown function");
    shape.function = static_cast<Function>(index);
    if (form != "blocking" && form != "nonblocking" && form != "persistent") {
      throw std::invalid_argument("an unknown form");
    }
    shape.form = form == "blocking"      ? Form::blocking
                 : form == "nonblocking" ? Form::nonblocking
                                         : Form::persistent;
    while (words.more()) argument(words.next(), shape);
    if (shape.comm == kNone) throw std::invalid_argument("a call on no communicator");
    record_.shapes.push_back(std::move(shape));
  }

  void argument(std::string_view word, Shape& shape) {
    if (word == "large") {
      shape.large = true;
      return;
    }
    const std::size_t equals = word.find('=');
    if (equals == word.npos) throw std::invalid_argument("no argument");
    const std::string_view name = word.substr(0, equals), value = word.substr(equals + 1);
    if (name == "c") {
      shape.comm = defined(Words::number_of(value), record_.comms);
    } else if (name == "root") {
      shape.root = static_cast<int>(Words::number_of(value));
    } else if (name == "op") {
      shape.op = defined(Words::number_of(value), record_.ops);
    } else if (name.size() <= 2 && (name[0] == 's' || name[0] == 'r')) {
      part(name.substr(1), value, name[0] == 's' ? shape.send : shape.receive);
    } else {
      throw std::invalid_argument("an unknown argument");
    }
  }

  void part(std::string_view name, std::string_view value, Side& side) {
    if (name.empty()) return buffer(value, side);
    const std::vector<std::int64_t> list = list_of(value);
    if (name == "n") side.counts = list;
    if (name == "d") side.places = list;
    if (name != "t") return;
    for (const std::int64_t type : list) side.types.push_back(defined(type, record_.types));
  }

  void buffer(std::string_view value, Side& side) {
    side.given = true;
    side.in_place = value == "=";
    if (side.in_place) return;
    const std::size_t comma = value.find(','), second = value.find(',', comma + 1);
    if (second == value.npos) throw std::invalid_argument("no buffer");
    side.place = Words::number_of(value.substr(0, comma));
    side.count = Words::number_of(value.substr(comma + 1, second - comma - 1));
    const std::string_view type = value.substr(second + 1);
    if (type != "-") side.type = defined(Words::number_of(type), record_.types);
  }

  std::uint32_t request(std::int64_t number) {
    if (number < 0 || number > UINT32_MAX - 1) throw std::invalid_argument("no request");
    const auto request = static_cast<std::uint32_t>(number);
    record_.num_requests = std::max(record_.num_requests, request + 1);
    record_.requests.push_back(request);
    return request;
  }

  void event(char kind, Words& words) {
    Event event;
    event.kind = kind;
    event.first = static_cast<std::uint32_t>(record_.requests.size());
    std::vector<std::int64_t> numbers;
    while (words.more()) numbers.push_back(words.number());
    const bool has_shape = kind == 'b' || kind == 'i' || kind == 'p';
    const std::size_t times = kind == 'f' ? 0 : 2, before = has_shape ? 1 : 0;
    if (numbers.size() < before + times) throw std::invalid_argument("numbers are missing");
    if (has_shape) event.shape = defined(numbers[0], record_.shapes);
    for (std::size_t i = before; i < numbers.size() - times; ++i) request(numbers[i]);
    event.requests = static_cast<std::uint32_t>(record_.requests.size()) - event.first;
    if (times) event.gap = static_cast<std::uint64_t>(numbers[numbers.size() - 2]);
    if ((kind == 'b') != (event.requests == 0)) throw std::invalid_argument("strange requests");
    record_.events.push_back(event);
  }

  Record& record_;
};

void read_head(std::istream& file, Record& record) {
  std::string line;
  std::getline(file, line);
  Words format(line);
  format.expect("sumac-record");
  if (format.number() != kFormat) throw std::invalid_argument("another version of the format");
  std::getline(file, line);
  Words ranks(line);
  ranks.expect("rank");
  record.rank = static_cast<int>(ranks.number());
  ranks.expect("of");
  record.ranks = static_cast<int>(ranks.number());
  std::getline(file, line);  // by
  std::getline(file, line);  // began
}

}  // namespace

Record read_record(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Failure("bad-record", path + " cannot be read");
  Record record;
  Reader reader(record);
  long number = 4;
  try {
    read_head(file, record);
    for (std::string line; std::getline(file, line); ++number) {
      // A line without its end has been cut off, and is the last one.
      if (file.eof()) break;
      reader.line(line);
    }
  } catch (const std::invalid_argument& error) {
    throw Failure("bad-record",
                  path + ", line " + std::to_string(number + 1) + ": " + error.what());
  }
  return record;
}

}  // namespace sumac::replay
