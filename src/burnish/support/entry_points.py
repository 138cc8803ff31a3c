"""Entry points of other packages: what an installed package adds to a seam, by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from burnish.domain import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Seam:
    """A place that other packages may fill, by entry points of one group.

    `wants` says what an entry point has to be, in words that go on after "register".
    """

    group: str
    noun: str
    wants: str

    def installed(self) -> dict[str, EntryPoint]:
        """Entry points by name; nothing of theirs is loaded yet."""
        from importlib.metadata import entry_points  # noqa: PLC0415 - built-in names need it never

        found = sorted(entry_points(group=self.group), key=lambda one: (one.name, one.value))
        # The first of equal names stays, so what is installed later cannot replace it by chance.
        return {point.name: point for point in reversed(found)}

    def load(self, name: str) -> Callable[..., Any] | None:
        """What a package registers under a name; None when none does, UsageError if it is broken."""
        point = self.installed().get(name)
        return None if point is None else self.load_point(point)

    def load_point(self, point: EntryPoint) -> Callable[..., Any]:
        """What an entry point names."""
        try:
            made = point.load()
        except Exception as error:
            raise self.broken(
                f"the {self.noun} {point.name!r} cannot be loaded",
                f"{point.value} fails with {type(error).__name__}: {error}",
            ) from error
        if not callable(made):
            raise self.broken(
                f"the {self.noun} {point.name!r} cannot be made",
                f"{point.value} is a {type(made).__name__}",
                f"register {self.wants}",
            )
        return made  # type: ignore[no-any-return]

    def broken(
        self, what: str, why: str, fix: str = "mend or uninstall the package that registers it"
    ) -> UsageError:
        """The refusal of a package that does not keep its side of the seam."""
        code = f"broken_{self.noun.replace(' ', '_')}"
        return UsageError(what=what, why=why, fix=fix, code=code)
