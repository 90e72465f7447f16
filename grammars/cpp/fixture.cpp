// A small garden.
#include <string>
#include <vector>

#define BEDS 3

namespace garden {

constexpr int kRows = 4;
using Names = std::vector<std::string>;

/// A plant that grows.
class Plant : public Thing {
public:
    explicit Plant(std::string name) : name_(std::move(name)) {}
    virtual ~Plant() = default;

    // Lets it grow.
    virtual void grow(int days);
    int height() const { return height_; }
    bool operator==(const Plant& other) const;

    struct Leaf {
        double area() const { return width * length; }
    };

private:
    std::string name_;
    int height_ = 0;
};

enum class Season { Spring, Autumn };

template <typename T>
struct Bed {
    T* first;
    void water();
};

template <typename T>
T largest(const std::vector<T>& all) {
    auto compare = [](const T& a, const T& b) { return a < b; };
    return *std::max_element(all.begin(), all.end(), compare);
}

concept Growing = true;

namespace detail {
static int seeds = 7;
}

}  // namespace garden

void garden::Plant::grow(int days) {
    height_ += days * factor();
}

template <typename T>
void garden::Bed<T>::water() { first->drink(); }

garden::Plant& pick(garden::Plant* plant) { return *plant; }

extern "C" int garden_size(void) { return garden::kRows; }

#define WATER(bed) soak((bed).first)

GARDEN_BEGIN_NAMESPACE

class GARDEN_API Shed final : public Thing {
    Q_OBJECT
    Q_PROPERTY(int size READ size)
public:
    GARDEN_DEPRECATED("use size") int room() const GARDEN_NOEXCEPT;
    Q_INVOKABLE void close();
signals:
    void closed(int days);
};

GARDEN_END_NAMESPACE

__global__ void __launch_bounds__(256) rain(int* beds) {}

void pour(Shed& shed, int* beds) {
    rain<<<blocks(beds), 256>>>(beds);
    emit shed.closed(1);
}

TEST_F(ShedTest, closes) { WATER(beds); }
TEST_CASE("a shed opens", "[shed]") { open(); }
