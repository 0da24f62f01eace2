// What was packed is read back, and bytes that end too early are never taken for a value.
#include "base/wire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace coracle::base {
namespace {

using ::testing::ElementsAre;

std::string packed() {
    WireWriter writer;
    writer.number(7).text(std::string("a\0b", 3)).texts({"x", "", "yz"}).number(~0ULL);
    return std::move(writer).take();
}

TEST(Wire, ReadsBackWhatWasWritten) {
    const std::string bytes = packed();
    WireReader reader(bytes);
    EXPECT_EQ(reader.number(), 7U);
    EXPECT_EQ(reader.text(), std::string("a\0b", 3));
    EXPECT_THAT(reader.texts(), ElementsAre("x", "", "yz"));
    EXPECT_EQ(reader.number(), ~0ULL);
    EXPECT_TRUE(reader.good());
}

TEST(Wire, IsNotGoodAtAnyPlaceOfAnEarlyEnd) {
    const std::string bytes = packed();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        WireReader reader(std::string_view(bytes).substr(0, size));
        reader.number();
        reader.text();
        reader.texts();
        reader.number();
        EXPECT_FALSE(reader.good()) << size;
    }
}

TEST(Wire, PastTheEndThereAreZerosAndEmptyTextsForEver) {
    WireReader reader("1234567");
    EXPECT_EQ(reader.number(), 0U);
    EXPECT_EQ(reader.text(), "");
    EXPECT_EQ(reader.number(), 0U);
    EXPECT_FALSE(reader.good());
}

TEST(Wire, ALengthBeyondTheBytesTakesNoMemory) {
    for (const std::uint64_t length : {std::uint64_t{9}, ~std::uint64_t{0}}) {
        const std::string bytes = std::move(WireWriter().number(length).number(0)).take();
        WireReader text(bytes);
        EXPECT_EQ(text.text(), "");
        EXPECT_FALSE(text.good());
        WireReader texts(bytes);
        EXPECT_LE(texts.texts().size(), 2U);
        EXPECT_FALSE(texts.good());
    }
}

enum class Fruit : std::uint8_t { apple = 1, pear };
struct Basket {
    int count = 0;
    bool full = false;
    Fruit fruit = Fruit::apple;
};

std::optional<Basket> read_basket(std::string_view bytes) {
    return read_message<Basket>(bytes, Fruit::pear, [](WireReader& reader, Basket& basket) {
        basket.count = reader.value<int>();
        basket.full = reader.value<bool>();
        basket.fruit = reader.choice(Fruit::pear, Fruit::apple);
    });
}

std::string basket_bytes(std::uint64_t count, std::uint64_t full, std::uint64_t fruit) {
    return std::move(begin_message(Fruit::pear).number(count).number(full).number(fruit)).take();
}

TEST(WireMessage, NumbersBoolsAndEnumeratorsArriveAsTheyWere) {
    const auto basket =
        read_basket(std::move(begin_message(Fruit::pear).value(-7).value(true).value(Fruit::pear)).take());
    ASSERT_TRUE(basket.has_value());
    EXPECT_EQ(basket->count, -7);
    EXPECT_TRUE(basket->full);
    EXPECT_EQ(basket->fruit, Fruit::pear);
}

TEST(WireMessage, AValueThatItsTypeCannotHoldIsNoMessage) {
    ASSERT_TRUE(read_basket(basket_bytes(3, 1, 2)).has_value());
    EXPECT_FALSE(read_basket(basket_bytes(std::uint64_t{1} << 40, 1, 2)).has_value());
    EXPECT_FALSE(read_basket(basket_bytes(3, 2, 2)).has_value());
    EXPECT_FALSE(read_basket(basket_bytes(3, 1, 3)).has_value());
    EXPECT_FALSE(read_basket(basket_bytes(3, 1, 0)).has_value());
}

TEST(WireMessage, BytesAfterTheLastValueAreNoMessage) {
    EXPECT_FALSE(read_basket(basket_bytes(3, 1, 2) + "x").has_value());
}

}  // namespace
}  // namespace coracle::base
