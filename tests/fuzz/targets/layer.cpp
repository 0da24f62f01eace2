// A layer, compressed or not, is unpacked below a directory and changes nothing beside it.
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/small_limits.hpp"
#include "fuzz/targets.hpp"
#include "fuzz/text_source.hpp"
#include "layer/apply.hpp"
#include "support/scratch_dir.hpp"

namespace coracle::fuzz {
namespace {

// The directory beside the tree, at which "../beside" of an entry aims, and the mark in it.
class Beside {
public:
    explicit Beside(const std::filesystem::path& dir) : dir_(dir) {
        std::filesystem::create_directory(dir_ / "beside");
        std::filesystem::create_symlink("untouched", dir_ / "beside/mark");
    }
    bool is_untouched() const {
        return names_in(dir_) == 2 && names_in(dir_ / "beside") == 1 &&
               std::filesystem::read_symlink(dir_ / "beside/mark") == "untouched";
    }

private:
    static std::ptrdiff_t names_in(const std::filesystem::path& dir) {
        return std::distance(std::filesystem::directory_iterator(dir), {});
    }
    std::filesystem::path dir_;
};

// No device but the 0/0 of a whiteout, which overlayfs reads.
bool holds_only_harmless_kinds(const std::filesystem::path& tree) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree)) {
        struct stat status {};
        if (::lstat(entry.path().c_str(), &status) != 0) return false;
        if (S_ISBLK(status.st_mode) || S_ISSOCK(status.st_mode)) return false;
        if (S_ISCHR(status.st_mode) && status.st_rdev != 0) return false;
    }
    return true;
}

}  // namespace

void layer(std::string_view input) {
    const testing::ScratchDir scratch;
    const Beside beside(scratch.path());
    std::filesystem::create_directory(scratch.path() / "tree");
    const base::UniqueFd root = base::open_dir(scratch.path() / "tree").value();
    const bool as_root = ::geteuid() == 0;
    const layer::Limits limits = small_limits();

    layer::TreeWriter tree(root.get(), as_root ? layer::Owners::exact : layer::Owners::caller,
                           as_root ? layer::OpaqueMark::trusted : layer::OpaqueMark::user, limits);
    TextSource blob(input);
    const auto diff_id =
        layer::apply_layer(blob, input.size(), tree, {.limits = limits, .image = nullptr, .pipelined = false});
    if (diff_id) (void)std::move(tree).finish();
    promise(beside.is_untouched(), "a layer changes nothing beside its tree");
    promise(!as_root || holds_only_harmless_kinds(scratch.path() / "tree"), "a layer brings no device");
}

}  // namespace coracle::fuzz
