"""The command line of an import."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence

from hotseat.connection import Connection
from hotseat.errors import HotseatError
from hotseat.importing.hotseat_side import HotseatSide
from hotseat.importing.progress import Progress
from hotseat.importing.sources import open_source, places, shown
from hotseat.importing.stored import SourceError, Wanted
from hotseat.importing.summary import Summary
from hotseat.importing.transfer import Transfer
from hotseat.notices import notice
from hotseat.settings import Settings

# An import is a command that ends, so a server that is not there is an error at first; one that
# goes away later is waited for.
_FIRST_CONTACT_SECONDS = 10.0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code: 0 all there, 1 not all, 2 wrong usage."""
    parser = argparse.ArgumentParser(
        prog="hotseat sessions import",
        description="Bring sessions of ADK into a running Hotseat. Importing again adds what is"
        " new and changes nothing else.",
    )
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="a database of ADK (file or SQLAlchemy URL), a session saved as JSON, or a folder"
        " with .adk/session.db or *.session.json in it",
    )
    parser.add_argument(
        "--app", metavar="NAME", help="only sessions of this app; their app, if they name none"
    )
    parser.add_argument(
        "--user", metavar="ID", help="only sessions of this user; their user, if they name none"
    )
    parser.add_argument("--url", help="address of the server (environment: HOTSEAT_URL)")
    parser.add_argument("--token", help="token of the server (environment: HOTSEAT_TOKEN)")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    options = parser.parse_args(arguments)
    summary = Summary()
    try:
        settings = Settings.resolve(options.url, options.token)
        wanted = Wanted(options.app, options.user)
        asyncio.run(_import(options.sources, wanted, settings, summary))
    except HotseatError as error:
        summary.problem("Hotseat", str(error))
    except KeyboardInterrupt:
        notice("interrupted; import again to go on")
        return 130
    if options.json:
        print(json.dumps(summary.as_json(), ensure_ascii=False))
    else:
        print("\n".join(summary.lines()))
    return summary.exit_code


async def _import(words: list[str], wanted: Wanted, settings: Settings, summary: Summary) -> None:
    connection = Connection(settings)
    hotseat = HotseatSide(connection)
    progress = Progress()
    try:
        await _reach(hotseat, connection)
        for word in words:
            try:
                found = places(word)
            except SourceError as error:
                summary.problem(shown(word), str(error))
                continue
            for place in found:
                try:
                    source = open_source(place, wanted)
                    await Transfer(source, hotseat, summary, progress).run()
                except SourceError as error:
                    summary.problem(shown(place), str(error))
    finally:
        progress.end()
        await connection.close()


async def _reach(hotseat: HotseatSide, connection: Connection) -> None:
    try:
        async with asyncio.timeout(_FIRST_CONTACT_SECONDS):
            await hotseat.app_state("hotseat")
    except TimeoutError:
        raise HotseatError(
            f"Hotseat is not reachable at {connection.url}: start it with `hotseat web`, or say"
            " where it is with --url"
        ) from None


if __name__ == "__main__":
    sys.exit(main())
