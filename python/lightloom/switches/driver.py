"""The interface that every driver of a switch has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from lightloom.switches.address import Address
    from lightloom.switches.circuits import Connections


class Identity(NamedTuple):
    """The identity that the switch states, in its own words, and its ports of each side; None if it does not say."""

    words: str
    ingress: int | None = None
    egress: int | None = None


class SwitchDriver(ABC):
    """A switch that is spoken to. Ports are numbered from 1 on each side, also where the switch numbers them otherwise.

    Nothing is sent before the first call; a connection that was lost is made anew by the next call. Every call takes
    at most the address's `timeout` for each answer, and raises `SwitchError` where the switch is not reached, does not
    answer in time or answers nonsense, `RejectedError` where it refuses.
    """

    def __init__(self, address: Address) -> None:
        self.address = address

    @abstractmethod
    def identity(self) -> Identity:
        """The switch's identity."""

    @abstractmethod
    def read(self) -> Connections:
        """All circuits that the switch holds."""

    @abstractmethod
    def connect(self, circuits: Connections) -> None:
        """Make circuits between ports that are free; returns when the switch has done it, or has taken the order."""

    @abstractmethod
    def disconnect(self, circuits: Connections) -> None:
        """Unmake circuits that are there; returns as `connect` does."""

    @abstractmethod
    def replace(self, circuits: Connections) -> None:
        """Hold these circuits and no others; returns as `connect` does."""

    def change(self, gone: Connections, new: Connections, held: Connections) -> None:
        """Unmake `gone`, then make `new`, where the switch holds `held` now; returns as `connect` does."""
        if gone == held:
            self.replace(new)
            return
        if gone:
            self.disconnect(gone)
        if new:
            self.connect(new)

    @abstractmethod
    def close(self) -> None:
        """Let go of the connection; the circuits stay."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def driver_of(address: Address) -> SwitchDriver:
    """The driver for an address; its module is imported when it is asked for."""
    driver = import_module(address.kind.module).Driver(address)
    assert isinstance(driver, SwitchDriver)  # noqa: S101
    return driver
