// Implements the intake: a scratch folder, the right user namespace, and what comes back from there.
#include "snapshot/intake.hpp"

#include "base/files.hpp"
#include "base/try.hpp"
#include "base/wire.hpp"
#include "snapshot/ownership.hpp"
#include "snapshot/taking.hpp"

namespace coracle::snapshot {

namespace {

Result<> empty_directory(int dir_fd) {
    TRY(const auto names, base::list_dir(dir_fd));
    for (const std::string& name : names) TRY_OK(base::remove_tree_at(dir_fd, name));
    return {};
}

// What `act` finds out is packed into bytes: it may happen in a child.
Result<std::string> run_taking(const content::Store& store, const IntakeOptions& options,
                               const std::function<Result<base::WireWriter>(Taking&)>& act) {
    TRY(const content::Scratch scratch, store.new_scratch());
    const auto inside = [&]() -> Result<std::string> {
        // What a killed namesake left can only be removed with its ids, and this is the place that has them.
        if (options.ownership == plan::Ownership::subids) content::sweep_scratch(store.dir());
        Taking taking(store, options, scratch);
        auto packed = act(taking);
        if (packed) return std::move(packed->texts(taking.warnings())).take();
        (void)empty_directory(scratch.dir().get());  // subordinate ids again
        return std::move(packed).error();
    };
    auto done = options.in_userns ? inside() : run_as(options.ownership, options.maps, inside);
    if (!done) return store.explained(std::move(done).error()).at(Stage::unpack);
    return done;
}

}  // namespace

Result<> Intake::take(const std::vector<IncomingLayer>& layers) {
    const auto act = [&](Taking& taking) -> Result<base::WireWriter> {
        TRY_OK(taking.take(layers));
        return base::WireWriter();
    };
    TRY(const std::string packed, run_taking(store_, options_, act));
    base::WireReader reader(packed);
    warnings_ = reader.texts();
    return {};
}

Result<TakenLayer> Intake::take_unnamed(const OpenSource& open, std::uint64_t size) {
    const auto act = [&](Taking& taking) -> Result<base::WireWriter> {
        TRY(const TakenLayer taken, taking.take_unnamed(open, size));
        base::WireWriter writer;
        writer.text(taken.blob.digest.str()).number(taken.blob.size).text(taken.diff_id.digest.str());
        return writer;
    };
    TRY(const std::string packed, run_taking(store_, options_, act));
    base::WireReader reader(packed);
    TRY(oci::Digest blob, oci::Digest::parse(reader.text()));
    const std::uint64_t stored = reader.number();
    TRY(oci::Digest diff_id, oci::Digest::parse(reader.text()));
    warnings_ = reader.texts();
    return TakenLayer{{std::move(blob), stored}, oci::DiffId{std::move(diff_id)}};
}

}  // namespace coracle::snapshot
