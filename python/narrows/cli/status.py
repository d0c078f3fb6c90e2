"""Exit statuses and error messages.

0 done, 1 a judgement doesn't hold or something can't be done, 2 bad input, 70 a bug in narrows, 128
plus the signal's number if one ended the command (130 for Ctrl-C).
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

import typer

from narrows import user_code
from narrows.errors import EngineError, InputError, InterruptedRunError, NarrowsError
from narrows.version import __version__
from narrows.words import printable

DONE, FAILED, BAD_INPUT, BROKEN, INTERRUPTED = 0, 1, 2, 70, 130

_REFUSALS = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)
)
"""Errors of the machine: no space, no permission, or a broken disk."""

_BAD_PATHS = frozenset((errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR))
"""Errors of paths that a person gave."""

# The base of all usage errors. Typer may bundle its own copy of click, so the class is reached
# through what typer exports: BadParameter, UsageError, this.
_ClickError = typer.BadParameter.__mro__[2]


def exit_status(command: Callable[[], int], interrupts: Sequence[int]) -> int:
    """Runs a command and turns its exceptions into messages and a status.

    `interrupts` are the signals to stop that arrived so far; an error after one is put down to it.
    """
    earlier = len(user_code.names())
    try:
        return command()
    except InputError as error:
        _complain(str(problem) for problem in error.problems)
        return BAD_INPUT
    except KeyboardInterrupt as error:
        own = user_code.names()[earlier:]
        if interrupts or not own:
            return _stop(interrupts, error)
        found = "a KeyboardInterrupt that no signal caused"
        _complain([f"{', '.join(own)}: found {found}; another exception would be right"])
        return BAD_INPUT
    except (InterruptedRunError, typer.Abort) as error:
        return _stop(interrupts, error)
    except NarrowsError as error:
        _complain([str(error)])
        return BROKEN if isinstance(error, EngineError) else FAILED
    except BrokenPipeError:
        silence_output()
        return DONE
    except OSError as error:
        if error.errno in _BAD_PATHS and error.filename is not None:
            _complain(
                [f"{_short(error.filename)}: found {error.strerror}; another path would be right"]
            )
            return BAD_INPUT
        if error.errno not in _REFUSALS:
            return _stop(interrupts) if interrupts else _apologise(error)
        _complain([_refusal(error)])
        return FAILED
    except Exception as error:
        if isinstance(error, _ClickError):
            return _complain_of_usage(error)
        return _stop(interrupts) if interrupts else _apologise(error)


@contextmanager
def reading(*places: str) -> Iterator[None]:
    """Turns errors while results are read into an InputError that names the results.

    Results from elsewhere may be damaged in ways that no check foresees.
    """
    try:
        yield
    except Exception as error:
        ours = isinstance(error, (LookupError, TypeError, ValueError, AttributeError))
        if not (ours or isinstance(error, ArithmeticError) or _is_of_polars(error)):
            raise
        found = f"contents that can't be read ({type(error).__name__}: {error})"
        remedy = "a result that this version of narrows wrote (if it did, please report this)"
        raise InputError.at(" or ".join(places), found, remedy) from error


def _is_of_polars(error: Exception) -> bool:
    return type(error).__module__.startswith("polars")


def _refusal(error: OSError) -> str:
    """Describes the machine's error; without a file's name it concerns the standard output."""
    if error.filename is None:
        silence_output()
        return "standard output: found no space left; a place with free space would be right"
    remedy = "a place with free space, and the right to use it,"
    return f"{error.filename}: found {error.strerror}; {remedy} would be right"


def _short(path: object) -> str:
    text = str(path)
    return text if len(text) <= 200 else f"{text[:100]}... ({len(text)} characters)"


def interrupted_by(number: int) -> int:
    """Returns the status of a command that a signal has ended, as in a shell."""
    return 128 + number


def _stop(interrupts: Sequence[int], error: BaseException | None = None) -> int:
    """Reports that a signal has ended the command, with the notes on its error."""
    words = "; ".join(["narrows: interrupted", *getattr(error, "__notes__", ())])
    with suppress(OSError):  # after SIGHUP the terminal is gone
        print(words, file=sys.stderr)
    return interrupted_by(interrupts[0]) if interrupts else INTERRUPTED


def _complain(problems: Iterable[str]) -> None:
    with suppress(OSError):  # there is nobody to tell
        for problem in problems:
            print(f"narrows: error: {printable(problem)}", file=sys.stderr)


def silence_output() -> None:
    """Discards all further output, since nothing can be written to it any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain_of_usage(error: Exception) -> int:
    """Reports an option or argument that typer refuses."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "narrows"
    say = getattr(error, "format_message", error.__str__)
    found = " ".join(str(say()).replace("Value error, ", "").split()).rstrip(".")
    place = _place_called(error)
    if place is not None:
        found = f"no option {error.option_name}"  # type: ignore[attr-defined]
        _complain([f"command line: found {found}; --set {place}=VALUE would be right"])
    else:
        _complain([f"command line: {found}; `{command} --help` shows what would be right"])
    return BAD_INPUT


def _place_called(error: Exception) -> str | None:
    """Returns the place of a specification that an unknown option resembles.

    None if there is no such place, or the command has no `--set`.
    """
    from narrows.spec.values import full_place

    name, context = getattr(error, "option_name", None), getattr(error, "ctx", None)
    if name is None or context is None or all(one.name != "sets" for one in context.command.params):
        return None
    return full_place(name.lstrip("-"))


def _apologise(error: Exception) -> int:
    """Reports a bug in narrows, with everything that helps to find it."""
    import traceback

    traceback.print_exception(error)
    print(
        "narrows: this is a mistake in narrows, not in your input. "
        f"Please report it with the lines above and the specification (version {__version__}).",
        file=sys.stderr,
    )
    return BROKEN
