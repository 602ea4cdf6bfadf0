#include "engine/convert/pickle.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/convert/little_endian.h"
#include "engine/convert/pickle_names.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

using Kind = PickleValue::Kind;
using Index = PickleValue::Index;

Error Unsupported(std::string message) {
  return Error{ErrorCode::kUnsupported, std::move(message)};
}

// The stack machine of pickletools.py. The comments give its names of the opcodes.
class Machine {
 public:
  explicit Machine(std::string_view bytes) : at_(bytes) {}

  Result<std::optional<Pickle>> Run() {
    while (!is_done_) {
      const auto code = static_cast<unsigned char>(at_.Whole(1));
      if (at_.is_short()) return std::optional<Pickle>();
      GPT2_TRY(Do(code));
      if (at_.taken() > kMostPickleBytes || pickle_.values.size() > kMostPickleValues) {
        return Unsupported(Concat("its pickle has more than ", kMostPickleBytes, " bytes or ",
                                  kMostPickleValues, " values, which no GPT-2 needs"));
      }
    }
    pickle_.size = at_.taken();
    return std::optional<Pickle>(std::move(pickle_));
  }

 private:
  // Executes an opcode. Its result is meaningless if the bytes end too early, which Run detects.
  Status Do(unsigned char code) {
    switch (code) {
      case 0x80:  // PROTO
        return TakeProtocol();
      case 0x95:  // FRAME
        at_.Bytes(8);
        return Done{};
      case '.':  // STOP
        is_done_ = true;
        return Pop(pickle_.top);
      case '(':  // MARK
        marks_.push_back(stack_.size());
        return Done{};
      case '0':  // POP
        return PopAny();
      case '1':  // POP_MARK
        return Gather(Mark());
      case '2':  // DUP
        GPT2_TRY(Gather(1));
        stack_.insert(stack_.end(), 2, gathered_[0]);
        return Done{};
      case 'N':  // NONE
        return Push(Kind::kNone);
      case 0x88:  // NEWTRUE
        return Push(Kind::kFlag, 1);
      case 0x89:  // NEWFALSE
        return Push(Kind::kFlag);
      case 'J':  // BININT
        return Push(Kind::kWhole, static_cast<std::int32_t>(at_.Whole(4)));
      case 'K':  // BININT1
      case 'M':  // BININT2
        return Push(Kind::kWhole, static_cast<std::int64_t>(at_.Whole(code == 'K' ? 1 : 2)));
      case 0x8a:  // LONG1
        return PushLong(at_.Bytes(at_.Whole(1)));
      case 'G':  // BINFLOAT
        at_.Bytes(8);
        return Push(Kind::kFloat);
      case 'X':  // BINUNICODE
      case 'B':  // BINBYTES
      case 'T':  // BINSTRING, of Python 2
        return Push(Kind::kText, 0, at_.Bytes(at_.Whole(4)));
      case 0x8c:  // SHORT_BINUNICODE
      case 'C':   // SHORT_BINBYTES
      case 'U':   // SHORT_BINSTRING, of Python 2
        return Push(Kind::kText, 0, at_.Bytes(at_.Whole(1)));
      case 0x8d:  // BINUNICODE8
      case 0x8e:  // BINBYTES8
        return Push(Kind::kText, 0, at_.Bytes(at_.Whole(8)));
      case ')':  // EMPTY_TUPLE
        return PushItems(Kind::kTuple, 0);
      case 0x85:  // TUPLE1
      case 0x86:  // TUPLE2
      case 0x87:  // TUPLE3
        return PushItems(Kind::kTuple, code - 0x84u);
      case 't':  // TUPLE
        return PushItems(Kind::kTuple, Mark());
      case ']':  // EMPTY_LIST
        return Push(Kind::kList);
      case '}':  // EMPTY_DICT
        return Push(Kind::kDict);
      case 'a':  // APPEND
        return Extend(Kind::kList, 1);
      case 'e':  // APPENDS
        return Extend(Kind::kList, Mark());
      case 's':  // SETITEM
        return Extend(Kind::kDict, 2);
      case 'u':  // SETITEMS
        return Extend(Kind::kDict, Mark());
      case 'c': {  // GLOBAL
        const std::string_view module = at_.Line();
        return PushName(module, at_.Line());
      }
      case 0x93:  // STACK_GLOBAL
        GPT2_TRY(Gather(2));
        if (At(gathered_[0]).kind != Kind::kText || At(gathered_[1]).kind != Kind::kText) {
          return Bad("names a class by a value that is not text");
        }
        return PushName(At(gathered_[0]).text, At(gathered_[1]).text);
      case 'R':  // REDUCE
        return Reduce();
      case 'b':  // BUILD
        return Build();
      case 'Q':  // BINPERSID
        return PushItems(Kind::kPointer, 1);
      case 'q':  // BINPUT
        return Put(at_.Whole(1));
      case 'r':  // LONG_BINPUT
        return Put(at_.Whole(4));
      case 0x94:  // MEMOIZE
        return Put(memo_.size());
      case 'h':  // BINGET
        return Get(at_.Whole(1));
      case 'j':  // LONG_BINGET
        return Get(at_.Whole(4));
      default:
        return Refuse(code);
    }
  }

  static constexpr std::size_t kNoMark = static_cast<std::size_t>(-1);

  const PickleValue& At(Index index) const { return pickle_.values[index]; }

  Error Bad(std::string_view what) const {
    return Error{ErrorCode::kCorrupt, Concat("its pickle ", what, ", at byte ", at_.taken())};
  }

  // The number of values above the last mark. Those below it cannot be reached before it is
  // removed.
  std::size_t Reachable() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }

  // Removes the last mark. Returns how many values were above it.
  std::size_t Mark() {
    if (marks_.empty()) return kNoMark;
    const std::size_t count = Reachable();
    marks_.pop_back();
    return count;
  }

  // Moves the last `count` values from the stack to gathered_.
  Status Gather(std::size_t count) {
    if (count > Reachable()) return Bad("takes more values than its stack has");
    const auto begin = stack_.end() - static_cast<std::ptrdiff_t>(count);
    gathered_.assign(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    return Done{};
  }

  Status Pop(Index& value) {
    GPT2_TRY(Gather(1));
    value = gathered_[0];
    return Done{};
  }

  // A value, or a mark.
  Status PopAny() {
    if (Reachable() > 0 || marks_.empty()) return Gather(1);
    marks_.pop_back();
    return Done{};
  }

  Status Push(Kind kind, std::int64_t number = 0, std::string_view text = {}) {
    stack_.push_back(static_cast<Index>(pickle_.values.size()));
    PickleValue& value = pickle_.values.emplace_back();
    value.kind = kind;
    value.number = number;
    value.text = text;
    return Done{};
  }

  Status PushItems(Kind kind, std::size_t count) {
    GPT2_TRY(Gather(count));
    GPT2_TRY(Push(kind));
    pickle_.values.back().items = gathered_;
    return Done{};
  }

  Status PushLong(std::string_view bytes) {
    if (bytes.size() > sizeof(std::int64_t)) return Push(Kind::kLong, 0, bytes);
    std::uint64_t value = WholeOf(bytes);
    const bool is_negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
    if (is_negative && bytes.size() < sizeof value)
      value |= ~std::uint64_t{0} << (8 * bytes.size());
    return Push(Kind::kWhole, static_cast<std::int64_t>(value));
  }

  Status Extend(Kind kind, std::size_t count) {
    GPT2_TRY(Gather(count));
    const bool has_owner = Reachable() > 0;
    if (!has_owner || At(stack_.back()).kind != kind || (kind == Kind::kDict && count % 2 != 0)) {
      return Bad("adds items to a value that is not a list or dict");
    }
    std::vector<Index>& items = pickle_.values[stack_.back()].items;
    items.insert(items.end(), gathered_.begin(), gathered_.end());
    return Done{};
  }

  Status TakeProtocol() {
    const std::uint64_t protocol = at_.Whole(1);
    if (protocol <= 5) return Done{};
    return Unsupported(Concat("its pickle has protocol ", protocol, ", expected 2 to 5"));
  }

  Error WouldCall(std::string_view module, std::string_view name) const {
    constexpr std::size_t kShown = 200;
    const std::string full = Concat(module, ".", name);
    return Unsupported(Concat("this file would call ",
                              Visible(std::string_view(full).substr(0, kShown)),
                              ", which weights do not need; refused"));
  }

  Status PushName(std::string_view module, std::string_view name) {
    if (at_.is_short()) return Done{};
    const std::optional<PickleName> known = KnownPickleName(module, name);
    if (!known) return WouldCall(module, name);
    GPT2_TRY(Push(Kind::kName, 0, name));
    pickle_.values.back().name = *known;
    return Done{};
  }

  Status Reduce() {
    GPT2_TRY(Gather(2));
    const PickleValue& function = At(gathered_[0]);
    const PickleValue& arguments = At(gathered_[1]);
    if (function.kind != Kind::kName || arguments.kind != Kind::kTuple) {
      return Bad("calls a value that is not a function");
    }
    switch (function.name) {
      case PickleName::kOrderedDict:
        if (!arguments.items.empty()) return Bad("makes an OrderedDict with arguments");
        return Push(Kind::kDict);
      case PickleName::kSize:
        if (arguments.items.size() != 1) return Bad("makes a torch.Size without a tuple");
        stack_.push_back(arguments.items[0]);
        return Done{};
      case PickleName::kStorage:
        return WouldCall("torch", function.text);
      default: {
        const PickleName name = function.name;
        gathered_.erase(gathered_.begin());
        GPT2_TRY(Push(Kind::kCall));
        pickle_.values.back().name = name;
        pickle_.values.back().items = gathered_;
        return Done{};
      }
    }
  }

  // The attributes of a state dict are the versions of its modules, which are not used.
  Status Build() {
    GPT2_TRY(Gather(1));
    const bool has_owner = Reachable() > 0 && At(stack_.back()).kind == Kind::kDict;
    if (has_owner && At(gathered_[0]).kind == Kind::kDict) return Done{};
    return Bad("sets attributes of a value that is not a dict");
  }

  Status Put(std::uint64_t place) {
    if (at_.is_short()) return Done{};
    if (place >= kMostPickleValues || Reachable() == 0) return Bad("stores a missing value");
    if (place >= memo_.size()) memo_.resize(static_cast<std::size_t>(place) + 1);
    memo_[static_cast<std::size_t>(place)] = stack_.back() + 1;
    return Done{};
  }

  Status Get(std::uint64_t place) {
    if (at_.is_short()) return Done{};
    if (place >= memo_.size() || memo_[static_cast<std::size_t>(place)] == 0) {
      return Bad(Concat("reads the stored value ", place, ", which does not exist"));
    }
    stack_.push_back(memo_[static_cast<std::size_t>(place)] - 1);
    return Done{};
  }

  Status Refuse(unsigned char code) {
    if (code == 'i') {  // INST
      const std::string_view module = at_.Line();
      const std::string_view name = at_.Line();
      if (at_.is_short()) return Done{};
      return WouldCall(module, name);
    }
    const std::string_view name = RefusedOpcode(code);
    if (name.empty()) return Bad(Concat("has the unknown opcode ", static_cast<int>(code)));
    return Unsupported(Concat("its pickle has the opcode ", name,
                              ", which no state dict needs, at byte ", at_.taken()));
  }

  LittleEndian at_;
  bool is_done_ = false;
  Pickle pickle_;
  std::vector<Index> stack_;
  std::vector<Index> gathered_;     // what the opcode took from the stack, in order
  std::vector<std::size_t> marks_;  // sizes of the stack
  std::vector<Index> memo_;         // indices of values, plus 1; 0: none
};

}  // namespace

Result<std::optional<Pickle>> ReadPickle(std::string_view bytes) {
  return Machine(bytes).Run();
}

}  // namespace gpt2
