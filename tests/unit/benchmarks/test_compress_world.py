"""The world of sections, and both algorithms in one of it."""

from burnish.benchmarks.compression import CompressWorld, run_compress, run_plain


def test_a_world_is_the_same_for_the_same_seed():
    one, other = CompressWorld(3), CompressWorld(3)

    assert one.sections == other.sections
    assert one.regressions(one.sections) == 0
    hard = {part.path: part.hard for part in one.parts}
    assert one.regressions(hard) == other.regressions(hard) > 0


def test_it_saves_more_than_the_plain_algorithm_with_fewer_evaluations():
    """Where nothing is flaky: flakiness harms the plain one more than ours."""
    plain = run_plain(CompressWorld(7, flaky=0.0), "hard", runs=1)

    ours = run_compress(CompressWorld(7, flaky=0.0), runs=1, lines=False)

    assert ours.saved >= plain.saved
    assert ours.regressions == 0
    assert ours.evaluations <= 0.4 * plain.evaluations
