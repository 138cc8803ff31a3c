import time
from uuid import RFC_4122, UUID

from burnish.support.ids import new_id


def test_an_id_is_a_uuid_of_version_7_with_the_time_in_front():
    before = time.time_ns() // 1_000_000

    made = UUID(new_id())

    assert (made.version, made.variant) == (7, RFC_4122)
    assert made.int >> 80 >= before


def test_ids_of_one_moment_sort_as_they_were_made(monkeypatch):
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now)

    made = [new_id() for _ in range(10_000)]

    assert made == sorted(set(made))
